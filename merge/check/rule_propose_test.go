package check_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// What names suggest and data bear out is proposed, as config; what is declared
// or contradicted is not.
func TestProposals(t *testing.T) {
	propose := func(opts rules.Options, plant func(a, b *mergetest.Database)) (all []string) {
		a, b := game("a", 1, 10), game("b", 101, 10)
		plant(a, b)
		opts.Propose = true
		report := mustCheck(t, opts, a, b)
		for _, p := range report.Proposals {
			all = append(all, p.TOML())
		}
		plain := opts
		plain.Propose = false
		without := mustCheck(t, plain, a, b)
		report.Proposals, report.Proposed = nil, nil
		if diff := cmp.Diff(without, report); diff != "" {
			t.Errorf("proposing changes what is found (-without +with):\n%s", diff)
		}
		return all
	}
	const (
		characterName = "# distinct in every database: 20 values\n[[check.unique]]\nat = [\"characters.name\"]\n"
		guildName     = "# distinct in every database: 3 values\n[[check.unique]]\nat = [\"guild.name\"]\n"
	)
	for name, test := range map[string]struct {
		opts  rules.Options
		plant func(a, b *mergetest.Database)
		want  []string
	}{
		"as it is": {rules.Options{}, func(a, b *mergetest.Database) {}, []string{characterName}},
		"a name twice in one database": {rules.Options{}, func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "B-1" },
			nil},
		"a name in two": {rules.Options{}, func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "A-1" },
			[]string{strings.Replace(characterName, "values\n", "values\n# but 1 is in more than one database\n", 1)}},
		"another guild": {rules.Options{}, func(a, b *mergetest.Database) {
			a.Rows["guild"] = append(a.Rows["guild"], mergetest.Row{"id": int64(9), "name": "Second", "leader": int64(2)})
		}, []string{characterName, guildName}},
		"of another kind": {rules.Options{}, func(a, b *mergetest.Database) {
			for _, db := range []*mergetest.Database{a, b} {
				db.Schema.Tables[2].Columns[0].Kind, db.Schema.Tables[2].Columns[0].Type = catalog.KindReal, "DOUBLE"
			}
		}, []string{characterName}},
		"declared": {
			rules.Options{
				Uniques: []rules.DeclaredUnique{{Table: "characters", Columns: []string{"name"}}},
				Rules:   []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"pets.owner"}, To: []string{"characters.guid"}}}}},
			}, func(a, b *mergetest.Database) {}, nil,
		},
		"empty": {rules.Options{}, func(a, b *mergetest.Database) { a.Rows, b.Rows = nil, nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, propose(test.opts, test.plant)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A row that leads nowhere does not silence a reference: it is counted beside it.
func TestProposalsOfDanglingReferences(t *testing.T) {
	a, b := game("a", 1, 30), game("b", 101, 30)
	b.Rows["pets"][3]["owner"], b.Rows["pets"][4]["owner"] = int64(1), int64(999)
	want := verdict.ProposedColumn{
		Table: "pets", Column: "owner", Class: verdict.ClassUndecided, To: "characters.guid", Doubt: 0.6,
		Reason:   "its name suggests it, and its values neither confirm nor exclude it",
		Evidence: "its name suggests it, and its values neither confirm nor exclude it; 2 of 60 rows without a match, 1 of them with a match in another world",
		Candidates: []verdict.Candidate{
			{Key: "characters.guid", Rows: 60, Matched: 58, Elsewhere: 1, Gaps: "silent", Name: "clear", Types: "INT, INT"},
		},
	}
	if diff := cmp.Diff(want, proposed(t, mustCheck(t, rules.Options{Propose: true}, a, b), "pets.owner")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The same for keys that are no numbers, where names suggest it.
func TestProposalsOfTexts(t *testing.T) {
	a, b := game("a", 1, 30), game("b", 101, 30)
	for _, db := range []*mergetest.Database{a, b} {
		name := catalog.Column{Name: "name", Type: "VARCHAR(16)", Kind: catalog.KindText, Collation: mergetest.NoCase}
		db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "account", Primary: []string{"name"}, Columns: []catalog.Column{name}})
		for n := range 14 { // of 15
			db.Rows["account"] = append(db.Rows["account"], mergetest.Row{"name": fmt.Sprintf("acc-%s-%d", db.Label, n)})
		}
	}
	c := proposed(t, mustCheck(t, rules.Options{Propose: true}, a, b), "characters.account")
	if c.Class != verdict.ClassReference || c.To != "account.name" || c.Evidence != "its name suggests it; 4 of 60 rows without a match" {
		t.Errorf("characters.account is %+v", c)
	}
}

// Texts of which some cells have a key are open in a check, and a proposal leaves them to a person, with the counts,
// where the keys have no gaps that could tell: among other numbers, too, and if some cells are nothing but a number.
func TestProposalsOfKeysInTexts(t *testing.T) {
	a, b := game("a", 1, 30), game("b", 1, 30)
	for _, db := range []*mergetest.Database{a, b} {
		text := func(name string) catalog.Column {
			return catalog.Column{Name: name, Type: "VARCHAR(40)", Kind: catalog.KindText, Collation: mergetest.NoCase}
		}
		id := catalog.Column{Name: "id", Type: "BIGINT", Kind: catalog.KindInteger}
		db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "letters", Primary: []string{"id"}, Columns: []catalog.Column{id, text("body"), text("mixed"), text("year")}})
		for n := range 320 {
			row := mergetest.Row{"id": int64(1000 + n), "body": "hello", "mixed": "x 5000000", "year": fmt.Sprint("since ", 2000+n)}
			if n < 61 {
				row["body"], row["mixed"] = fmt.Sprintf("level %d, %d gold", n%30+1, 70000+n), fmt.Sprint(n%30+1)
			}
			db.Rows["letters"] = append(db.Rows["letters"], row)
		}
	}
	opens := make(map[string]bool)
	for _, r := range mustCheck(t, rules.Options{Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"characters.guid"}}}}}, a, b).Results {
		opens[r.Table+"."+r.Subject] = r.Open != nil
	}
	for _, c := range mustCheck(t, rules.Options{Propose: true}, a, b).Proposed.Columns {
		if c.Table != "letters" || c.Column == "id" {
			continue
		}
		want := "undecided characters.guid: numbers in its texts have the range of the keys: are they lists of keys?; "
		if c.Column == "year" {
			want = "plain : texts"
		}
		if got := fmt.Sprintf("%s %s: %s", c.Class, c.To, c.Evidence); !strings.HasPrefix(got, want) || opens["letters."+c.Column] != (c.Class == verdict.ClassUndecided) {
			t.Errorf("letters.%s is %q, not %q; open: %v", c.Column, got, want, opens["letters."+c.Column])
		}
	}
}

