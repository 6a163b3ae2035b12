package merge

import "context"

// CheckLookingFirst is [Check] for which a table of more than twice as many rows is
// large, and so many of them are looked at first.
func CheckLookingFirst(ctx context.Context, sources []Source, opts Options, first int) (*Report, error) {
	return check(ctx, sources, opts, with{reader: func(r *reader) { r.first = first }})
}

// CheckWithoutRoom is [Check] that has no room for keys that are texts or bytes, nor for
// names.
func CheckWithoutRoom(ctx context.Context, sources []Source, opts Options) (*Report, error) {
	return check(ctx, sources, opts, with{reader: func(r *reader) {
		keys := openReader{reader: r}.undeclaredKeys()
		keys.room, keys.filters = 0, 0
	}})
}
