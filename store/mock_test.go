package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
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
	return store.Wrap(pool, store.MySQL), m
}

var deadlock = &mysql.MySQLError{Number: 1213, Message: "Deadlock found when trying to get lock"}

// is checks that err is each of yes and none of no.
func is(t *testing.T, err error, yes []error, no ...error) {
	t.Helper()
	for _, want := range yes {
		if !errors.Is(err, want) {
			t.Errorf("%v is not: %v", err, want)
		}
	}
	for _, other := range no {
		if errors.Is(err, other) {
			t.Errorf("%v is: %v", err, other)
		}
	}
}

func TestConnectionLostInBatch(t *testing.T) {
	db, m := mock(t)
	m.ExpectPrepare("INSERT INTO `items`")
	m.ExpectBegin()
	m.ExpectExec("INSERT INTO `items`").WillReturnResult(driver.RowsAffected(store.MaxRows))
	m.ExpectExec("INSERT INTO `items`").WillReturnError(mysql.ErrInvalidConn)
	m.ExpectRollback().WillReturnError(mysql.ErrInvalidConn)
	err := store.Items.Insert(t.Context(), db, items(3*store.MaxRows, player(1))...)
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
			store.Players.Insert(t.Context(), db, player(1)),
			store.Players.Update(t.Context(), db, player(1)),
			store.Players.Delete(t.Context(), db, player(1).ID),
		} {
			is(t, err, []error{store.ErrOutcomeUnknown, lost}, store.ErrRetryable)
		}
		_, err := store.Players.Get(t.Context(), db, player(1).ID)
		is(t, err, []error{lost}, store.ErrOutcomeUnknown, store.ErrNotFound)
	}
}

// Nobody answered, so nothing can have changed.
func TestNotConnected(t *testing.T) {
	db, m := mock(t)
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	m.ExpectExec("DELETE").WillReturnError(refused)
	is(t, second(db.Exec(t.Context(), "DELETE FROM players")), []error{store.ErrUnavailable}, store.ErrOutcomeUnknown)
	m.ExpectPrepare("INSERT INTO `players`").WillReturnError(mysql.ErrInvalidConn)
	is(t, store.Players.Insert(t.Context(), db, player(1)), []error{store.ErrUnavailable}, store.ErrOutcomeUnknown)
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
	must(t, store.Players.Update(t.Context(), db, player(1)))
	m.ExpectPrepare("UPDATE").ExpectExec().WillReturnError(full) // on another connection
	m.ExpectExec("UPDATE").WillReturnResult(ok)
	must(t, store.Players.Update(t.Context(), db, player(1)))
	m.ExpectPrepare("SELECT").WillReturnError(full)
	m.ExpectQuery("SELECT").WillReturnRows(row())
	got, err := store.Players.Get(t.Context(), db, player(1).ID)
	if err != nil || got != player(1) {
		t.Errorf("got %+v, %v", got, err)
	}
	m.ExpectPrepare("SELECT").ExpectQuery().WillReturnError(full)
	m.ExpectQuery("SELECT").WillReturnRows(row())
	_, err = store.Players.Get(t.Context(), db, player(1).ID)
	must(t, err)
}