// A text that repeats unique names is left to the operator, whether a merge changes these
// names or not yet: if it were called plain, a letter to Aria would reach another Aria.
func TestProposalsOfRepeatedNames(t *testing.T) {
	for how, opts := range map[string]rules.Options{
		"unique":  {Uniques: []rules.DeclaredUnique{{Table: "characters", Columns: []string{"name"}}}},
		"renamed": {Renames: []rules.RenamedColumn{{Table: "characters", Column: "name"}}},
	} {
		a, b := game("a", 1, 30), game("b", 101, 30)
		for _, db := range []*mergetest.Database{a, b} {
			column := catalog.Column{Name: "receiver_name", Type: "VARCHAR(16)", Kind: catalog.KindText, Collation: mergetest.NoCase}
			id := catalog.Column{Name: "id", Type: "BIGINT", Kind: catalog.KindInteger}
			remark := column
			remark.Name = "remark_name" // names nobody
			db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "letters", Primary: []string{"id"}, Columns: []catalog.Column{id, column, remark}})
			for n, row := range db.Rows["characters"][:10] {
				db.Rows["letters"] = append(db.Rows["letters"], mergetest.Row{"id": row["guid"], "receiver_name": row["name"], "remark_name": "remark " + string(rune('a'+n))})
			}
		}
		opts.Propose = true
		got := make(map[string]string)
		report := mustCheck(t, opts, a, b)
		for _, c := range report.Proposed.Columns {
			got[c.Table+"."+c.Column] = fmt.Sprintf("%s %s: %s", c.Class, c.To, c.Evidence)
		}
		text := writtenRules(t, report)
		// What to write, once the # is removed, is TOML.
		if want := "  # [[check.reference]]\n  # to = \"characters.name\"\n  # at = [\"letters.receiver_name\"]\n  # or: plain, or shared\n  \"letters.receiver_name\",\n"; !strings.Contains(text, want) {
			t.Errorf("%s: %q is not in\n%s", how, want, text)
		}
		if want := "undecided characters.name: it may repeat a name, and a merge may give that name to another row; 0 of 20 rows without a match"; got["letters.receiver_name"] != want {
			t.Errorf("%s: letters.receiver_name is %q, not %q", how, got["letters.receiver_name"], want)
		}
		if want := "plain : no numbers"; got["letters.remark_name"] != want {
			t.Errorf("%s: letters.remark_name is %q, not %q", how, got["letters.remark_name"], want)
		}
	}
}

