package check_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"mergesafe/internal/gameworlds"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// shiftedBy is what is added to the keys of a world that was shifted by hand.
const shiftedBy = 10_000_000

// hardship is what two worlds are like, and what a proposal reaches there.
type hardship struct {
	name    string
	first   func(*gameworlds.Options) // both worlds
	second  func(*gameworlds.Options) // the second one
	typical bool                      // all goals hold
	outside float64                   // share of the references, of all schemas, that may be taken for something else
}

func hardships() []hardship {
	none := func(*gameworlds.Options) {}
	shifted := func(o *gameworlds.Options) { o.Offset = shiftedBy }
	return []hardship{
		{"both count from 1", none, none, true, 0},
		{"one is shifted", none, shifted, true, 0},
		{"a third forgotten", none, func(o *gameworlds.Options) { shifted(o); o.Forget = 1. / 3 }, false, 0.01},
		// Rows whose key was deleted fill the gaps.
		{"35 % dangling", func(o *gameworlds.Options) { o.Dangling = 0.35 }, none, false, 0.01},
		{"a tenth", func(o *gameworlds.Options) { o.Characters /= 10; o.Items /= 10 }, none, false, 0.01},
		{"deleted in blocks", func(o *gameworlds.Options) { o.Block = 150 }, none, false, 0.01},
		{"none deleted", func(o *gameworlds.Options) { o.Deleted = 0 }, none, false, 0},
	}
}

