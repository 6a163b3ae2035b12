package change_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/change"
	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// byName is what a world is, said without a number of an account: by their names.
func byName(t testing.TB, d world.Database) (all []string) {
	t.Helper()
	for _, query := range []string{
		"SELECT 'account', LOWER(name), id * 0 FROM accounts WHERE name IS NOT NULL AND name <> ''",
		"SELECT c.name, LOWER(a.name) FROM characters AS c LEFT JOIN accounts AS a ON a.id = c.account",
		"SELECT b.why, LOWER(a.name) FROM bans AS b LEFT JOIN accounts AS a ON a.id = b.account",
		"SELECT l.what, LOWER(a.name), l.account = 0 FROM log AS l LEFT JOIN accounts AS a ON a.id = l.account",
	} {
		for _, row := range worldtest.Rows(t, d, query) {
			all = append(all, fmt.Sprint(row))
		}
	}
	slices.Sort(all)
	return all
}

// worldsTogether are the rows of several worlds, of which each account is there once.
func worldsTogether(worlds ...[]string) (all []string) {
	for _, rows := range worlds {
		for _, row := range rows {
			if !strings.HasPrefix(row, "[account ") || !slices.Contains(all, row) {
				all = append(all, row)
			}
		}
	}
	slices.Sort(all)
	return all
}

func pairsOf(t testing.TB, p *plan.Plan, source string) string {
	t.Helper()
	text, err := p.Rekey.Matched("accounts.id", source).MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Accounts of one name become one, all that names them follows, and everything else is shifted.
func TestMatch(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.ThreeLogins(t, e)
		want := worldsTogether(byName(t, all[0]), byName(t, all[1]), byName(t, all[2]))
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)})
		d2, d3 := p.Rekey.Offset("accounts.id", "s2"), p.Rekey.Offset("accounts.id", "s3")
		if a, b := pairsOf(t, p, "s2"), pairsOf(t, p, "s3"); a != "5:17" || b != fmt.Sprintf("1:%d 2:17 17:5", 9+d2) {
			t.Fatalf("s2 %q, s3 %q", a, b)
		}
		if c := p.Table("accounts").Combine; c == nil || !c.Matched || c.Combined != 4 || c.Keys != 3 || c.Rows != p.Table("accounts").Rows()-4 {
			t.Fatalf("%+v", c)
		}
		worldtest.MustApply(t, p, into, all)
		if diff := cmp.Diff(want, byName(t, into)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		worldtest.Says(t, into, map[string]string{
			"SELECT id, name, email FROM accounts WHERE id IN (5, 17) ORDER BY id":                                 "[[5 alice s1-5@x] [17 bob s1-17@x]]",
			fmt.Sprintf("SELECT name, email FROM accounts WHERE id = %d", 9+d2):                                    "[[eve s2-9@x]]",
			"SELECT account FROM characters WHERE name = 'gone-s3'":                                                fmt.Sprintf("[[%d]]", 777+d3),
			"SELECT members FROM clubs ORDER BY id":                                                                fmt.Sprintf("[[5 19] [17 %d] [%d 5]]", 19+d2, 9+d2),
			"SELECT account, theme FROM settings ORDER BY account":                                                 fmt.Sprintf("[[5 dark-s1] [17 dark-s2] [%d dark-s3]]", 9+d2),
			"SELECT source, old_key, new_key, key_here FROM mergesafe_matches ORDER BY source, old_key":            fmt.Sprintf("[[s2 5 17 17] [s3 1 %d %[1]d] [s3 2 17 17] [s3 17 5 5]]", 9+d2),
			"SELECT source, matched, key_count FROM mergesafe_moved WHERE table_name = 'accounts' ORDER BY source": "[[s2 1 5] [s3 3 4]]",
		})
		proof := worldtest.Verified(t, p, into, all)
		if proof.Verdict != verdict.Pass || proof.Keys[0].Matched != 4 || proof.Keys[1].Matched != 4 {
			t.Fatalf("%s: %+v\n%+v\n%+v", proof.Verdict, proof.Keys, proof.Combines, proof.Findings)
		}
		for ask, want := range map[int]string{17: "s2 5 true, s3 2 true", 5: "s3 17 true", int(9 + d2): "s2 9 false, s3 1 true", int(17 + d2): "s2 17 false", int(5 + d2): "", int(5 + d3): "s3 5 false"} {
			if got := origins(t, into, ask); got != want {
				t.Errorf("whois %d: %q, want %q", ask, got, want)
			}
		}
		for ask, want := range map[string]int{"s2 5": 17, "s2 17": 17 + int(d2), "s3 17": 5, "s3 1": 9 + int(d2)} {
			source, key, _ := strings.Cut(ask, " ")
			n, _ := keys.ParseInteger([]byte(key))
			way, err := record.Whereis(t.Context(), into, source, "accounts", n)
			if err != nil || len(way) != 1 || way[0].New.String() != fmt.Sprint(want) {
				t.Errorf("%s: %v %v, want %d", ask, way, err, want)
			}
		}
		worldtest.MustDrop(t, p, into, all)
		worldtest.Dropped(t, into)
	})
}

