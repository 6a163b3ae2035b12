package check_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/gameworlds"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// offered is how many of the true references of a game are offered the right key first, left to a person among others,
// and offered only wrong keys or taken for something else.
type offered struct {
	right, undecided int
	wrong            []string
	open             []string // undecided
}

func (o offered) all() int { return o.right + o.undecided + len(o.wrong) }

func offeredOf(refs *gameworlds.Refs, columns []verdict.ProposedColumn) (o offered) {
	of := make(map[string]verdict.ProposedColumn)
	for _, c := range columns {
		of[c.Table+"."+c.Column] = c
	}
	for at, meanings := range refs.Columns {
		for _, m := range meanings {
			if m.Kind != gameworlds.Reference {
				continue
			}
			c, truth := of[at.String()], m.To[0].String()
			listed := slices.ContainsFunc(c.Candidates, func(k verdict.Candidate) bool { return k.Key == truth })
			said := fmt.Sprintf("%s: %s %s, truly %s: %s", at, c.Class, c.To, truth, c.Evidence)
			decided := c.Class != verdict.ClassUndecided
			switch {
			case (c.Class == verdict.ClassReference || !decided) && c.To == truth:
				o.right++
			case !decided && (c.To == "" || listed):
				o.undecided++
				o.open = append(o.open, said)
			default:
				o.wrong = append(o.wrong, said)
			}
		}
	}
	return o
}

// Of games whose tables were written without a look at what guesses them, four fifths of the references are offered the
// right key, the others are left to a person, and no reference is decided wrong: of worlds of many players and of few.
// The largest take a third of the time of all tests of the package, and are a long test.
func TestProposalsOfUnseenGames(t *testing.T) {
	const folder = "../propose/testdata/unseen"
	for _, name := range []string{"orbits", "crewtown", "keeps"} {
		s, err := gameworlds.Load(filepath.Join(folder, name+".sql"), filepath.Join(folder, name+".refs"))
		if err != nil {
			t.Fatal(err)
		}
		for _, players := range []int{21, 200, 2000} {
			t.Run(fmt.Sprintf("%s of %d", name, players), func(t *testing.T) {
				if players > 200 {
					servertest.Long(t)
				}
				var worlds []catalog.Source
				for seed := uint64(1); seed <= 2; seed++ {
					o := gameworlds.Typical(seed)
					o.Characters, o.Items = players, 3*players
					if players < 100 { // such worlds are young
						o.Dangling = 0
					}
					worlds = append(worlds, unseenWorld(t, s, o))
				}
				o := offeredOf(s.Refs, proposalsOf(t, worlds, rules.Options{}).Proposed.Columns)
				t.Logf("%d references: %d right, %d undecided, %d wrong\n%s", o.all(), o.right, o.undecided, len(o.wrong), strings.Join(o.open, "\n"))
				if len(o.wrong) > 0 || o.all() < 30 || 100*o.right < 80*o.all() {
					t.Errorf("of %d references %d are right, want 80 in 100, and none of these wrong:\n%s", o.all(), o.right, strings.Join(o.wrong, "\n"))
				}
			})
		}
	}
}

// unseenWorld fills a SQLite file.
func unseenWorld(t *testing.T, s *gameworlds.Schema, o gameworlds.Options) catalog.Source {
	t.Helper()
	file := filepath.Join(t.TempDir(), fmt.Sprintf("s%d.db", o.Seed))
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := s.Fill(t.Context(), db, sqldb.SQLite, o); err != nil {
		t.Fatal(err)
	}
	source, err := world.Open(t.Context(), fmt.Sprintf("s%d", o.Seed), "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	return source
}
