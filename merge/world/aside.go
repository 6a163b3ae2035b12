package world

import (
	"database/sql/driver"
	"slices"

	"mergesafe/internal/slice"
)

// Aside takes the rows of a table beside who scans it, so that they are read once for both.
type Aside struct {
	Layout *Layout // how it has the rows
	Sorted bool    // it wants them in the order of the key

	// Begin is called before the first row of a scan, Take with each row, of which it may keep nothing, and End after
	// the last one. They are not called at the same time. A scan that fails begins again, or is followed by another.
	Begin func()
	Take  func(row []any) error
	End   func()
}

// ReadAside has the next scan of all rows of a table hand them to a too, until one came to its end.
func (s *Source) ReadAside(a *Aside) {
	if s.asides == nil {
		s.asides = make(map[string]*Aside)
	}
	s.asides[a.Layout.Table] = a
}

// aside selects what the aside of the table takes, if the scan reads all rows, and as it would read them itself.
func (w *writer) aside() {
	const most = 1000 // columns, of the 2000 that SQLite takes
	a := w.s.asides[w.scan.Table]
	if a == nil || w.scan.Dangling != nil || len(w.conditions)+len(w.q.sift) > 0 || a.Layout.Dialect.MySQL() && !w.q.prepared ||
		len(w.selected)+len(a.Layout.Reads) > most {
		return
	}
	if a.Sorted {
		wanted, order := a.Layout.KeyColumns(), w.orderBy
		if w.scan.Unsorted {
			order = slice.Map(w.t.primary, w.stored)
		}
		if !slices.Equal(order, slice.Map(wanted, w.stored)) {
			return
		}
	}
	w.q.aside, w.q.own = a, len(w.selected)
	w.selected = append(w.selected, a.Layout.Reads...)
}

// take hands a row as the driver has it to the aside.
func (a *Aside) take(row []driver.Value, room []any) error {
	for i, v := range row {
		room[i] = v
	}
	a.Layout.Tidy(room)
	return a.Take(room)
}
