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

// Keys hands out integer keys for columns that are BIGINT: the server in the upper bits, and a
// counter below; see [gameid.Key]. No key is given out twice, not even after a crash, a lost answer or a
// merge. Otherwise it works like a [Sequence]: keys are taken in blocks and handed out from memory, any number of
// goroutines and processes may take them, and within a process they rise.
//
// The row of the sequence is the only defence, as for short numbers, while IDs have two: a
// database that was restored from a backup would give out again the keys given out since. So
// name the columns that hold the keys: OpenKeys continues above the greatest key that it finds there.
type Keys[E any] struct{ seq *Sequence }

// KeyOptions tune a sequence of keys. Give Columns; the zero value is right for the others.
type KeyOptions struct {
	// Columns are those that hold the keys, such as "items.id": in the table itself, and in tables that keep
	// keys after their rows are gone, such as a log. OpenKeys asks each for its greatest key of
	// this server, so each needs an index that begins with the column.
	Columns []string

	// Form is the form of the keys. Default gameid.Wide; if clients read them as numbers of
	// JSON or Lua, use gameid.Narrow. A sequence keeps its form, and all worlds need the same form.
	Form gameid.KeyForm

	// See [Options].
	MinBlock, MaxBlock int
	BlockTime, Timeout time.Duration
}

// unusedKeys is how many keys at the end of a server's are not given out. The counters rise above the last
// key that they give, by a block or by one for each call of Next, and would overflow after the largest integer.
const unusedKeys = 1 << 24

// keyPrefix begins the name in the row of a sequence of keys, so that no sequence of short
// numbers has the same name.
func keyPrefix(f gameid.KeyForm) string { return fmt.Sprintf("key%d:", f+gameid.ServerBits) }

// OpenKeys opens a sequence of keys of a server, which must have had a node on this database.
// It uses the table of [Open], and returns the same errors. name has at most 58 characters.
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

// greatest returns a function that asks columns for their greatest key in a range.
func greatest(db *sqldb.DB, columns []string) (inUse, error) {
	var queries []string
	for _, c := range columns {
		table, column, ok := strings.Cut(c, ".")
		if !ok || table == "" || column == "" || strings.Contains(column, ".") {
			return nil, fmt.Errorf(`store: %q in numbers.KeyOptions.Columns is not a column: want "table.column"`, c)
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

// notOfKeys returns an error for a name that a sequence of keys could have.
func notOfKeys(name string) error {
	for _, f := range gameid.KeyForms {
		if strings.HasPrefix(name, keyPrefix(f)) {
			return fmt.Errorf("store: the name %q is not allowed for a sequence of short numbers: "+
				"names that begin with %s are for keys", name, keyPrefix(f))
		}
	}
	return nil
}
