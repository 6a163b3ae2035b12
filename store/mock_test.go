package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"

	"mergesafe/entity"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// What a healthy database does not do.

func mock(t *testing.T) (*store.DB, sqlmock.Sqlmock) {
	t.Helper()
	pool, m, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.ExpectationsWereMet(); err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	db := store.Mock(pool, store.MySQL)
	starter.Players.Trust(db)
	starter.Items.Trust(db)
	return db, m
}

func TestConnectionLostInBatch(t *testing.T) {
	db, m := mock(t)
	m.ExpectPrepare("INSERT INTO `items`")
	m.ExpectBegin()
	m.ExpectExec("INSERT INTO `items`").WillReturnResult(driver.RowsAffected(store.MaxRows))
	m.ExpectExec("INSERT INTO `items`").WillReturnError(mysql.ErrInvalidConn)
	m.ExpectRollback().WillReturnError(mysql.ErrInvalidConn)
	err := starter.Items.Insert(t.Context(), db, items(3*store.MaxRows, player(1))...)
	// Without its commit the transaction did not take effect.
	is(t, err, []error{store.ErrUnavailable, mysql.ErrInvalidConn}, store.ErrOutcomeUnknown, store.ErrRetryable)
}

func TestConnectionLostInStatement(t *testing.T) {
	for _, lost := range []error{mysql.ErrInvalidConn, io.ErrUnexpectedEOF, &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, context.DeadlineExceeded} {
		db, m := mock(t)
		m.ExpectPrepare("INSERT INTO `players`").ExpectExec().WillReturnError(lost)
		m.ExpectPrepare("UPDATE `players`").ExpectExec().WillReturnError(lost)
		m.ExpectPrepare("DELETE FROM `players`").ExpectExec().WillReturnError(lost)
		m.ExpectPrepare("SELECT").ExpectQuery().WillReturnError(lost)
		for _, err := range []error{
			starter.Players.Insert(t.Context(), db, player(1)),
			starter.Players.Update(t.Context(), db, player(1), "gold"),
			starter.Players.Delete(t.Context(), db, player(1).ID),
		} {
			is(t, err, []error{store.ErrOutcomeUnknown, lost}, store.ErrRetryable)
		}
		_, err := starter.Players.Get(t.Context(), db, player(1).ID)
		is(t, err, []error{lost}, store.ErrOutcomeUnknown, store.ErrNotFound)
	}
}

// Nobody answered, so nothing can have changed.
func TestNotConnected(t *testing.T) {
	db, m := mock(t)
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	m.ExpectExec("DELETE").WillReturnError(refused)
	is(t, storetest.Second(db.Exec(t.Context(), "DELETE FROM players")), []error{store.ErrUnavailable}, store.ErrOutcomeUnknown)
	m.ExpectPrepare("INSERT INTO `players`").WillReturnError(mysql.ErrInvalidConn)
	is(t, starter.Players.Insert(t.Context(), db, player(1)), []error{store.ErrUnavailable}, store.ErrOutcomeUnknown)
}

// A server that takes no more prepared statements is used without.
func TestTooManyStatements(t *testing.T) {
	db, m := mock(t)
	full := &mysql.MySQLError{Number: 1461, Message: "Can't create more than max_prepared_stmt_count statements"}
	ok := driver.RowsAffected(1)
	row := func() *sqlmock.Rows {
		return sqlmock.NewRows([]string{"id", "account", "name", "level", "gold", "created_at", "updated_at", "number"}).
			AddRow(player(1).ID, "account", "Player 1", 1, 1, born, born, nil)
	}
	m.ExpectPrepare("UPDATE").WillReturnError(full)
	m.ExpectExec("UPDATE").WillReturnResult(ok)
	must(t, starter.Players.Update(t.Context(), db, player(1), "gold"))
	m.ExpectPrepare("UPDATE").ExpectExec().WillReturnError(full) // on another connection
	m.ExpectExec("UPDATE").WillReturnResult(ok)
	must(t, starter.Players.Update(t.Context(), db, player(1), "gold"))
	m.ExpectPrepare("SELECT").WillReturnError(full)
	m.ExpectQuery("SELECT").WillReturnRows(row())
	got, err := starter.Players.Get(t.Context(), db, player(1).ID)
	if err != nil || got != player(1) {
		t.Errorf("got %+v, %v", got, err)
	}
	m.ExpectPrepare("SELECT").ExpectQuery().WillReturnError(full)
	m.ExpectQuery("SELECT").WillReturnRows(row())
	_, err = starter.Players.Get(t.Context(), db, player(1).ID)
	must(t, err)
	m.ExpectPrepare("INSERT").WillReturnError(full)
	m.ExpectBegin()
	m.ExpectPrepare("INSERT").WillReturnError(full)
	m.ExpectExec("INSERT").WillReturnResult(driver.RowsAffected(store.MaxRows))
	m.ExpectExec("INSERT").WillReturnResult(ok)
	m.ExpectCommit()
	must(t, starter.Items.Insert(t.Context(), db, items(store.MaxRows+1, player(1))...))
}