// origins are the sources and keys of a key of an account, in their order.
func origins(t testing.TB, d world.Database, key int) string {
	t.Helper()
	way, err := record.Whois(t.Context(), d, "accounts", keys.Signed(int64(key)))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, o := range way {
		all = append(all, fmt.Sprintf("%s %s %t", o.Source, o.Old, o.Matched))
	}
	return strings.Join(all, ", ")
}

// What cannot be matched is refused with the place and the way out: a name that is given twice,
// other rows that now have one key, statements that contradict each other.
func TestMatchRefused(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.ThreeLogins(t, e)
	worlds := worldtest.Clones(t, e, all)
	space := func(change func(s *rules.Space)) planner.PlanOptions {
		options := worldtest.LoginRules(worldtest.Themes)
		change(&options.Rekey.Spaces[0])
		return planner.PlanOptions{Check: options}
	}
	for _, c := range []struct {
		name    string
		do      []string // in s2
		options planner.PlanOptions
		want    string // of a refusal, or of the error
	}{
		{"twice in a source", []string{"INSERT INTO accounts VALUES (40, 'EVE', NULL, 0)"}, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)},
			`table "accounts": key-space: name: 1 value occurs more than once in one database, as the first world compares, so they do not identify the rows: "`},
		{"settings of one account", []string{"INSERT INTO settings VALUES (9, 'x')"}, planner.PlanOptions{Check: worldtest.LoginRules()},
			`table "settings": key-collision: account: 2 keys occur more than once, in 4 rows; account refers to rows of accounts.id that are matched (match), so rows of several worlds now share a key: say how they are merged, [[merge.table]] tables = ["settings"], policy = "combine"`},
		{"bans of one account", []string{"UPDATE bans SET since = 49201 WHERE account = 5"}, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)},
			`table "bans": key-collision: (account, since): 1 key occurs more than once`},
		{"pattern", nil, space(func(s *rules.Space) { s.Match = []string{"accounts.*"} }), `"accounts.*" is a pattern`},
		{"other table", nil, space(func(s *rules.Space) { s.Match = []string{"characters.name"} }), "match: characters has no key of the space, whose keys are accounts.id"},
		{"no keys", nil, space(func(s *rules.Space) { s.Name, s.Keys = "accounts", nil }), "match: the space has no keys: want also keys, with the key of accounts"},
		{"two tables", nil, space(func(s *rules.Space) { s.Match = []string{"accounts.name", "characters.name"} }), "want columns of one table"},
		{"the key", nil, space(func(s *rules.Space) { s.Match = []string{"accounts.id"} }), "is the key itself"},
		{"keep", nil, space(func(s *rules.Space) { s.Keep = "<3" }), "a space has keep or match, not both"},
		{"means nobody", nil, planner.PlanOptions{Check: func() rules.Options {
			options := worldtest.LoginRules(worldtest.Themes)
			options.Rules[0].References[1].None = []string{"0", "17"}
			return options
		}()}, `table "log": key-space: account: 5 of s2 is matched with 17, which is declared to refer to no row there`},
		{"skipped", nil, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes, rules.TablePolicy{Tables: []string{"accounts"}, Policy: rules.PolicySkip})}, "stay behind"},
		{"formula", nil, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes, rules.TablePolicy{Tables: []string{"accounts"}, Policy: rules.PolicyCombine, Columns: map[string]string{"name": "append 9"}})},
			`accounts.name identifies a row, so it cannot be combined by "append 9"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			worldtest.RefillAll(t, all, worlds)
			worldtest.Exec(t, worlds[1], c.do...)
			p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), worlds, c.options)
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprint(p.Refusals)
			}
			if c.want == "" && got != "[]" || !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The table of matched keys is there too if the rule matched none, for those who ask it.
func TestMatchWithoutPairs(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.LoginWorld(t, e, "s1", worldtest.Login{ID: 5, Name: "alice"}), worldtest.LoginWorld(t, e, "s2", worldtest.Login{ID: 5, Name: "bob"})}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)})
		worldtest.Asked(t, into, "SELECT COUNT(*) FROM mergesafe_matches", "0")
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof.Findings)
		}
		worldtest.MustDrop(t, p, into, all)
	})
}

// What became another account since the plan, or the account of another, is refused by name
// before the first write, and so is a plan that was changed.
func TestMatchChanged(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.ThreeLogins(t, e)
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)})
	worlds := worldtest.Clones(t, e, all)
	d2 := p.Rekey.Offset("accounts.id", "s2")
	for _, c := range []struct {
		world    int
		do, want string
	}{
		{1, "UPDATE accounts SET name = 'bobby' WHERE id = 5", "key 5 with none, want with 17: plan again"},
		{1, "UPDATE accounts SET name = 'alice' WHERE id = 17", "key 17 with 5, want with none: plan again"},
		{0, "UPDATE accounts SET name = 'eve' WHERE id = 5", fmt.Sprintf("key 1 with 5, want with %d: plan again", 9+d2)},
		{2, "UPDATE accounts SET name = 'BOB' WHERE id = 1", `of s3, keys 1 and 2: plan again`},
	} {
		worldtest.RefillAll(t, all, worlds)
		worldtest.Exec(t, worlds[c.world], c.do)
		unwritten := worldtest.Watched(t, into, worlds)
		_, err := build.Apply(t.Context(), p, into, worlds, job.Options{})
		worldtest.RefusedBecause(t, c.do, c.want, err)
		unwritten(c.do)
	}
	changed := *p
	changed.Rekey = plan.WithoutMatches(p.Rekey)
	if _, err := build.Apply(t.Context(), &changed, into, all, job.Options{}); err == nil || !strings.Contains(err.Error(), "was changed after it was made") {
		t.Error(err)
	}
}

// A merge by a map that is wrong is not proved, and the proof says where: two keys changed for
// each other, one forgotten, one too many; and so are a memory, or rows, that are not as they
// were.
func TestMatchNotProved(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		worlds := worldtest.ThreeLogins(t, e)
		all := worlds
		good, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)})
		d2 := good.Rekey.Offset("accounts.id", "s2")
		wrong := func(p *plan.Plan, part, detail string) {
			t.Helper()
			proof := worldtest.Verified(t, p, into, all)
			if proof.Verdict != verdict.Fail || !slices.ContainsFunc(proof.Keys, func(k evidence.KeyProof) bool {
				return k.Part == part && k.Verdict == verdict.Fail && strings.Contains(strings.Join(k.Details, "\n"), detail)
			}) {
				t.Errorf("want FAIL of %q with %q\n%s %+v", part, detail, proof.Verdict, proof.Keys)
			}
		}
		worldtest.MustApply(t, good, into, all)
		for _, c := range []struct{ do, back, part, detail string }{
			{"UPDATE mergesafe_matches SET new_key = 18 WHERE source = 's2' AND old_key = 5", "UPDATE mergesafe_matches SET new_key = 17 WHERE source = 's2' AND old_key = 5", evidence.PartInjective, "key 5 with 18, want with 17"},
			{"UPDATE mergesafe_matches SET key_here = 18 WHERE source = 's2' AND old_key = 5", "UPDATE mergesafe_matches SET key_here = 17 WHERE source = 's2' AND old_key = 5", evidence.PartInjective, "(key_here in mergesafe_matches), want 1: key 5 with 18, want with 17"},
			{"DELETE FROM mergesafe_matches WHERE source = 's3' AND old_key = 17", "INSERT INTO mergesafe_matches VALUES ('" + good.ID + ".2', 's3', 'accounts', 'id', 'accounts.id', 17, 5, 5)", evidence.PartInjective, "key 17 with none, want with 5"},
			{"UPDATE characters SET account = 5 WHERE name = 'c-s2-5'", "UPDATE characters SET account = 17 WHERE name = 'c-s2-5'", evidence.PartImages, "table characters: the rows of s2"},
			{"UPDATE bans SET account = 5 WHERE why = 'b-s2-5'", "UPDATE bans SET account = 17 WHERE why = 'b-s2-5'", evidence.PartOwn, "table bans"},
			{"UPDATE clubs SET members = '5 5' WHERE members LIKE '17 %'", fmt.Sprintf("UPDATE clubs SET members = '17 %d' WHERE members = '5 5'", 19+d2), evidence.PartImages, "table clubs: the rows of s2"},
		} {
			worldtest.Exec(t, into, c.do)
			wrong(good, c.part, c.detail)
			worldtest.Exec(t, into, c.back)
		}
		worldtest.Proved(t, good, into, all)
		worldtest.MustDrop(t, good, into, all)
		for _, c := range []struct{ name, s2, s3, detail string }{
			{"swapped", "5:17", fmt.Sprintf("1:%d 2:5 17:17", 9+d2), "key 2 of s3 is matched with 5, but their rows differ in accounts.name"},
			{"forgotten", "5:17", fmt.Sprintf("1:%d 2:17", 9+d2), "have the same accounts.name: one of them was not matched"},
			{"too many", "5:17 17:5", fmt.Sprintf("1:%d 2:17 17:5", 9+d2), "key 17 of s2 is matched with 5, but their rows differ in accounts.name"},
		} {
			p := *good
			p.Rekey = plan.WithoutMatches(good.Rekey)
			for i, text := range []string{c.s2, c.s3} {
				of := &p.Rekey.Space("accounts.id").Worlds[i+1]
				of.Matched = new(keys.Pairs)
				if err := of.Matched.UnmarshalText([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			p.Tables = slices.Clone(p.Tables)
			into, all = e.Fresh(t, "new"), worldtest.Clones(t, e, worlds) // an undo by force raises counters
			planned := mutated(t, &p, all)
			if _, err := build.ApplyWith(t.Context(), planned, into, all, job.Options{}, job.Hooks{Blind: true}); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			wrong(planned, evidence.PartDisjoint, c.detail)
			if _, err := build.Undo(t.Context(), planned, into, all, build.UndoOptions{Force: true}); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			worldtest.Dropped(t, into)
		}
	})
}

// mutated measures a plan again that was changed by hand, as the planner would have, and signs
// it.
func mutated(t testing.TB, p *plan.Plan, worlds []world.Database) *plan.Plan {
	t.Helper()
	w := &change.Planning{Opts: &change.PlanOptions{}, Plan: p, Rows: make(map[string]map[string]int64)}
	for _, d := range worlds {
		s, err := world.OpenWorld(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w.DBs, w.Rows[d.Name] = append(w.DBs, s), make(map[string]int64)
		for i := range p.Tables {
			w.Rows[d.Name][p.Tables[i].Name] = p.Tables[i].Worlds[len(w.DBs)-1].Rows
		}
	}
	for i := range p.Tables {
		if c := p.Tables[i].Combine; c != nil {
			p.Tables[i].Combine = &plan.Combine{Combining: c.Combining}
		}
		p.Tables[i].Worlds = slices.Clone(p.Tables[i].Worlds)
	}
	for _, step := range []func() error{func() error { return planner.Measure(t.Context(), w) }, func() error {
		return change.Walk(t.Context(), func(c *change.Change) change.Do[*change.Planning] { return c.Measure }, w)
	}} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.Refusals) > 0 {
		t.Fatal(p.Refusals)
	}
	p.ID = p.Fingerprint()
	return p
}

// A world that was merged by names itself is merged again: every key is traced to its first
// world. An undo of the last merge leaves what the world before knows.
func TestMatchAgain(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.ThreeLogins(t, e)
		all[1].Name = "w2" // what is made of it is s2
		s2, s12, last := e.Fresh(t, "s2"), e.Fresh(t, "s12"), e.Fresh(t, "new")
		apply := func(into world.Database, worlds ...world.Database) *plan.Plan {
			t.Helper()
			p := worldtest.MustPlan(t, into, worlds, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)})
			worldtest.MustApply(t, p, into, worlds)
			worldtest.Proved(t, p, into, worlds)
			if _, err := build.Open(t.Context(), p, into, worlds, build.Options{}); err != nil {
				t.Fatal(err)
			}
			return p
		}
		want := worldsTogether(byName(t, all[0]), byName(t, all[1]), byName(t, all[2]))
		first := apply(s2, all[1], all[2])
		if got := pairsOf(t, first, "s3"); got != "1:9 2:5" {
			t.Fatal(got)
		}
		d3 := first.Rekey.Offset("accounts.id", "s3")
		second := apply(s12, all[0], s2)
		if got := pairsOf(t, second, "s2"); got != fmt.Sprintf("5:17 %d:5", 17+d3) {
			t.Fatal(got)
		}
		d2 := second.Rekey.Offset("accounts.id", "s2")
		if diff := cmp.Diff(want, byName(t, s12)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for ask, want := range map[int]string{17: "s2 5 true, s3 2 true", 5: fmt.Sprintf("s2 %d true, s3 17 false", 17+d3), int(9 + d2): "s2 9 false, s3 1 true", int(5 + d2 + d3): fmt.Sprintf("s2 %d false, s3 5 false", 5+d3)} {
			if got := origins(t, s12, ask); got != want {
				t.Errorf("whois %d: %q, want %q", ask, got, want)
			}
		}
		const query = "SELECT old_key, key_here FROM mergesafe_matches WHERE source = 's3' ORDER BY old_key"
		worldtest.Says(t, s12, map[string]string{query: fmt.Sprintf("[[1 %d] [2 17] [17 5]]", 9+d2)})
		for _, c := range []struct{ do, back, want string }{ // the keys that came along
			{"UPDATE mergesafe_matches SET key_here = 18 WHERE source = 's3' AND old_key = 2", "UPDATE mergesafe_matches SET key_here = 17 WHERE source = 's3' AND old_key = 2", "the key 2 of accounts.id of s3 became 5 and is 18 here"},
			{"UPDATE mergesafe_matches SET old_key = 3 WHERE source = 's3' AND old_key = 2", "UPDATE mergesafe_matches SET old_key = 2 WHERE source = 's3' AND old_key = 3", "no record that the key 2 of accounts.id of s3 became 5 and is 17 here"},
		} {
			worldtest.Exec(t, s12, c.do)
			if proof := worldtest.Verified(t, second, s12, []world.Database{all[0], s2}); proof.Verdict != verdict.Fail || !strings.Contains(strings.Join(proof.Keys[0].Details, "; "), c.want) {
				t.Errorf("%s: %s %+v", c.do, proof.Verdict, proof.Keys[0])
			}
			worldtest.Exec(t, s12, c.back)
		}
		for old, here := range map[int64]string{1: fmt.Sprint(9 + d2), 2: "17", 17: "5", 5: fmt.Sprint(5 + d3 + d2)} {
			way, err := record.Whereis(t.Context(), s12, "s3", "accounts", keys.Signed(old))
			if err != nil || len(way) != 2 || way[1].New.String() != here {
				t.Errorf("s3 %d: %+v %v, want %s", old, way, err, here)
			}
		}
		var csv []string
		err := record.EachKey(t.Context(), s12, "s3", "accounts", func(o record.Origin) error { csv = append(csv, o.Old.String()+" "+o.New.String()); return nil })
		if want := fmt.Sprintf("[1 %d 2 17 5 %d 17 5]", 9+d2, 5+d3+d2); err != nil || fmt.Sprint(csv) != want {
			t.Errorf("%v %v, want %s", csv, err, want)
		}
		fourth := worldtest.LoginWorld(t, e, "s4", worldtest.Login{ID: 1, Name: "frida"}, worldtest.Login{ID: 2, Name: "EVE"})
		third := apply(last, s12, fourth)
		if got := pairsOf(t, third, "s4"); got != fmt.Sprintf("2:%d", 9+d2) {
			t.Fatal(got)
		}
		got := strings.Split(origins(t, last, int(9+d2)), ", ") // merges are in the order of their IDs
		if slices.Sort(got); !slices.Equal(got, []string{"s2 9 false", "s3 1 true", "s4 2 true"}) {
			t.Error(got)
		}
		worldtest.MustDrop(t, third, last, []world.Database{s12, fourth})
		if got := origins(t, s12, 17); got != "s2 5 true, s3 2 true" {
			t.Error(got)
		}
		worldtest.MustDrop(t, second, s12, []world.Database{all[0], s2})
		if got := origins(t, s2, 5); got != "s3 2 true" {
			t.Error(got)
		}
	})
}

// Wherever an apply is interrupted, the same call ends it, with the same rows and the same memory; and wherever
// an undo is, the same call leaves nothing.
func TestMatchResumed(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.ThreeLogins(t, e)
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)})
		small := func(h job.Hooks) job.Hooks { h.Clock, h.Batch = worldtest.FixedClock, time.Nanosecond; return h }
		var counted atomic.Int64
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, small(job.Hooks{Fail: func(string) error { counted.Add(1); return nil }})); err != nil {
			t.Fatal(err)
		}
		points := int(counted.Load())
		held := func() string { // without the numbers of the rows of the record
			rows := worldtest.Rows(t, into, "SELECT path, source, tab, col, part, space, shift, low, high, n, data, first_key, last_key, came FROM "+
				record.KeysTable+" ORDER BY path, tab, col, part")
			// An apply that ends after it made the database and before its record finds an empty one.
			return strings.Replace(worldtest.Dump(t, into, record.KeysTable), p.ID+" found", p.ID+" made", 1) + fmt.Sprint(rows)
		}
		want, step := held(), map[bool]int{true: 86, false: 422}[e.Name == "sqlite"]
		if *worldtest.Long {
			step = 1
		}
		var reached atomic.Bool
		lost := func(n int) job.Hooks {
			reached.Store(false)
			return small(job.Hooks{Fail: worldtest.At(int64(n), func() error { reached.Store(true); return context.Canceled })})
		}
		undone := func(n int) {
			t.Helper()
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil && !errors.Is(err, record.ErrNoMerge) {
				t.Fatalf("point %d: undo: %v", n, err)
			}
			worldtest.Dropped(t, into)
		}
		undone(0)
		for n := points % step; n < points; n += step {
			// An answer that was lost may have been found out, and then apply goes on.
			if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, lost(n)); err == nil && !reached.Load() {
				if n < points*9/10 { // how many there are depends on the sizes of batches
					t.Fatalf("point %d of %d was not reached", n, points)
				}
				break
			}
			if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, small(job.Hooks{})); err != nil {
				t.Fatalf("point %d, again: %v", n, err)
			}
			if diff := cmp.Diff(want, held()); diff != "" {
				t.Fatalf("point %d: (-smooth +resumed):\n%s", n, diff)
			}
			undone(n)
		}
		for n, ended := 0, false; !ended; n += step {
			worldtest.MustApply(t, p, into, all)
			_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{}, lost(n))
			if ended = err == nil; ended {
				worldtest.Dropped(t, into)
				break
			}
			undone(n)
		}
	})
}

// A row that led nowhere would lead to the row of another world, since its account is matched:
// that is refused.
func TestMatchRebinds(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.ThreeLogins(t, e)
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE pets (name VARCHAR(9) NOT NULL PRIMARY KEY, theme INT NOT NULL)")
	}
	worldtest.Exec(t, all[2], "INSERT INTO pets VALUES ('rex', 17)") // Alice has no settings there, and has some in the target
	options := worldtest.LoginRules(worldtest.Themes)
	options.Rules[0].References = append(options.Rules[0].References, rules.DeclaredReference{At: []string{"pets.theme"}, To: []string{"settings.account"}})
	p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, planner.PlanOptions{Check: options})
	if err != nil || !strings.Contains(fmt.Sprint(p.Refusals), `table "pets": reference-rebind`) {
		t.Errorf("%v %v", p, err)
	}
	worldtest.Exec(t, all[2], "UPDATE pets SET theme = 5") // dora, who is nobody else: that leads nowhere, as before
	worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: options})
}

// With a policy of its own the accounts become one by its formulas; and keys that lie apart, to
// which nothing is added, are matched all the same.
func TestMatchCombined(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{
		worldtest.LoginWorld(t, e, "s1", worldtest.Login{ID: 5, Name: "alice"}, worldtest.Login{ID: 17, Name: "bob"}),
		worldtest.LoginWorld(t, e, "s2", worldtest.Login{ID: 1005, Name: "BOB"}, worldtest.Login{ID: 1017, Name: "carl"}, worldtest.Login{ID: 1018, Name: "Alice"}),
	}
	worldtest.Exec(t, all[1], "DELETE FROM clubs", "DELETE FROM log WHERE account = 778", "UPDATE characters SET account = 1777 WHERE account = 777")
	want := worldsTogether(byName(t, all[0]), byName(t, all[1]))
	options := worldtest.LoginRules(worldtest.Themes, rules.TablePolicy{Tables: []string{"accounts"}, Policy: rules.PolicyCombine, Columns: map[string]string{"gold": "sum", "email": "last"}})
	options.Rekey.Spaces[0].Offsets = map[string]uint64{"s2": 0}
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: options})
	if got := pairsOf(t, p, "s2"); got != "1005:17 1018:5" || p.Rekey.Offset("accounts.id", "s2") != 0 || p.Table("accounts").Combine.Matched {
		t.Fatalf("%s %+v", got, p.Rekey.Space("accounts.id"))
	}
	worldtest.MustApply(t, p, into, all)
	if diff := cmp.Diff(want, byName(t, into)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	worldtest.Says(t, into, map[string]string{"SELECT id, name, email, gold FROM accounts ORDER BY id": "[[5 alice s2-1018@x 20] [17 bob s2-1005@x 10] [1017 carl s2-1017@x 10]]"})
	worldtest.Proved(t, p, into, all)
	if got := origins(t, into, 17) + "; " + origins(t, into, 1017) + "; " + origins(t, into, 1005); got != "s2 1005 true; s2 1017 false; " {
		t.Error(got)
	}
	worldtest.MustDrop(t, p, into, all)
	worldtest.Dropped(t, into)
}
