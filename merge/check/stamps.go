package check

import (
	"cmp"
	"context"

	"mergesafe/merge/catalog"
)

// stamps tell the state of the tables that are in no snapshot, at one moment.
type stamps map[sampledTable]stamp

// stamp is the state of a table, or why it cannot be told.
type stamp struct{ state, unclear string }

// takeStamps asks for the state of all tables that are in no snapshot.
func takeStamps(ctx context.Context, f *Facts) (stamps, error) {
	all := make(stamps)
	for _, db := range f.DBs {
		for name, t := range db.Tables {
			if t.Outside == "" {
				continue
			}
			stamper, ok := db.Opened.(catalog.Stamper)
			if !ok {
				all[sampledTable{db, name}] = stamp{unclear: "this source cannot detect changes of its rows"}
				continue
			}
			state, err := stamper.Stamp(ctx, name)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, &catalog.ReadError{World: db.Name, Table: name, Doing: "its state", Err: err}
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
