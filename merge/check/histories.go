package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// mostMigrations is far more than any game has.
const mostMigrations = 100_000

// History returns the rows of a history of migrations, in the order of its key, by the names of its
// columns in small letters. unread says why it cannot.
func (r *Reader) History(ctx context.Context, db *rules.Database, t *catalog.Table, columns []string) (rows []map[string]string, unread string, err error) {
	scan := catalog.Scan{Table: t.Name}
	for _, c := range t.Columns {
		for _, name := range columns {
			if strings.EqualFold(c.Name, name) {
				scan.Carry = append(scan.Carry, c.Name)
			}
		}
	}
	scan.Order = slice.Map(t.Key(), func(name string) catalog.Order { return catalog.Order{Column: name} })
	s := &stream.Stream{DB: db, Scan: scan}
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for i := range b.Len {
			row := make(map[string]string)
			for c, name := range scan.Carry {
				row[strings.ToLower(name)] = strings.Trim(string(b.Carry[c].At(i)), "'")
			}
			rows = append(rows, row)
		}
		if len(rows) > mostMigrations {
			s.Broken = fmt.Errorf("it has more than %d rows", mostMigrations)
		}
	})
	err = s.Drain(ctx)
	unsupported, is := errors.AsType[*catalog.UnsupportedError](err)
	switch {
	case is:
		return nil, unsupported.Error(), nil
	case s.Broken != nil:
		return nil, s.Broken.Error(), nil
	case err != nil:
		return nil, "", err
	}
	return rows, "", nil
}