func TestCommitError(t *testing.T) {
	insert := func(db *store.DB) error {
		return db.InTx(t.Context(), func(tx *store.Tx) error { return store.Players.Insert(t.Context(), tx, player(1)) })
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
	} {
		db, m := mock(t)
		m.ExpectBegin()
		m.ExpectExec("INSERT").WillReturnResult(driver.RowsAffected(1))
		m.ExpectCommit().WillReturnError(test.commit)
		is(t, insert(db), append(test.yes, test.commit), test.no...)
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
	must(t, store.Retry(t.Context(), func() error {
		return db.InTx(t.Context(), func(tx *store.Tx) error { return store.Players.Update(t.Context(), tx, player(1)) })
	}))
}

func TestRowsAffectedLies(t *testing.T) {
	db, m := mock(t)
	m.ExpectExec("INSERT").WillReturnResult(driver.RowsAffected(1))
	m.ExpectPrepare("UPDATE").ExpectExec().WillReturnResult(driver.RowsAffected(2))
	m.ExpectPrepare("DELETE").ExpectExec().WillReturnResult(driver.RowsAffected(0))
	m.ExpectExec("DELETE").WillReturnResult(sqlmock.NewErrorResult(errors.New("cannot tell")))
	if err := store.Players.Insert(t.Context(), db, player(1), player(2)); err == nil {
		t.Error("one row of two was added, and Insert says nothing")
	}
	if err := store.Players.Update(t.Context(), db, player(1)); err == nil {
		t.Error("two rows were changed, and Update says nothing")
	}
	is(t, store.Players.Delete(t.Context(), db, player(1).ID), []error{store.ErrNotFound})
	if err := store.Players.Delete(t.Context(), db, player(1).ID); err == nil || errors.Is(err, store.ErrNotFound) {
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
	must(t, store.Items.Insert(t.Context(), db, item(2, player(1)), item(0, player(1)), item(1, player(1))))
}

func TestReadBreaksOff(t *testing.T) {
	db, m := mock(t)
	row := []driver.Value{[]byte("0123456789"), []byte("0123456789"), int64(1), int64(1), born}
	m.ExpectPrepare("SELECT").ExpectQuery().WillReturnRows(
		sqlmock.NewRows([]string{"id", "owner_id", "template", "count", "created_at"}).
			AddRow(row...).AddRow(row...).RowError(1, mysql.ErrInvalidConn))
	var rows []entity.Item
	var last error
	for row, err := range store.Items.All(t.Context(), db) {
		if last = err; err == nil {
			rows = append(rows, row)
		}
	}
	is(t, last, []error{store.ErrUnavailable})
	if len(rows) != 0 {
		t.Errorf("%d rows of a broken page were delivered", len(rows))
	}
}

func TestReservationFaults(t *testing.T) {
	claim := gameid.Claim{Reserved: 5}
	const update, insert = "UPDATE gameid_servers", "INSERT INTO gameid_servers"
	for _, test := range []struct {
		name    string
		epoch   int64
		answers func(sqlmock.Sqlmock)
		ok      bool
		want    error // or nil
	}{
		{"deadlock, then success", 3, func(m sqlmock.Sqlmock) {
			m.ExpectExec(update).WillReturnError(deadlock)
			m.ExpectExec(update).WillReturnError(&mysql.MySQLError{Number: 1205})
			m.ExpectExec(update).WillReturnResult(driver.RowsAffected(1))
		}, true, nil},
		{"deadlock, then too late", 3, func(m sqlmock.Sqlmock) {
			m.ExpectExec(update).WillReturnError(deadlock)
			m.ExpectExec(update).WillReturnResult(driver.RowsAffected(0))
		}, false, nil},
		{"connection lost", 3, func(m sqlmock.Sqlmock) {
			m.ExpectExec(update).WillReturnError(mysql.ErrInvalidConn)
		}, false, store.ErrUnavailable},
		{"node without its cluster", 3, func(m sqlmock.Sqlmock) {
			m.ExpectExec(update).WillReturnError(&mysql.MySQLError{Number: 1047})
		}, false, store.ErrUnavailable},
		{"row is there already", 0, func(m sqlmock.Sqlmock) {
			m.ExpectExec(insert).WillReturnError(&mysql.MySQLError{Number: 1062, Message: "Duplicate entry '7' for key 'PRIMARY'"})
		}, false, nil},
		{"connection lost at the first", 0, func(m sqlmock.Sqlmock) {
			m.ExpectExec(insert).WillReturnError(mysql.ErrInvalidConn)
		}, false, store.ErrUnavailable},
		{"two rows changed", 3, func(m sqlmock.Sqlmock) {
			m.ExpectExec(update).WillReturnResult(driver.RowsAffected(2))
		}, false, errAny},
		{"rows affected unknown", 3, func(m sqlmock.Sqlmock) {
			m.ExpectExec(update).WillReturnResult(sqlmock.NewErrorResult(mysql.ErrInvalidConn))
		}, false, store.ErrUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			db, m := mock(t)
			test.answers(m)
			ok, err := db.Registry().CompareAndSet(t.Context(), 7, gameid.Record{Epoch: test.epoch}, claim)
			if ok != test.ok || test.want == nil && err != nil || test.want == errAny && err == nil || test.want != nil && test.want != errAny && !errors.Is(err, test.want) {
				t.Errorf("got %v, %v, want %v, %v", ok, err, test.ok, test.want)
			}
		})
	}
}

var errAny = errors.New("any error")

func TestLoadFaults(t *testing.T) {
	columns := []string{"epoch", "reserved_ms", "holder", "lease_until_ms", "now_ms"}
	db, m := mock(t)
	m.ExpectQuery("SELECT COALESCE").WillReturnError(mysql.ErrInvalidConn)
	_, err := db.Registry().Load(t.Context(), 7)
	is(t, err, []error{store.ErrUnavailable})
	m.ExpectQuery("SELECT COALESCE").WillReturnRows(sqlmock.NewRows(columns).AddRow(1, 2, "{not json", 3, 4))
	if _, err := db.Registry().Load(t.Context(), 7); err == nil {
		t.Error("a holder that cannot be read was taken for none")
	}
	// A record without its floor would not do.
	m.ExpectQuery("SELECT COALESCE").WillReturnRows(sqlmock.NewRows(columns).AddRow(1, 2, "", 3, 4))
	m.ExpectQuery("information_schema").WillReturnError(mysql.ErrInvalidConn)
	_, err = db.Registry().Load(t.Context(), 7)
	is(t, err, []error{store.ErrUnavailable})
}

// Tables that another process makes between the look at the tables and the
// look at their version are not taken for lost.
func TestTablesMadeMeanwhile(t *testing.T) {
	names := func(names ...string) *sqlmock.Rows {
		rows := sqlmock.NewRows([]string{"table_name"})
		for _, name := range append(names, store.SchemaTable, "players", "items", "guilds", "guild_members", store.RegistryTable) {
			rows.AddRow(name)
		}
		return rows
	}
	for _, tt := range []struct {
		name   string
		second *sqlmock.Rows
		want   []error
	}{
		{"there at the second look", names(store.NumbersTable), nil},
		{"gone", names(), []error{store.ErrSchema}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, m := mock(t)
			version := func() *sqlmock.Rows {
				return sqlmock.NewRows([]string{"application", "version"}).AddRow("mergesafe", store.SchemaVersion)
			}
			m.ExpectQuery("SELECT table_name").WillReturnRows(names())
			m.ExpectQuery("SELECT application").WillReturnRows(version())
			m.ExpectQuery("SELECT table_name").WillReturnRows(tt.second)
			m.ExpectQuery("SELECT application").WillReturnRows(version())
			err := db.CheckSchema(t.Context())
			if is(t, err, tt.want); tt.want == nil && err != nil {
				t.Error(err)
			}
		})
	}
}
