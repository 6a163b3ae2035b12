package check_test

import (
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// A number in a row that looks like a counter of keys, and is not declared, is open to the check, and undecided
// in the proposal: at any distance above the largest key, as newest rows are deleted and an undo raises counters.
func TestCountersInRows(t *testing.T) {
	const heroes, others = 300, 600 // of the first world and of the second, which gets 1,000 more
	for name, c := range map[string]struct {
		column string
		first  []int64
		second []int64
		seen   bool
	}{
		"the largest key":                    {"n", []int64{300}, []int64{600}, true},
		"the next":                           {"n", []int64{301}, []int64{601}, true},
		"newest rows are deleted":            {"n", []int64{302}, []int64{602}, true},
		"many of them":                       {"n", []int64{401}, []int64{701}, true},
		"an undo raised the first":           {"n", []int64{2000}, []int64{601}, true},
		"an undo raised the first, two ends": {"n", []int64{2000}, []int64{2300}, true},
		"beyond the new keys":                {"n", []int64{2001}, []int64{2301}, false},
		"a time":                             {"n", []int64{1_760_000_000}, []int64{1_760_000_050}, false},
		"a time by name":                     {"lastSeen", []int64{1_760_000_000}, []int64{1_760_000_050}, false},
		"a constant":                         {"n", []int64{700}, []int64{700}, false},
		"a constant by name":                 {"next_n", []int64{700}, []int64{700}, true},
		"below the keys in one world":        {"n", []int64{301}, []int64{301}, false},
		"several, one among the keys":        {"n", []int64{301, 8}, []int64{601, 8}, false},
		"several, by name":                   {"next_n", []int64{301, 8}, []int64{601, 8}, true},
		"beside nothing and 0":               {"n", []int64{301, 0, -1}, []int64{601, 0, -1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := oldWorld("a", heroes), oldWorld("b", others)
			for db, values := range map[*mergetest.Database][]int64{a: c.first, b: c.second} {
				db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "conf", Primary: []string{"k"},
					Columns: []catalog.Column{{Name: "k", Type: "VARCHAR(9)", Kind: catalog.KindText, Collation: "bin"}, {Name: c.column, Type: "INT", Kind: catalog.KindInteger}}})
				for i, v := range values {
					db.Rows["conf"] = append(db.Rows["conf"], mergetest.Row{"k": db.Label + strings.Repeat("x", i), c.column: v})
				}
			}
			opts := oldWords()
			opts.Rules[0].Plain = append(opts.Rules[0].Plain, "conf.k")
			opts.Propose = true
			r := mustCheck(t, opts, a, b)
			if found := find(r, verdict.CodeKeyCounter, "conf", c.column); (len(found) > 0) != c.seen ||
				c.seen && !strings.Contains(strings.Join(found[0].Next, "; "), `[[merge.counter]] at = "conf.`+c.column+`", to = "`) {
				t.Errorf("the check says %+v", found)
			}
			ruled := writtenRules(t, r)
			if got := strings.Contains(ruled, `# [[merge.counter]] at = "conf.`+c.column+`", to = "heroes.id"`); got != c.seen {
				t.Errorf("the proposal says\n%s", ruled)
			}
			_, plain, _ := strings.Cut(ruled, "plain = [")
			if c.seen && strings.Contains(plain, `"conf.`+c.column+`"`) {
				t.Errorf("it is proposed as plain")
			}
			opts.Rules = append(opts.Rules, rules.Declarations{Plain: []string{"conf." + c.column}})
			if found := find(mustCheck(t, opts, a, b), verdict.CodeKeyCounter, "conf", c.column); len(found) > 0 {
				t.Errorf("declared plain, it is %+v", found)
			}
		})
	}
}
