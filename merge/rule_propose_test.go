package merge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
	"mergesafe/merge/mergetest"
)

// What names suggest and data bear out is proposed, as config; what is declared
// or contradicted is not.
func TestProposals(t *testing.T) {
	propose := func(opts merge.Options, plant func(a, b *mergetest.Database)) (all []string) {
		a, b := game("a", 1, 10), game("b", 101, 10)
		plant(a, b)
		opts.Propose = true
		report := check(t, opts, a, b)
		for _, p := range report.Proposals {
			all = append(all, p.TOML())
		}
		plain := opts
		plain.Propose = false
		without := check(t, plain, a, b)
		report.Proposals = nil
		if diff := cmp.Diff(without, report); diff != "" {
			t.Errorf("proposing changes what is found (-without +with):\n%s", diff)
		}
		return all
	}
	const (
		characterName = "# distinct in every database: 20 values\n[[check.unique]]\ntable = \"characters\"\ncolumns = [\"name\"]\n"
		guildName     = "# distinct in every database: 3 values\n[[check.unique]]\ntable = \"guild\"\ncolumns = [\"name\"]\n"
		guild         = "# none of 20 rows leads nowhere, but for 18 with 0 or nothing\n[[check.reference]]\ntable = \"characters\"\ncolumns = [\"guild_id\"]\n" +
			"to_table = \"guild\"\nto_columns = [\"id\"]\nzero_is_none = true\n"
		leader = "# none of 2 rows leads nowhere\n[[check.reference]]\ntable = \"guild\"\ncolumns = [\"leader\"]\nto_table = \"characters\"\nto_columns = [\"guid\"]\n"
		owner  = "# none of 20 rows leads nowhere\n[[check.reference]]\ntable = \"pets\"\ncolumns = [\"owner\"]\nto_table = \"characters\"\nto_columns = [\"guid\"]\n"
	)
	for name, test := range map[string]struct {
		opts  merge.Options
		plant func(a, b *mergetest.Database)
		want  []string
	}{
		"as it is": {merge.Options{}, func(a, b *mergetest.Database) {}, []string{characterName, guild, leader, owner}},
		"a name twice in one database": {merge.Options{}, func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "B-1" },
			[]string{guild, leader, owner}},
		"a name in two": {merge.Options{}, func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "A-1" },
			[]string{strings.Replace(characterName, "values\n", "values\n# but 1 is in more than one database\n", 1), guild, leader, owner}},
		"another guild": {merge.Options{}, func(a, b *mergetest.Database) {
			a.Rows["guild"] = append(a.Rows["guild"], mergetest.Row{"id": int64(9), "name": "Second", "leader": int64(999)})
		}, []string{characterName, guildName, guild, owner}},
		"a pet of nobody": {merge.Options{}, func(a, b *mergetest.Database) { b.Rows["pets"][3]["owner"] = int64(1) }, []string{characterName, guild, leader}},
		"of another kind": {merge.Options{}, func(a, b *mergetest.Database) {
			for _, db := range []*mergetest.Database{a, b} {
				db.Schema.Tables[2].Columns[0].Kind, db.Schema.Tables[2].Columns[0].Type = merge.KindReal, "DOUBLE"
			}
		}, []string{characterName, guild, leader}},
		"declared": {
			merge.Options{
				Uniques:    []merge.DeclaredUnique{{Table: "characters", Columns: []string{"name"}}},
				References: []merge.DeclaredReference{{Table: "pets", Columns: []string{"owner"}, ToTable: "characters", ToColumns: []string{"guid"}}},
			}, func(a, b *mergetest.Database) {}, []string{guild, leader},
		},
		"excluded": {merge.Options{Exclude: []string{"characters"}}, func(a, b *mergetest.Database) {}, nil},
		"empty":    {merge.Options{}, func(a, b *mergetest.Database) { a.Rows, b.Rows = nil, nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, propose(test.opts, test.plant)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A proposal is TOML whatever the names are.
func TestProposalTOML(t *testing.T) {
	p := merge.Proposal{Unique: &merge.DeclaredUnique{Table: "a\"b\\c\n", Columns: []string{"名", "x\x7f"}}, Evidence: "e\nvil = 1"}
	want := "# e\\nvil = 1\n[[check.unique]]\ntable = \"a\\\"b\\\\c\\u000A\"\ncolumns = [\"名\", \"x\\u007F\"]\n"
	if diff := cmp.Diff(want, p.TOML()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
