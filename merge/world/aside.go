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

// beside selects what is to be known of the rows beside the scan, if it reads all of them in the order of the key.
func (w *writer) beside() {
	order, inOrder := w.orderBy, slice.Map(w.t.primary, w.stored)
	if w.scan.Unsorted {
		order = inOrder
	}
	if w.scan.Dangling != nil || len(w.conditions)+len(w.q.sift) > 0 {
		return
	}
	w.aside(order)
	if t := w.s.tests[w.scan.Table]; t != nil && !t.read && len(order) > 0 && slices.Equal(order, inOrder) {
		w.q.tests, w.q.testsAt = t, len(w.selected)
		w.selected = append(w.selected, slice.Map(t.conditions, failing)...)
	}
}

// aside selects what the aside of the table takes, as it would read it itself.
func (w *writer) aside(order []string) {
	const most = 1000 // columns, of the 2000 that SQLite takes
	a := w.s.asides[w.scan.Table]
	if a == nil || a.Layout.Dialect.MySQL() && !w.q.prepared || len(w.selected)+len(a.Layout.Reads) > most {
		return
	}
	if a.Sorted && !slices.Equal(order, slice.Map(a.Layout.KeyColumns(), w.stored)) {
		return
	}
	w.q.aside, w.q.asideAt = a, len(w.selected)
	w.selected = append(w.selected, a.Layout.Reads...)
}

// begin is called before the first row.
func (q *query) begin() {
	if q.aside != nil {
		q.aside.Begin()
	}
	if q.tests != nil {
		clear(q.tests.rows)
	}
}

// besides returns a function that gets each row of the scan; nil if none is needed.
func (q *query) besides() func(row []driver.Value) error {
	if q.aside == nil && q.tests == nil {
		return nil
	}
	var room []any
	if q.aside != nil {
		room = make([]any, len(q.aside.Layout.Reads))
	}
	return func(row []driver.Value) error {
		if q.tests != nil {
			for i := range q.tests.rows {
				if row[q.testsAt+i] != nil {
					q.tests.rows[i]++
				}
			}
		}
		if q.aside == nil {
			return nil
		}
		return q.aside.take(row[q.asideAt:], room)
	}
}

// end is called after the last row.
func (q *query) end(s *Source, table string) {
	if q.aside != nil {
		delete(s.asides, table)
		q.aside.End()
	}
	if q.tests != nil {
		q.tests.read = true
	}
}

// take hands a row as the driver has it to the aside.
func (a *Aside) take(row []driver.Value, room []any) error {
	for i := range room {
		room[i] = row[i]
	}
	a.Layout.Tidy(room)
	return a.Take(room)
}