func TestCommitError(t *testing.T) {
	insert := func(db *store.DB) error {
		return db.InTxOnce(t.Context(), func(tx *store.Tx) error { return starter.Players.Insert(t.Context(), tx, player(1)) })
	}
	for _, test := range []struct {
		commit  error
		yes, no []error
	}{
		{mysql.ErrInvalidConn, []error{store.ErrOutcomeUnknown, store.ErrUnavailable}, []error{store.ErrRetryable}},
		{io.EOF, []error{store.ErrOutcomeUnknown}, nil},
		{&mysql.MySQLError{Number: 1180, Message: "Got error 5 during COMMIT"}, []error{store.ErrOutcomeUnknown}, nil},
		{&mysql.MySQLError{Number: 1053, Message: "Server shutdown in progress"}, []error{store.ErrOutcomeUnknown}, nil},
		{errors.New("something new"), []error{store.ErrOutcomeUnknown}, nil},
		{deadlock, []error{store.ErrRetryable}, []error{store.ErrOutcomeUnknown}}, // Galera certifies at the commit
		{driver.ErrBadConn, []error{store.ErrUnavailable}, []error{store.ErrOutcomeUnknown}},

		// What a group refuses: retried, unknown, final.
		{&mysql.MySQLError{Number: 1180, Message: "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT"}, []error{store.ErrRetryable}, []error{store.ErrOutcomeUnknown, store.ErrUnavailable}},
		{&mysql.MySQLError{Number: 3100, Message: "Error on observer while running replication hook 'before_commit'."}, []error{store.ErrOutcomeUnknown, store.ErrUnavailable}, []error{store.ErrRetryable}},
		{&mysql.MySQLError{Number: 3032, Message: "The server is currently in offline mode"}, []error{store.ErrUnavailable}, []error{store.ErrOutcomeUnknown, store.ErrRetryable}},
		{&mysql.MySQLError{Number: 3024, Message: "Query execution was interrupted, maximum statement execution time exceeded"}, nil,
			[]error{store.ErrOutcomeUnknown, store.ErrRetryable, store.ErrUnavailable}},
	} {
		db, m := mock(t)
		m.ExpectBegin()
		m.ExpectExec("INSERT").WillReturnResult(driver.RowsAffected(1))
		m.ExpectCommit().WillReturnError(test.commit)
		is(t, insert(db), append(test.yes, test.commit), test.no...)
	}
}

// A member of a group says of a transaction that it was rolled back for another
// one. That counts as long as the member is in step with the majority: when it
// leaves the group, it says the same of what the others may have committed.
func TestRolledBackByGroup(t *testing.T) {
	rolledBack := &mysql.MySQLError{Number: 3101, SQLState: [5]byte{'4', '0', '0', '0', '0'}, Message: "Plugin instructed the server to rollback the current transaction."}
	for members, conflict := range map[string]bool{
		"ONLINE ONLINE ONLINE": true, "ONLINE ONLINE UNREACHABLE": true, "ONLINE UNREACHABLE UNREACHABLE": false, "ERROR": false, "RECOVERING ONLINE": false, "": false,
	} {
		db, m := mock(t)
		m.ExpectBegin()
		m.ExpectExec("INSERT").WillReturnResult(driver.RowsAffected(1))
		m.ExpectCommit().WillReturnError(rolledBack)
		asked := m.ExpectQuery("replication_group_members")
		if members == "" {
			asked.WillReturnError(&mysql.MySQLError{Number: 1142, Message: "SELECT command denied"})
		} else {
			rows := sqlmock.NewRows([]string{"name", "state"})
			for i, state := range strings.Fields(members) {
				rows.AddRow([]string{"self", "b", "c"}[i], state)
			}
			asked.WillReturnRows(rows)
		}
		err := db.InTxOnce(t.Context(), func(tx *store.Tx) error { return starter.Players.Insert(t.Context(), tx, player(1)) })
		yes, no := []error{store.ErrOutcomeUnknown, store.ErrUnavailable}, []error{store.ErrRetryable}
		if conflict {
			yes, no = no, yes
		}
		is(t, err, append(yes, rolledBack), no...)
	}
}

