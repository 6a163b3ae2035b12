package merge

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/undeclared"
	"mergesafe/merge/declare"
	"mergesafe/merge/verdict"
)

// CheckLookingFirst is [Check] for which a table of more than twice as many rows is
// large, and so many of them are looked at first.
func CheckLookingFirst(ctx context.Context, sources []catalog.Source, opts declare.Options, first int) (*verdict.Report, error) {
	return check.Check(ctx, sources, opts, check.With{Reader: func(r *read.Reader) { r.First = first }})
}

// CheckWithoutRoom is [Check] that has no room for keys that are texts or bytes, nor for
// names.
func CheckWithoutRoom(ctx context.Context, sources []catalog.Source, opts declare.Options) (*verdict.Report, error) {
	return check.Check(ctx, sources, opts, check.With{Reader: func(r *read.Reader) {
		keys := undeclared.OpenReader{Reader: r}.UndeclaredKeys()
		keys.Room, keys.Filters = 0, 0
	}})
}
