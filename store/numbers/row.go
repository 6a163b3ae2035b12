package numbers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/number"
)

// row is the row of one sequence, and what may be taken from it. One
// goroutine at a time uses it. All numbers here are without check digits.
type row struct {
	db     *sqldb.DB
	table  string
	server gameid.ServerID // 0 in a fleet registry
	name   string
	check  string // checkDamm or checkNone
	rival  string // the name that a sequence of keys has in the other form, or ""
	space  space
	inUse  inUse // may be nil

	// admit makes sure that the tables exist and may be used.
	admit func(context.Context) error
	ready bool // admit succeeded, and the row exists

	// rest is what take has taken and not returned: a block can continue in the
	// next span.
	rest span

	// floor is above all numbers that are known to be in use: the
	// row can be older than these, after the database was restored.
	floor int64
}

// What the column check_digit says.
const (
	checkNone = ""
	checkDamm = "damm"
)

const (
	selectNumbers = "SELECT next_number, check_digit FROM {table} WHERE server_id = ? AND name = ?"
	insertNumbers = "INSERT INTO {table} (server_id, name, next_number, check_digit, updated_ms) VALUES (?, ?, ?, ?, {now})"

	// Both add the size of a block and return the sum, in one statement: another process
	// that does so at the same time comes before or after. If the answer is lost, the
	// block is given to no process.
	takeInTwo     = "UPDATE {table} SET next_number = LAST_INSERT_ID(next_number + ?), updated_ms = {now} WHERE server_id = ? AND name = ?"
	takeReturning = "UPDATE {table} SET next_number = next_number + ?, updated_ms = {now} WHERE server_id = ? AND name = ? RETURNING next_number"

	raiseNumbers  = "UPDATE {table} SET next_number = ?, updated_ms = {now} WHERE server_id = ? AND name = ? AND next_number < ?"
	returnNumbers = "UPDATE {table} SET next_number = ?, updated_ms = {now} WHERE server_id = ? AND name = ? AND next_number = ?"
)

// take takes a block of at most size numbers: what it returns is given to no
// other caller, in this process or another. If an error leaves open whether
// a block was taken, the block is lost.
func (q *row) take(ctx context.Context, size int64) (span, error) {
	if err := q.prepare(ctx); err != nil {
		return span{}, err
	}
	// One attempt is enough, unless a span ends or the row is behind.
	const attempts = 10
	for range attempts {
		got := q.rest
		if q.rest = (span{}); got.first == got.end {
			end, err := q.advance(ctx, size)
			if err != nil {
				return span{}, err
			}
			got = span{end - size, end}
		}
		first := max(got.first, q.floor)
		part, ok := q.space.from(first)
		if !ok {
			return span{}, q.usedUp()
		}
		first = max(first, part.first)
		if end := min(got.end, part.end); first < end {
			q.floor, q.rest = end, span{end, got.end}
			return span{first, end}, nil
		}
		if err := q.change(ctx, "skip to the next numbers", raiseNumbers, first, q.server, q.name, first); err != nil {
			return span{}, err
		}
	}
	return span{}, q.fault("take a block of numbers", sqldb.ErrRetryable)
}

// advance adds size to the row and returns the sum.
func (q *row) advance(ctx context.Context, size int64) (end int64, err error) {
	const what = "take a block of numbers"
	once := func() error {
		return q.db.Change(ctx, what, func(tx *sqldb.Tx) error {
			if q.db.Dialect().Words().Returning {
				return tx.GetAs(ctx, what, &end, q.query(takeReturning), size, q.server, q.name)
			}
			result, err := tx.ExecKind(ctx, sqldb.Seldom, what, q.query(takeInTwo), size, q.server, q.name)
			if err != nil {
				return err
			}
			if n, err := result.RowsAffected(); err != nil || n != 1 {
				return cmp.Or(err, q.fault(what, sqldb.ErrNotFound))
			}
			end, err = result.LastInsertId()
			return err
		})
	}
	if q.db.Dialect() == sqldb.SQLite { // it has waited for the lock
		err = once()
	} else {
		err = sqldb.Retry(ctx, once)
	}
	if errors.Is(err, sqldb.ErrNotFound) {
		q.ready = false // next time make the row
	}
	return end, err
}

