package merge

import (
	"strconv"
	"strings"

	"mergesafe/internal/printable"
)

// Change is a difference between two reports about the same sources.
type Change struct {
	Source string `json:"source,omitempty"` // empty: the merge as a whole
	Table  string `json:"table,omitempty"`
	What   string `json:"what"` // "rows", "IDs of server 7", "key-collision id"
	Old    string `json:"old"`  // empty: there was none
	New    string `json:"new"`  // empty: there is none
}

// Compare tells what moved between two reports: sources, rows and the ends of
// keys, IDs and marks of servers, and what the rules found. What only one of
// them has counts as moved, so that nothing has moved only if it returns
// nothing.
func Compare(old, new *Report) []Change {
	before, after := facts(old), facts(new)
	var changes []Change
	for _, f := range before.order {
		if o, n := before.values[f], after.values[f]; o != n {
			changes = append(changes, Change{f.source, f.table, f.what, o, n})
		}
	}
	for _, f := range after.order {
		if _, known := before.values[f]; !known {
			changes = append(changes, Change{f.source, f.table, f.what, "", after.values[f]})
		}
	}
	return changes
}

// fact is something that a report says, and that may be compared.
type fact struct{ source, table, what string }

type factList struct {
	order  []fact
	values map[fact]string
}

func (l *factList) add(source, table, what, value string) {
	f := fact{source, table, what}
	if _, twice := l.values[f]; !twice {
		l.order = append(l.order, f)
	}
	l.values[f] = value
}

func facts(r *Report) factList {
	l := factList{values: make(map[fact]string)}
	l.add("", "", "target", r.Target)
	for _, s := range r.Sources {
		l.add(s.Name, "", "source", "present")
		for _, t := range s.Tables {
			l.add(s.Name, t.Table, "rows", printable.Number(t.Rows))
			if t.First != "" || t.Last != "" {
				l.add(s.Name, t.Table, "first key", t.First)
				l.add(s.Name, t.Table, "last key", t.Last)
			}
		}
		for _, server := range s.Servers {
			name := " of server " + strconv.Itoa(server.Server)
			l.add(s.Name, "", "IDs"+name, printable.Number(server.IDs))
			if server.Listed {
				l.add(s.Name, "", "world"+name, server.World)
				l.add(s.Name, "", "mark"+name, stamp(server.Mark))
			}
		}
		if s.OtherIDs > 0 {
			l.add(s.Name, "", "IDs of other servers", printable.Number(s.OtherIDs))
		}
	}
	for _, result := range r.Results {
		value := string(result.Verdict)
		if result.Verdict == Fail {
			value += ", " + printable.Number(result.Count)
		}
		l.add("", result.Table, strings.TrimSpace(result.Code+" "+result.Subject), value)
	}
	return l
}
