package read

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/stream"
)

// Historian reads histories of migrations.
type Historian struct{ *Reader }

// mostMigrations is far more than any game has.
const mostMigrations = 100_000

// Read returns the rows of a history, in the order of its key, by the names of its
// columns in small letters. unread says why it cannot.
func (r Historian) Read(ctx context.Context, db *declare.Database, t *catalog.Table, columns []string) (rows []map[string]string, unread string, err error) {
	scan := catalog.Scan{Table: t.Name}
	for _, c := range t.Columns {
		for _, name := range columns {
			if strings.EqualFold(c.Name, name) {
				scan.Carry = append(scan.Carry, c.Name)
			}
		}
	}
	for _, name := range t.Key() {
		scan.Order = append(scan.Order, catalog.Order{Column: name})
	}
	fail := func(err error) ([]map[string]string, string, error) {
		return nil, "", &catalog.ReadError{Source: db.Name, Table: t.Name, Doing: "rows", Err: err}
	}
	for b, err := range db.Opened.Scan(ctx, scan) {
		if err == nil {
			err = ctx.Err()
		}
		if unsupported, is := errors.AsType[*catalog.UnsupportedError](err); is {
			return nil, unsupported.Error(), nil
		}
		if err == nil && b == nil {
			err = errors.New("the source returned no batch and no error")
		}
		if err == nil {
			err = stream.Validate(b, scan)
		}
		if err != nil {
			return fail(err)
		}
		for i := range b.Len {
			row := make(map[string]string)
			for c, name := range scan.Carry {
				row[strings.ToLower(name)] = strings.Trim(string(b.Carry[c].At(i)), "'")
			}
			rows = append(rows, row)
		}
		if len(rows) > mostMigrations {
			return nil, fmt.Sprintf("it has more than %d rows", mostMigrations), nil
		}
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	return rows, "", nil
}