// Tables whose rows stay behind are candidates: their rows can be named.
func TestProposalsToSkippedTables(t *testing.T) {
	opts := rules.Options{Propose: true, Tables: []rules.TablePolicy{{Tables: []string{"characters"}, Policy: rules.PolicySkip}}}
	if c := proposed(t, mustCheck(t, opts, game("a", 1, 30), game("b", 101, 30)), "pets.owner"); c.To != "characters.guid" {
		t.Errorf("pets.owner names %q", c.To)
	}
}

// Without gaps in the keys there are only names, and the file says so. What is in names
// stays inside its comment or its text.
func TestWriteRules(t *testing.T) {
	a, b := game("a", 1, 30), game("b\nplain = [1]", 101, 30)
	r := mustCheck(t, rules.Options{Propose: true}, a, b)
	text := writtenRules(t, r)
	var file struct {
		Check struct {
			Undecided, Plain, Shared []string
			Reference                []struct {
				To   string
				At   []string
				None []int
			}
		}
		Merge struct{ Rekey bool }
	}
	meta, err := toml.Decode(text, &file)
	if err != nil || len(meta.Undecoded()) > 0 {
		t.Fatalf("%v, %v:\n%s", err, meta.Undecoded(), text)
	}
	if !strings.Contains(text, "# How certain that is: no gaps: only the names tell\n") {
		t.Errorf("the header does not say how sure it is:\n%s", text)
	}
	if !strings.Contains(text, "# READ THIS FIRST: the keys characters.guid; guild.id have no gaps,\n") {
		t.Errorf("the header does not say that values prove nothing:\n%s", text)
	}
	if !file.Merge.Rekey {
		t.Errorf("the keys that the database counts get no new values:\n%s", text)
	}
	if got := fmt.Sprint(file.Check); got != "{[guild.id characters.guild_id guild.leader pets.owner] [characters.account characters.name guild.name pets.name] [] []}" {
		t.Errorf("%s from\n%s", got, text)
	}
	if err := propose.WriteRules(new(verdict.Report), io.Discard); err == nil {
		t.Error("a report without proposals is written")
	}
}

// A proposal is TOML whatever the names are.
func TestProposalTOML(t *testing.T) {
	p := verdict.Proposal{Unique: &rules.DeclaredUnique{Table: "a\"b\\c\n", Columns: []string{"名", "x\x7f"}}, Evidence: "e\nvil = 1"}
	want := "# e\\nvil = 1\n[[check.unique]]\nat = [\"a\\\"b\\\\c\\u000A.名\", \"a\\\"b\\\\c\\u000A.x\\u007F\"]\n"
	if diff := cmp.Diff(want, p.TOML()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A table with one row for each hero has their keys. What names these names heroes, whose keys the
// database counts up.
func TestProposalsOfOneRowForEach(t *testing.T) {
	world := func(label string, start int) *mergetest.Database {
		id := func(name string) []catalog.Column {
			return []catalog.Column{{Name: name, Type: "int", Kind: catalog.KindInteger}}
		}
		db := &mergetest.Database{Label: label, Rows: make(map[string][]mergetest.Row), Schema: catalog.Catalog{Engine: "mariadb", Tables: []catalog.Table{
			{Name: "bag", Primary: []string{"hero"}, Columns: id("hero")},
			{Name: "bounty", Columns: id("issuer")},
			{Name: "hero", Primary: []string{"id"}, Columns: id("id"), AutoIncrement: &catalog.AutoIncrement{Column: "id", Next: 5000, Max: 1<<31 - 1}},
		}}}
		for i := range 400 {
			key := int64(start + i*3 + i*i%2)
			for table, column := range map[string]string{"bag": "hero", "bounty": "issuer", "hero": "id"} {
				db.Rows[table] = append(db.Rows[table], mergetest.Row{column: key})
			}
		}
		return db
	}
	report := mustCheck(t, rules.Options{Propose: true, Rekey: &rules.Rekey{Auto: true}}, world("a", 1), world("b", 8))
	got := make(map[string]string)
	for _, c := range report.Proposed.Columns {
		got[c.Table+"."+c.Column] = c.To
	}
	if diff := cmp.Diff(map[string]string{"bag.hero": "hero.id", "bounty.issuer": "hero.id", "hero.id": ""}, got); diff != "" {
		t.Error(diff)
	}
}
