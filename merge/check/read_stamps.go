package check

import (
	"cmp"
	"context"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Stamps tell the state of the tables that are in no snapshot, at one moment.
type Stamps map[SampledTable]stamp

// stamp is the state of a table, or why it cannot be told.
type stamp struct{ state, unclear string }

// TakeStamps asks for the state of all tables that are in no snapshot.
func TakeStamps(ctx context.Context, f *Facts) (Stamps, error) {
	all := make(Stamps)
	for _, db := range f.DBs {
		for name, t := range db.Tables {
			if t.Outside == "" {
				continue
			}
			stamper, ok := db.Opened.(catalog.Stamper)
			if !ok {
				all[SampledTable{db, name}] = stamp{unclear: "this source cannot detect changes of its rows"}
				continue
			}
			state, err := stamper.Stamp(ctx, name)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, &catalog.ReadError{World: db.Name, Table: name, Doing: "its state", Err: err}
			}
			all[SampledTable{db, name}] = stamp{state: state}
		}
	}
	return all, nil
}

// Since says why what was read of a table since an earlier stamp does not belong
// to one moment, or returns "".
func (now Stamps) Since(before Stamps, at SampledTable) string {
	a, b := before[at], now[at]
	switch {
	case cmp.Or(a.unclear, b.unclear) != "":
		return cmp.Or(a.unclear, b.unclear)
	case a.state != b.state:
		return "its rows changed while the check read them"
	}
	return ""
}

// RefersTo reports whether a result is about a reference to a table.
func RefersTo(f *rules.Resolved, r *verdict.Result, table string) bool {
	return r.Table != "" && slices.ContainsFunc(f.References(r.Table), func(ref rules.Ref) bool {
		return ref.ToTable == table && ref.Subject() == r.Subject
	})
}
