package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"mergesafe/gameid"
	"mergesafe/number"
)

// NumbersTable is the table in which a game's own database notes where its
// sequences of numbers stand. It is no data of the game.
const NumbersTable = "gameid_numbers"

// fleetNumbersTable is the same in a fleet registry. It came later than the
// rest, and has no version of its own: older programs need not know of it.
const fleetNumbersTable = "fleet_numbers"

var (
	//go:embed schema/fleet_numbers_mysql.sql
	mysqlFleetNumbers string
	//go:embed schema/fleet_numbers_sqlite.sql
	sqliteFleetNumbers string
)

func createFleetNumbers(ctx context.Context, db *DB) error {
	statement := sqliteFleetNumbers
	if db.dialect == MySQL {
		statement = mysqlFleetNumbers
	}
	_, err := db.Exec(ctx, statement)
	return err
}

// sequence is the row of one sequence, and what may be taken from it. One
// goroutine at a time uses it. All numbers here are without check digits.
type sequence struct {
	db     *DB
	pool   *sqlx.DB
	table  string
	server gameid.ServerID // 0 in a fleet registry
	name   string
	check  string // checkDamm or checkNone
	space  space
	inUse  func(ctx context.Context, first, last number.Number) (number.Number, error) // may be nil

	// admit makes sure that the tables are there and may be used.
	admit func(context.Context) error
	ready bool // it did, and the row is there

	// rest is what take has taken and not returned: a block can go on in the
	// next span.
	rest span

	// floor is above all numbers that may be in use, as far as is known: the
	// row can be older than they are, after the database was restored.
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

	// Both add the size of a block and tell the sum, in one statement: whoever
	// else does so at the same time comes before or after. What an answer that
	// is lost would have told is given to nobody.
	takeMySQL  = "UPDATE {table} SET next_number = LAST_INSERT_ID(next_number + ?), updated_ms = {now} WHERE server_id = ? AND name = ?"
	takeSQLite = "UPDATE {table} SET next_number = next_number + ?, updated_ms = {now} WHERE server_id = ? AND name = ? RETURNING next_number"

	raiseNumbers  = "UPDATE {table} SET next_number = ?, updated_ms = {now} WHERE server_id = ? AND name = ? AND next_number < ?"
	returnNumbers = "UPDATE {table} SET next_number = ?, updated_ms = {now} WHERE server_id = ? AND name = ? AND next_number = ?"
)

// take takes a block of at most size numbers: what it returns is given to no
// other caller, in this process or another. An error that leaves open whether
// a block was taken has lost one.
func (q *sequence) take(ctx context.Context, size int64) (span, error) {
	if err := q.prepare(ctx); err != nil {
		return span{}, err
	}
	// Once is enough, but where a span ends, or the row is behind.
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
	return span{}, q.fault("take a block of numbers", ErrRetryable)
}

// advance adds size to the row and returns the sum.
func (q *sequence) advance(ctx context.Context, size int64) (end int64, err error) {
	const what = "take a block of numbers"
	if q.db.dialect == SQLite { // it has waited for the lock
		end, err = q.advanceSQLite(ctx, size)
		err = q.db.changeFault(what, err)
	} else {
		err = Retry(ctx, func() error {
			end, err = q.advanceMySQL(ctx, size)
			return q.db.changeFault(what, err)
		})
	}
	if errors.Is(err, ErrNotFound) {
		q.ready = false // next time make the row
	}
	return end, err
}

func (q *sequence) advanceMySQL(ctx context.Context, size int64) (int64, error) {
	result, err := q.pool.ExecContext(ctx, q.query(takeMySQL), size, q.server, q.name)
	if err != nil {
		return 0, err
	}
	if n, err := result.RowsAffected(); err != nil {
		return 0, err
	} else if n != 1 {
		return 0, ErrNotFound
	}
	return result.LastInsertId()
}

func (q *sequence) advanceSQLite(ctx context.Context, size int64) (end int64, err error) {
	rows, err := q.pool.QueryContext(ctx, q.query(takeSQLite), size, q.server, q.name)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	found := false
	for rows.Next() {
		found = true
		if err := rows.Scan(&end); err != nil {
			return 0, err
		}
	}
	// The commit comes with the end of the rows.
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if err := rows.Close(); err != nil {
		return 0, err
	}
	if !found {
		return 0, ErrNotFound
	}
	return end, nil
}

// giveBack returns blocks, or rests of them, the last first: each only if
// nothing was taken after it.
func (q *sequence) giveBack(ctx context.Context, blocks ...span) error {
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
func (q *sequence) change(ctx context.Context, what, query string, args ...any) error {
	return Retry(ctx, func() error {
		_, err := q.pool.ExecContext(ctx, q.query(query), args...)
		return q.db.changeFault(what, err)
	})
}

// prepare makes sure that the row is there and is what it should be.
func (q *sequence) prepare(ctx context.Context) error {
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
	check, err := q.load(ctx)
	if errors.Is(err, ErrNotFound) {
		err = q.change(ctx, "begin the sequence", insertNumbers, q.server, q.name, max(q.floor, first.first), q.check)
		if err == nil || errors.Is(err, ErrDuplicate) { // somebody else was faster
			check, err = q.load(ctx)
		}
	}
	if err != nil {
		return err
	}
	if check != q.check {
		word := map[string]string{checkNone: "without check digits", checkDamm: "with check digits"}
		return q.fault("open the sequence", fmt.Errorf("it was begun %s and is now wanted %s, with which numbers would come twice: leave it as it was, or begin another sequence",
			word[check], word[q.check]))
	}
	q.ready = true
	return nil
}

func (q *sequence) load(ctx context.Context) (check string, err error) {
	var row struct {
		Next  int64  `db:"next_number"`
		Check string `db:"check_digit"`
	}
	err = q.pool.GetContext(ctx, &row, q.query(selectNumbers), q.server, q.name)
	return row.Check, q.db.fault("open the sequence", err)
}

// findInUse raises the floor above what is in use.
func (q *sequence) findInUse(ctx context.Context) error {
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

func (q *sequence) usedUp() error {
	if q.server == 0 {
		return q.fault("take a block of numbers", fmt.Errorf("%w: all of the fleet registry's", ErrNumbersUsedUp))
	}
	return q.fault("take a block of numbers", fmt.Errorf("%w: all of server %s's share; a fleet registry has more", ErrNumbersUsedUp, q.server))
}

// query puts the table and the database's clock into a statement.
func (q *sequence) query(text string) string {
	return q.db.with(strings.ReplaceAll(text, "{table}", q.table))
}

// fault says of an error what was being done.
func (q *sequence) fault(what string, err error) error {
	if err == nil {
		return nil
	}
	return &opError{what, err}
}
