package merge

import "context"

// referring counts the rows of a table of a database that refer to others: to what stays
// behind or, with ref, to rows that stay behind with these.
func (r *reader) referring(ctx context.Context, db *database, table string, s *severed, ref *Reference) (n int64, err error) {
	if ref == nil {
		n, err = db.source.(Withholder).Referring(ctx, &s.Severed)
	} else {
		n, err = db.source.(Withholder).Orphans(ctx, table, ref)
	}
	if err != nil {
		return 0, &ReadError{Source: db.name, Table: table, Doing: "the rows that refer to rows that stay behind", Err: err}
	}
	return n, nil
}
