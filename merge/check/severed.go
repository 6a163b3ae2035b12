package check

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
)

// referring counts the rows of a table of a database that refer to others: to what stays
// behind or, with ref, to rows that stay behind with these.
func referring(ctx context.Context, db *rules.Database, table string, s *rules.SeveredReference, ref *catalog.Reference) (n int64, err error) {
	if ref == nil {
		n, err = db.Opened.(rules.Withholder).Referring(ctx, &s.Severed)
	} else {
		n, err = db.Opened.(rules.Withholder).Orphans(ctx, table, ref)
	}
	if err != nil {
		return 0, &catalog.ReadError{World: db.Name, Table: table, Doing: "the rows that refer to rows that stay behind", Err: err}
	}
	return n, nil
}
