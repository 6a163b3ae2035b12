package merge

import (
	"cmp"
	"context"
	"slices"
)

// stamps tell the state of the tables that are in no snapshot, at one moment.
type stamps map[sampledTable]stamp

// stamp is the state of a table, or why it cannot be told.
type stamp struct{ state, unclear string }

// takeStamps asks for the state of all tables that are in no snapshot.
func takeStamps(ctx context.Context, f *facts) (stamps, error) {
	all := make(stamps)
	for _, db := range f.dbs {
		for name, t := range db.tables {
			if t.Outside == "" || !f.wantsTable(name) {
				continue
			}
			stamper, ok := db.source.(Stamper)
			if !ok {
				all[sampledTable{db, name}] = stamp{unclear: "this source cannot detect changes of its rows"}
				continue
			}
			state, err := stamper.Stamp(ctx, name)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, &ReadError{Source: db.name, Table: name, Doing: "its state", Err: err}
			}
			all[sampledTable{db, name}] = stamp{state: state}
		}
	}
	return all, nil
}

// since says why what was read of a table since an earlier stamp does not belong
// to one moment, or returns "".
func (now stamps) since(before stamps, at sampledTable) string {
	a, b := before[at], now[at]
	switch {
	case cmp.Or(a.unclear, b.unclear) != "":
		return cmp.Or(a.unclear, b.unclear)
	case a.state != b.state:
		return "its rows changed while the check read them"
	}
	return ""
}

// settle makes what was found about tables that changed meanwhile not verified.
func (r *run) settle(before, after stamps) {
	for _, f := range judgeOutside(r.facts, before, after) {
		r.conclude(f)
	}
	for _, db := range r.facts.dbs {
		for name, t := range db.tables {
			if t.Outside == "" || !r.facts.wantsTable(name) {
				continue
			}
			if why := after.since(before, sampledTable{db, name}); why != "" {
				r.spoil(name, Gap{db.name, name + " is " + t.Outside + ", and " + why})
			}
		}
	}
}

// spoil adds a gap to all results that rest on the rows of a table.
func (r *run) spoil(table string, gap Gap) {
	for i := range r.results {
		result := &r.results[i]
		if result.Code != CodeTableChanged && (result.Table == table || r.facts.refersTo(result, table)) {
			result.Gaps = append(result.Gaps, gap)
			if next := documented(CodeTableChanged).Unverified; !slices.Contains(result.Next, next) {
				result.Next = append(result.Next, next)
			}
			r.judge(result)
		}
	}
}

// refersTo reports whether a result is about a reference to a table.
func (f *resolved) refersTo(r *Result, table string) bool {
	return r.Table != "" && slices.ContainsFunc(f.references(r.Table), func(ref reference) bool {
		return ref.ToTable == table && ref.subject() == r.Subject
	})
}
