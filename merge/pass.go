package merge

import (
	"errors"
	"fmt"
	"slices"
)

// exclusions are sources that cannot take part in a pass, and why.
type exclusions map[*database]string

// retry repeats a pass without the sources that turn out, on the way, to be
// unable to sort and compare their rows, so that what is counted of the
// others is exact. pass returns the gaps that it left.
func (c *checker) retry(pass func(exclusions) ([]Gap, error)) ([]Gap, error) {
	excluded := make(exclusions)
	for {
		gaps, err := pass(excluded)
		var read *ReadError
		var unsupported *UnsupportedError
		if !errors.As(err, &read) || !errors.As(err, &unsupported) {
			return gaps, err
		}
		i := slices.IndexFunc(c.dbs, func(db *database) bool { return db.name == read.Source })
		if i < 0 || excluded[c.dbs[i]] != "" {
			return gaps, err
		}
		excluded[c.dbs[i]] = unsupported.Error()
	}
}

// keyStreams prepares to read the columns in every database that has them, in
// the order of the model, and says which have not.
func (c *checker) keyStreams(code, table string, columns []string, excluded exclusions) (streams []*stream, gaps []Gap) {
	owner, model := c.model(table)
	for _, db := range c.dbs {
		t := db.tables[table]
		if t == nil {
			continue // has no rows; schema-table reports it
		}
		reason := excluded[db]
		if reason == "" {
			reason = incomparable(t, columns, owner, model, columns)
		}
		if reason != "" {
			gaps = append(gaps, Gap{db.name, reason})
			continue
		}
		carry := t.rowKey(columns)
		streams = append(streams, &stream{
			checker: c, db: db, code: code,
			scan:   Scan{Table: table, Order: order(columns, model), Carry: slices.Clip(carry)},
			names:  len(carry),
			strict: t.unique(columns, model),
		})
	}
	return streams, gaps
}

// incomparable says why values of some columns of one table cannot be held
// against those of the model, or returns "".
func incomparable(t *Table, columns []string, owner *database, model *Table, modelColumns []string) string {
	for i, name := range columns {
		col, want := t.column(name), model.column(modelColumns[i])
		switch {
		case col == nil:
			return "has no column " + name
		case want == nil:
			return owner.name + " has no column " + modelColumns[i]
		case !col.comparable(want):
			return fmt.Sprintf("column %s is %s, and %s in %s: the values cannot be compared", name, col.Type, want.Type, owner.name)
		}
	}
	return ""
}
