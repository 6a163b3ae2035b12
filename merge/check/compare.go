package check

import (
	"strconv"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/verdict"
)

// Change is a difference between two reports about the same worlds.
type Change struct {
	World string `json:"world,omitempty"` // empty: the merge as a whole
	Table string `json:"table,omitempty"`
	What  string `json:"what"` // "rows", "IDs of server 7", "key-collision id"
	Old   string `json:"old"`  // empty: there was none
	New   string `json:"new"`  // empty: there is none
}

// Compare returns the changes between two reports: of worlds, numbers of rows, first
// and last keys, sums over all rows if they were taken, IDs and marks of servers, and
// results of the rules. Without sums, a row that was changed in place is not noticed. A
// thing that is only in one report counts as changed, so nothing has changed only if it
// returns nothing.
func Compare(old, new *verdict.Report) []Change {
	before, after := statementsOf(old), statementsOf(new)
	var changes []Change
	for _, about := range before.order {
		if o, n := before.values[about], after.values[about]; o != n {
			changes = append(changes, Change{about.source, about.table, about.what, o, n})
		}
	}
	for _, about := range after.order {
		if _, known := before.values[about]; !known {
			changes = append(changes, Change{about.source, about.table, about.what, "", after.values[about]})
		}
	}
	return changes
}

// subject is something of which a report states a value: the fields of a [Change].
type subject struct{ source, table, what string }

// statements are what a report states, in its order.
type statements struct {
	order  []subject
	values map[subject]string // for people
}

func (s *statements) add(about subject, v string) {
	if _, twice := s.values[about]; !twice {
		s.order = append(s.order, about)
	}
	s.values[about] = v
}

func statementsOf(r *verdict.Report) statements {
	all := statements{values: make(map[subject]string)}
	for i, s := range r.Worlds {
		if i == 0 {
			all.add(subject{what: "first world"}, s.Name)
		}
		all.add(subject{s.Name, "", "world"}, "present")
		for _, t := range s.Tables {
			all.add(subject{s.Name, t.Table, "rows"}, printable.Number(t.Rows))
			if t.First != "" || t.Last != "" {
				all.add(subject{s.Name, t.Table, "first key"}, t.First)
				all.add(subject{s.Name, t.Table, "last key"}, t.Last)
			}
			if t.Contents != "" {
				all.add(subject{s.Name, t.Table, "contents"}, t.Contents)
			}
		}
		for _, server := range s.Servers {
			of := func(what string) subject {
				return subject{s.Name, "", what + " of server " + strconv.Itoa(server.Server)}
			}
			all.add(of("IDs"), printable.Number(server.IDs))
			if server.Listed {
				all.add(of("world"), server.World)
				all.add(of("mark"), printable.Time(server.Mark))
			}
		}
		if s.OtherIDs > 0 {
			all.add(subject{s.Name, "", "IDs of other servers"}, printable.Number(s.OtherIDs))
		}
	}
	for _, result := range r.Results {
		v := string(result.Verdict)
		if result.Verdict == verdict.Fail {
			v += ", " + printable.Number(result.Count)
		}
		all.add(subject{"", result.Table, strings.TrimSpace(result.Code + " " + result.Subject)}, v)
	}
	return all
}
