package check_test

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// checkLookingFirst is [Check] for which a table of more than twice as many rows is
// large, and so many of them are looked at first.
func checkLookingFirst(ctx context.Context, sources []catalog.Source, opts rules.Options, first int) (*verdict.Report, error) {
	return check.Check(ctx, sources, opts, check.With{Reader: func(r *check.Reader) { r.First = first }})
}

// checkWithoutRoom is [Check] that has no room for keys that are texts or bytes, nor for
// names.
func checkWithoutRoom(ctx context.Context, sources []catalog.Source, opts rules.Options) (*verdict.Report, error) {
	return check.Check(ctx, sources, opts, check.With{Reader: func(r *check.Reader) {
		keys := check.OpenReader{Reader: r}.UndeclaredKeys()
		keys.Room, keys.Filters = 0, 0
	}})
}
