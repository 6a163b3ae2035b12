package numbers

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/number"
	"mergesafe/store/registry"
)

// Keys hands out integer keys for columns that are BIGINT: the number of the server, and a
// counter below; see [gameid.Key]. No key comes twice, also after a crash, a lost answer or a
// merge. It is a [Sequence] in all else: keys come from memory in blocks, any number of
// goroutines and processes may take them, and within a process they rise.
//
// The row of the sequence is the only defence, as for short numbers, while IDs have two: a
// database that was restored from a backup would give out again the keys given out since. So
// name the columns that hold them: each Open continues above what it finds there.
type Keys[E any] struct{ seq *Sequence }

// KeyOptions tune a sequence of keys. Give Columns; the zero value is right for the others.
type KeyOptions struct {
	// Columns hold the keys, as "items.id": those of the table itself, and of tables that keep
	// keys after their rows are gone, such as a log. Open asks each for its greatest key of
	// this server, so each needs an index that begins with the column.
	Columns []string

	// Form is the form of the keys. Default gameid.Wide; with clients that have numbers of
	// JSON or Lua, gameid.Narrow. A sequence keeps it, and all worlds need the same.
	Form gameid.KeyForm

	// See [Options].
	MinBlock, MaxBlock int
	BlockTime, Timeout time.Duration
}

// unusedKeys are the last of a server. What counts rises above the keys that it gives, by a block or
// by one for each call of Next, and would fall below 0 after the largest integer.
const unusedKeys = 1 << 24

// keyPrefix begins the name that the row of a sequence of keys has, so that none of short
// numbers has it.
func keyPrefix(f gameid.KeyForm) string { return fmt.Sprintf("key%d:", f+gameid.ServerBits) }

// OpenKeys opens a sequence of keys of a server, which must have had a node on this database.
// It has the tables, faults and refusals of [Open]. name is of at most 58 characters.
func OpenKeys[E any](ctx context.Context, reg *registry.Registry, server gameid.ServerID, name string,
	o KeyOptions) (*Keys[E], error) {
	o.Form = cmp.Or(o.Form, gameid.Wide)
	if !o.Form.IsValid() {
		return nil, fmt.Errorf("store: numbers.KeyOptions.Form is %d, want gameid.Wide or gameid.Narrow", o.Form)
	}
	if err := server.Validate(); err != nil {
		return nil, err
	}
	q := ownRow(reg, server)
	first := o.Form.Join(server, 1)
	q.space, q.floor = space{{first, o.Form.Join(server, 1<<o.Form-unusedKeys)}}, first
	options := Options{MinBlock: o.MinBlock, MaxBlock: o.MaxBlock, BlockTime: o.BlockTime, Timeout: o.Timeout}
	var err error
	if options.InUse, err = greatest(q.db, o.Columns); err != nil {
		return nil, err
	}
	q.rival = keyPrefix(gameid.Wide+gameid.Narrow-o.Form) + name
	if name == "" {
		return nil, fmt.Errorf("store: a sequence of keys needs a name")
	}
	seq, err := open(ctx, q, keyPrefix(o.Form)+name, options)
	if err != nil {
		return nil, err
	}
	return &Keys[E]{seq}, nil
}

type inUse = func(ctx context.Context, first, last number.Number) (number.Number, error)

// greatest returns what asks columns for the greatest number of a range.
func greatest(db *sqldb.DB, columns []string) (inUse, error) {
	var queries []string
	for _, c := range columns {
		table, column, ok := strings.Cut(c, ".")
		if !ok || table == "" || column == "" || strings.Contains(column, ".") {
			return nil, fmt.Errorf(`store: %q in numbers.KeyOptions.Columns is no column: want "table.column"`, c)
		}
		table, column = db.Dialect().Quote(table), db.Dialect().Quote(column)
		queries = append(queries,
			fmt.Sprintf("SELECT COALESCE(MAX(%s), 0) FROM %s WHERE %[1]s BETWEEN ? AND ?", column, table))
	}
	return func(ctx context.Context, first, last number.Number) (most number.Number, err error) {
		for _, query := range queries {
			var n int64
			if err := db.GetAs(ctx, "look for keys in use", &n, query, int64(first), int64(last)); err != nil {
				return 0, err
			}
			most = max(most, number.Number(n))
		}
		return most, nil
	}, nil
}

// Next returns the next key. It waits, and fails, as [Sequence.Next] does.
func (k *Keys[E]) Next(ctx context.Context) (gameid.Key[E], error) {
	n, err := k.seq.Next(ctx)
	return gameid.Key[E](n), err
}

// Close ends the sequence, as [Sequence.Close] does.
func (k *Keys[E]) Close() error { return k.seq.Close() }

// Stats returns the statistics of this process.
func (k *Keys[E]) Stats() Stats { return k.seq.Stats() }

// notOfKeys returns an error for a name that the row of keys could have.
func notOfKeys(name string) error {
	for _, f := range gameid.KeyForms {
		if strings.HasPrefix(name, keyPrefix(f)) {
			return fmt.Errorf("store: the name %q is not fit for a sequence of short numbers: "+
				"keys have those that begin with %s", name, keyPrefix(f))
		}
	}
	return nil
}
