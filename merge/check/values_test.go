package check_test

import (
	"slices"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
)

// A text that names no row is read once, with the keys, and so is one that is said to be plain. Only an open column is read
// again, to show its rows.
func TestTextsReadOnce(t *testing.T) {
	for _, c := range []struct {
		note string // in the second world
		open bool
	}{
		{"nothing", false}, {"worth 500, or 12.5.1.3, or a bad face", false}, {"", false},
		{"see 7", true}, {"see 0007", true}, {"0x0b", true}, {"1b or b", true}, {"a bow", true}, {"Bow", false}, {"a Bow", true}, {"bow", true}, {"arrow", false},
	} {
		for _, plain := range []bool{false, true} {
			a, b := oldWorld("a", 20), oldWorld("b", 20)
			for _, db := range []*mergetest.Database{a, b} {
				text := func(name string) catalog.Column {
					return catalog.Column{Name: name, Type: "TEXT", Kind: catalog.KindText, Collation: mergetest.Binary}
				}
				things := &db.Schema.Tables[1]
				things.Columns = append(things.Columns, text("note"))
				for _, row := range db.Rows["things"] {
					row["note"] = "dust"
				}
				db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "arms", Primary: []string{"arm"}, Columns: []catalog.Column{text("arm")}})
				db.Rows["arms"] = []mergetest.Row{{"arm": map[string]string{"a": "bow", "b": "arrow"}[db.Label]}}
			}
			b.Rows["things"][3]["note"] = c.note
			opts := oldWords()
			if plain {
				opts.Rules[0].Plain = append(slices.Clone(opts.Rules[0].Plain), "things.note")
			}
			report := mustCheck(t, opts, a, b)
			isOpen := slices.Contains(report.PlainOpen, "things.note")
			if !plain {
				isOpen = slices.Contains(notPassed(report), "reference-undeclared things note")
			}
			readings := 1
			if c.open && !plain {
				readings = 2
			}
			noted := &carrying{Database: b, columns: []string{"note"}}
			if _, err := check.Check(t.Context(), []catalog.Source{a, noted}, opts, check.With{}); err != nil || noted.n != readings || isOpen != c.open {
				t.Errorf("%q, plain %t: open %t, want %t; read %d times, want %d (%v)", c.note, plain, isOpen, c.open, noted.n, readings, err)
			}
		}
	}
}

// If values that are kept take too much memory, their rows are read again, and that is said.
func TestTextsWithoutRoom(t *testing.T) {
	for others, want := range map[int]int{0: 2, 1 << 20: 1} {
		var told []string
		opts := oldWords()
		opts.Progress = func(p rules.Progress) {
			if p.Again != "" {
				told = append(told, p.World+"."+p.Table+": "+p.Again)
			}
		}
		a, b := oldWorld("a", 20), oldWorld("b", 20)
		for _, db := range []*mergetest.Database{a, b} {
			things := &db.Schema.Tables[1]
			things.Columns = append(things.Columns, catalog.Column{Name: "note", Type: "TEXT", Kind: catalog.KindText, Collation: mergetest.Binary})
			for _, row := range db.Rows["things"] {
				row["note"] = "costs 77777"
			}
		}
		noted := &carrying{Database: b, columns: []string{"note"}}
		_, err := check.Check(t.Context(), []catalog.Source{a, noted}, opts, check.With{Reader: func(r *check.Reader) { r.Others = others }})
		if err != nil || noted.n != want {
			t.Errorf("room for %d bytes: read %d times, want %d (%v)", others, noted.n, want, err)
		}
		slices.Sort(told)
		if again := []string{"a.things: note has too many values to keep in memory", "b.things: note has too many values to keep in memory"}[:2*(want-1)]; !slices.Equal(told, again) {
			t.Errorf("room for %d bytes: told %q, want %q", others, told, again)
		}
	}
}