// propose fills two databases, and returns what is proposed for them, and which references that are declared for all rows name two kinds
// of things to a check: of all true ones, and of those that do.
func (h hardship) propose(t *testing.T, s *gameworlds.Schema) (*verdict.Report, alarms) {
	t.Helper()
	var both []catalog.Source
	for seed := uint64(1); seed <= 2; seed++ {
		o := gameworlds.Typical(seed)
		h.first(&o)
		if seed == 2 {
			h.second(&o)
		}
		dsn := servertest.DSN(t)
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Fill(t.Context(), db, sqldb.MySQL, o); err != nil {
			t.Fatal(err)
		}
		db.Close()
		source, err := world.Open(t.Context(), fmt.Sprintf("s%d", seed), "mysql:"+dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		both = append(both, source)
	}
	return proposalsOf(t, both, rules.Options{}), alarmsOf(t, s, both)
}

// alarms are the references that a check says name two kinds of things.
type alarms struct {
	references int      // that name one
	wrong      []string // of these
	kinds      int      // references that name several
	right      int      // of these
}

func alarmsOf(t *testing.T, s *gameworlds.Schema, both []catalog.Source) (a alarms) {
	t.Helper()
	ruled := trueRules(s.Refs)
	several, declared := make(map[string]bool), make(map[string]bool)
	ruled.References = slices.DeleteFunc(ruled.References, func(r rules.DeclaredReference) bool {
		again := declared[r.At[0]]
		declared[r.At[0]] = true
		return again
	})
	for i := range ruled.References {
		if r := &ruled.References[i]; r.When != nil {
			r.When, several[r.At[0]] = nil, true
		}
	}
	a.references, a.kinds = len(ruled.References)-len(several), len(several)
	r := checked(t, both, rules.Options{Rules: []rules.Declarations{ruled}})
	for _, r := range r.Results {
		switch {
		case r.Code != verdict.CodeReferenceTwoKinds || len(r.Columns) == 0:
		case several[r.Table+"."+r.Columns[0]]:
			a.right++
		default:
			a.wrong = append(a.wrong, r.Table+"."+r.Columns[0]+": "+r.Message)
		}
	}
	return a
}

// judge holds what was measured against the goals.
func (h hardship) judge(t *testing.T, m measured) {
	t.Helper()
	if !h.typical {
		return
	}
	if got := share(m.undecided, m.columns); got > 0.12 {
		t.Errorf("%.1f %% of the columns are undecided, want at most 12 %%", 100*got)
	}
	if got := share(m.lines, m.columns); got > 0.2 {
		t.Errorf("%.1f %% of the columns are lines to read, want at most 20 %%", 100*got)
	}
	if m.precision() < 0.95 {
		t.Errorf("precision %.3f, want 0.95:\n%s", m.precision(), strings.Join(m.wrong, "\n"))
	}
	if m.recall() < 0.8 {
		t.Errorf("recall %.3f, want 0.8:\n%s", m.recall(), strings.Join(m.missed, "\n"))
	}
}

// Of a made-up game, every column is taken for what it is, or left undecided.
func TestProposalsOfAMadeUpGame(t *testing.T) {
	folder := "../../internal/gameworlds/testdata"
	s, err := gameworlds.Load(filepath.Join(folder, "made_up.sql"), filepath.Join(folder, "made_up.refs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hardships()[:3] {
		t.Run(h.name, func(t *testing.T) {
			r, alarmed := h.propose(t, s)
			if len(alarmed.wrong) > 0 || alarmed.right == 0 && h.name == "both count from 1" {
				t.Errorf("two kinds: %+v", alarmed)
			}
			m := measure(s.Refs, r)
			t.Logf("%s\n%v", measuredHead, m)
			if len(m.outside) > 0 {
				t.Errorf("taken for something else:\n%s", strings.Join(m.outside, "\n"))
			}
			if m.precision() < 0.95 || m.recall() < 0.8 {
				t.Errorf("want precision 0.95 and recall 0.8:\n%s", strings.Join(append(m.wrong, m.missed...), "\n"))
			}
			is := make(map[string]verdict.ProposedColumn)
			for _, c := range r.Proposed.Columns {
				where := ""
				if c.When != nil {
					where = " when " + c.When.String()
				}
				is[c.Table+"."+c.Column+where] = c
			}
			if h.name == "both count from 1" {
				for where, to := range map[string]string{"letters.sender when kind is 0": "sailors.id", "letters.sender when kind is 1": "crews.crew"} {
					if is[where].To != to {
						t.Errorf("%s is not found by value to name %s", where, to)
					}
				}
				if c := is["voyages.convoy"]; c.Class != verdict.ClassUndecided || !strings.Contains(c.Evidence, "without a table") {
					t.Errorf("a thing without a table is %v", c)
				}
			}
			for where, want := range map[string]verdict.ColumnClass{
				"sailors.id": verdict.ClassKey, "sailors.level": verdict.ClassPlain, "sailors.coins": verdict.ClassPlain, "sailors.account": verdict.ClassUndecided,
				"sailors.sketch": verdict.ClassOpaque, "sailor_skills.skill": verdict.ClassShared, "sailors.home": verdict.ClassShared,
			} {
				if is[where].Class != want {
					t.Errorf("%s is %v, want %s", where, is[where], want)
				}
			}
		})
	}
}

// The public schemas are not in this repository: MERGESAFE_SCHEMAS names their folder. What
// is measured is printed as a table.
func TestProposalsOfPublicGames(t *testing.T) {
	folder := os.Getenv(gameworlds.EnvSchemas)
	if folder == "" {
		t.Skipf("NOT MEASURED: proposals for the public schemas. %s names no folder that has them", gameworlds.EnvSchemas)
	}
	servertest.OnlyMariaDB(t, "the schemas have names that are words of MySQL's language")
	lists, err := filepath.Glob("../propose/testdata/*.refs")
	if err != nil || len(lists) == 0 {
		t.Fatalf("%d lists, %v", len(lists), err)
	}
	table := []string{fmt.Sprintf("%-18s %-23s %s", "worlds", "schema", measuredHead+", kinds of declared ones, false alarms")}
	for _, h := range hardships() {
		var outside []string
		references := 0
		var all alarms
		for _, list := range lists {
			name := strings.TrimSuffix(filepath.Base(list), ".refs")
			t.Run(h.name+"/"+name, func(t *testing.T) {
				s, err := gameworlds.Load(filepath.Join(folder, name+".sql"), list)
				if errors.Is(err, fs.ErrNotExist) {
					t.Skip("NOT MEASURED: ", err)
				}
				if err != nil {
					t.Fatal(err)
				}
				s.Engine = "InnoDB"
				r, alarmed := h.propose(t, s)
				m := measure(s.Refs, r)
				table = append(table, fmt.Sprintf("%-18s %-23s %v, %d of %d; %d of %d", h.name, name, m, alarmed.right, alarmed.kinds, len(alarmed.wrong), alarmed.references))
				all.references, all.wrong = all.references+alarmed.references, append(all.wrong, alarmed.wrong...)
				outside, references = append(append(outside, m.outside...), m.wrong...), references+m.references
				if len(m.unparted) > 0 {
					t.Logf("not taken apart: %s", strings.Join(m.unparted, ", "))
				}
				h.judge(t, m)
			})
		}
		if 100*len(all.wrong) > all.references {
			t.Errorf("%s: of %d references these are said to name two kinds of things:\n%s", h.name, all.references, strings.Join(all.wrong, "\n"))
		}
		if got := float64(len(outside)) / float64(max(1, references)); got > h.outside {
			t.Errorf("%s: %.1f %% of the references are taken for something else, or to name another table, want at most %.1f %%:\n%s", h.name, 100*got, 100*h.outside, strings.Join(outside, "\n"))
		}
	}
	t.Log("\n" + strings.Join(table, "\n"))
}

// trueRules declares what is true of a schema.
func trueRules(refs *gameworlds.Refs) (d rules.Declarations) {
	for _, c := range slices.SortedFunc(maps.Keys(refs.Columns), func(a, b gameworlds.Column) int { return strings.Compare(a.String(), b.String()) }) {
		meanings := refs.Columns[c]
		at := c.String()
		for i, m := range meanings {
			switch m.Kind {
			case gameworlds.Natural:
				if i == 0 && len(meanings) == 1 {
					d.Shared = append(d.Shared, at)
				}
			case gameworlds.Account:
				if len(meanings) == 1 {
					d.Shared = append(d.Shared, at)
				}
			case gameworlds.Reference:
				if natural := refs.Columns[m.To[0]]; len(natural) > 0 && natural[0].Kind == gameworlds.Natural {
					d.Shared = append(d.Shared, at)
					break
				}
				r := rules.DeclaredReference{At: []string{at}, To: []string{m.To[0].String()}}
				for _, n := range m.None {
					r.None = append(r.None, fmt.Sprintf("<=%d", n.Max))
					if n.Min == n.Max {
						r.None[len(r.None)-1] = fmt.Sprint(n.Min)
					} else if n.Max > 1<<60 {
						r.None[len(r.None)-1] = fmt.Sprintf(">=%d", n.Min)
					}
				}
				if m.When != nil {
					r.When = &rules.When{Column: m.When.Column, Is: m.When.Is}
				}
				d.References = append(d.References, r)
			}
		}
	}
	return d
}
