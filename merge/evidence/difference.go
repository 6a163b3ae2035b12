package evidence

import (
	"fmt"
	"strings"

	"mergesafe/merge/world"
)

// Difference is one row of a world that the new database does not have as it was copied.
type Difference struct {
	Source  string   `json:"source"` // the world
	Table   string   `json:"table"`
	Key     string   `json:"key"` // see [world.KeyText]
	Missing bool     `json:"missing,omitempty"`
	Columns []string `json:"columns,omitempty"` // that have other values
}

func (d Difference) String() string {
	if d.Missing {
		return fmt.Sprintf("row %s of %s, from %q: is missing", world.KeyText(d.Key), d.Table, d.Source)
	}
	return fmt.Sprintf("row %s of %s, from %q: %s has another value", world.KeyText(d.Key), d.Table, d.Source, strings.Join(d.Columns, ", "))
}

// DifferenceOf compares a row with what it should be; nil if it is the same.
func DifferenceOf(l *world.Layout, want, there []any) *Difference {
	d := &Difference{Table: l.Table}
	if there == nil {
		d.Missing = true
	} else {
		for i, name := range l.Columns {
			if !world.Same(want[i], there[i]) {
				d.Columns = append(d.Columns, name)
			}
		}
		if d.Columns == nil {
			return nil
		}
	}
	d.Key, _ = world.EncodeKey(l.KeyOf(want)) // has been read before
	return d
}