func TestDeadlockThenSuccess(t *testing.T) {
	db, m := mock(t)
	m.ExpectBegin()
	m.ExpectExec("UPDATE").WillReturnError(deadlock)
	m.ExpectRollback()
	m.ExpectBegin()
	m.ExpectExec("UPDATE").WillReturnResult(driver.RowsAffected(1))
	m.ExpectCommit()
	must(t, db.InTx(t.Context(), func(tx *store.Tx) error { return starter.Players.Update(t.Context(), tx, player(1), "gold") }))
}

// A deadlock ends the transaction in MySQL, and the next statement would be one of its own. So a function that goes on
// after it changes nothing more, and nothing is committed.
func TestDeadlockSwallowed(t *testing.T) {
	db, m := mock(t)
	m.ExpectBegin()
	m.ExpectExec("INSERT").WillReturnResult(driver.RowsAffected(1))
	m.ExpectExec("UPDATE").WillReturnError(deadlock)
	m.ExpectRollback()
	is(t, db.InTxOnce(t.Context(), func(tx *store.Tx) error {
		must(t, starter.Players.Insert(t.Context(), tx, player(1)))
		is(t, starter.Players.Update(t.Context(), tx, player(1), "gold"), []error{store.ErrRetryable})
		is(t, starter.Players.Insert(t.Context(), tx, player(2)), []error{store.ErrRetryable})
		return nil
	}), []error{store.ErrRetryable, deadlock})
}

func TestRowsAffectedLies(t *testing.T) {
	db, m := mock(t)
	m.ExpectExec("INSERT").WillReturnResult(driver.RowsAffected(1))
	m.ExpectPrepare("UPDATE").ExpectExec().WillReturnResult(driver.RowsAffected(2))
	m.ExpectPrepare("DELETE").ExpectExec().WillReturnResult(driver.RowsAffected(0))
	m.ExpectExec("DELETE").WillReturnResult(sqlmock.NewErrorResult(errors.New("cannot tell")))
	if err := starter.Players.Insert(t.Context(), db, player(1), player(2)); err == nil {
		t.Error("one row of two was added, and Insert says nothing")
	}
	if err := starter.Players.Update(t.Context(), db, player(1), "gold"); err == nil {
		t.Error("two rows were changed, and Update says nothing")
	}
	is(t, starter.Players.Delete(t.Context(), db, player(1).ID), []error{store.ErrNotFound})
	if err := starter.Players.Delete(t.Context(), db, player(1).ID); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("the number of rows is unknown, and Delete says %v", err)
	}
}

// Rows are written in the order of their keys.
func TestInsertOrder(t *testing.T) {
	db, m := mock(t)
	var want []driver.Value
	for n := range 3 {
		i := item(n, player(1))
		want = append(want, i.ID, i.Owner, i.Template, i.Count, i.CreatedAt)
	}
	m.ExpectExec("INSERT INTO `items`").WithArgs(want...).WillReturnResult(driver.RowsAffected(3))
	must(t, starter.Items.Insert(t.Context(), db, item(2, player(1)), item(0, player(1)), item(1, player(1))))
}

func TestReadBreaksOff(t *testing.T) {
	db, m := mock(t)
	row := []driver.Value{[]byte("0123456789"), []byte("0123456789"), int64(1), int64(1), born}
	m.ExpectPrepare("SELECT").ExpectQuery().WillReturnRows(
		sqlmock.NewRows([]string{"id", "owner_id", "template", "count", "created_at"}).
			AddRow(row...).AddRow(row...).RowError(1, mysql.ErrInvalidConn))
	var rows []entity.Item
	var last error
	for row, err := range starter.Items.Each(t.Context(), db, "TRUE") {
		if last = err; err == nil {
			rows = append(rows, row)
		}
	}
	is(t, last, []error{store.ErrUnavailable})
	if len(rows) != 0 {
		t.Errorf("%d rows of a broken page were delivered", len(rows))
	}
}