// giveBack returns blocks, or what is left of them, the last first: each only if
// no block was taken after it.
func (q *row) giveBack(ctx context.Context, blocks ...span) error {
	for _, b := range append([]span{q.rest}, blocks...) {
		if b.first == b.end {
			continue
		}
		if err := q.change(ctx, "give back the rest of a block", returnNumbers, b.first, q.server, q.name, b.end); err != nil {
			return err
		}
	}
	return nil
}

// change runs one of the statements that may find that there is nothing to do.
func (q *row) change(ctx context.Context, what, query string, args ...any) error {
	return sqldb.Retry(ctx, func() error {
		return q.db.Change(ctx, what, func(tx *sqldb.Tx) error {
			_, err := tx.ExecKind(ctx, sqldb.Seldom, what, q.query(query), args...)
			return err
		})
	})
}

// prepare makes sure that the row exists and is what it should be.
func (q *row) prepare(ctx context.Context) error {
	if q.ready {
		return nil
	}
	if err := q.admit(ctx); err != nil {
		return err
	}
	if err := q.findInUse(ctx); err != nil {
		return err
	}
	first, ok := q.space.from(q.floor)
	if !ok {
		return q.usedUp()
	}
	if q.rival != "" {
		if _, err := q.load(ctx, q.rival); !errors.Is(err, sqldb.ErrNotFound) {
			return cmp.Or(err, q.fault("open the sequence", fmt.Errorf("it was begun as %q, so keys could be issued twice: keep the form", q.rival)))
		}
	}
	check, err := q.load(ctx, q.name)
	if errors.Is(err, sqldb.ErrNotFound) {
		err = q.change(ctx, "begin the sequence", insertNumbers, q.server, q.name, max(q.floor, first.first), q.check)
		if err == nil || errors.Is(err, sqldb.ErrDuplicate) { // another process was faster
			check, err = q.load(ctx, q.name)
		}
	}
	if err != nil {
		return err
	}
	if check != q.check {
		word := map[string]string{checkNone: "without check digits", checkDamm: "with check digits"}
		return q.fault("open the sequence", fmt.Errorf("it was begun %s and is now opened %s, so numbers would be issued twice: keep the setting, or begin another sequence",
			word[check], word[q.check]))
	}
	q.ready = true
	return nil
}

func (q *row) load(ctx context.Context, name string) (check string, err error) {
	var row struct {
		Next  int64  `db:"next_number"`
		Check string `db:"check_digit"`
	}
	err = q.db.GetAs(ctx, "open the sequence", &row, q.query(selectNumbers), q.server, name)
	return row.Check, err
}

// findInUse raises the floor above what is in use.
func (q *row) findInUse(ctx context.Context) error {
	if q.inUse == nil {
		return nil
	}
	for i := len(q.space) - 1; i >= 0; i-- {
		first, last := number.Number(q.space[i].first), number.Number(q.space[i].end-1)
		if q.check == checkDamm {
			first, last = 10*first, 10*last+9
		}
		greatest, err := q.inUse(ctx, first, last)
		switch {
		case err != nil:
			return q.fault("look for numbers in use", err)
		case greatest == 0:
			continue
		case greatest < first || last < greatest:
			return q.fault("look for numbers in use", fmt.Errorf("InUse returned %d for the numbers from %d to %d", greatest, first, last))
		case q.check == checkDamm:
			greatest /= 10
		}
		q.floor = max(q.floor, int64(greatest)+1)
		return nil
	}
	return nil
}

func (q *row) usedUp() error {
	if q.server == 0 {
		return q.fault("take a block of numbers", fmt.Errorf("%w: all that a fleet registry has", ErrUsedUp))
	}
	if q.rival != "" {
		return q.fault("take a block of keys", fmt.Errorf("%w: all of server %s's keys of this form", ErrUsedUp, q.server))
	}
	return q.fault("take a block of numbers", fmt.Errorf("%w: all of server %s's share; a fleet registry has more", ErrUsedUp, q.server))
}

// query puts the table and the database's clock into a statement.
func (q *row) query(text string) string {
	return q.db.Dialect().With(strings.ReplaceAll(text, "{table}", q.table))
}

// fault says of an error what was being done.
func (q *row) fault(what string, err error) error {
	if err == nil {
		return nil
	}
	return &sqldb.OpError{What: what, Err: err}
}
