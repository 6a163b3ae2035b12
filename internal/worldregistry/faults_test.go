package worldregistry_test

import (
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
)

// mock is a registry whose database answers what the test writes.
func mock(t *testing.T) (*worldregistry.Registry, sqlmock.Sqlmock) {
	t.Helper()
	pool, m, err := sqlmock.New()
	must(t, err)
	t.Cleanup(func() {
		if err := m.ExpectationsWereMet(); err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	return worldregistry.Unguarded(pool, sqldb.MySQL), m
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
			m.ExpectBegin()
			m.ExpectExec(update).WillReturnError(deadlock)
			m.ExpectRollback()
			m.ExpectBegin()
			m.ExpectExec(update).WillReturnError(&mysql.MySQLError{Number: 1205})
			m.ExpectRollback()
			m.ExpectBegin()
			m.ExpectExec(update).WillReturnResult(driver.RowsAffected(1))
			m.ExpectCommit()
		}, true, nil},
		{"deadlock, then too late", 3, func(m sqlmock.Sqlmock) {
			m.ExpectBegin()
			m.ExpectExec(update).WillReturnError(deadlock)
			m.ExpectRollback()
			m.ExpectBegin()
			m.ExpectExec(update).WillReturnResult(driver.RowsAffected(0))
			m.ExpectCommit()
		}, false, nil},
		{"connection lost", 3, func(m sqlmock.Sqlmock) {
			m.ExpectBegin()
			m.ExpectExec(update).WillReturnError(mysql.ErrInvalidConn)
			m.ExpectRollback()
		}, false, store.ErrUnavailable},
		{"node without its cluster", 3, func(m sqlmock.Sqlmock) {
			m.ExpectBegin()
			m.ExpectExec(update).WillReturnError(&mysql.MySQLError{Number: 1047})
			m.ExpectRollback()
		}, false, store.ErrUnavailable},
		{"row is there already", 0, func(m sqlmock.Sqlmock) {
			m.ExpectBegin()
			m.ExpectExec(insert).WillReturnError(&mysql.MySQLError{Number: 1062, Message: "Duplicate entry '7' for key 'PRIMARY'"})
			m.ExpectRollback()
		}, false, nil},
		{"connection lost at the first", 0, func(m sqlmock.Sqlmock) {
			m.ExpectBegin()
			m.ExpectExec(insert).WillReturnError(mysql.ErrInvalidConn)
			m.ExpectRollback()
		}, false, store.ErrUnavailable},
		{"two rows changed", 3, func(m sqlmock.Sqlmock) {
			m.ExpectBegin()
			m.ExpectExec(update).WillReturnResult(driver.RowsAffected(2))
			m.ExpectRollback()
		}, false, errAny},
		{"rows affected unknown", 3, func(m sqlmock.Sqlmock) {
			m.ExpectBegin()
			m.ExpectExec(update).WillReturnResult(sqlmock.NewErrorResult(mysql.ErrInvalidConn))
			m.ExpectRollback()
		}, false, store.ErrUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, m := mock(t)
			test.answers(m)
			ok, err := r.CompareAndSet(t.Context(), 7, gameid.Record{Epoch: test.epoch}, claim)
			if ok != test.ok || test.want == nil && err != nil || test.want == errAny && err == nil || test.want != nil && test.want != errAny && !errors.Is(err, test.want) {
				t.Errorf("got %v, %v, want %v, %v", ok, err, test.ok, test.want)
			}
		})
	}
}

var errAny = errors.New("any error")

func TestLoadFaults(t *testing.T) {
	columns := []string{"epoch", "reserved_ms", "holder", "lease_until_ms", "now_ms"}
	r, m := mock(t)
	m.ExpectQuery("SELECT COALESCE").WillReturnError(mysql.ErrInvalidConn)
	_, err := r.Load(t.Context(), 7)
	is(t, err, []error{store.ErrUnavailable})
	m.ExpectQuery("SELECT COALESCE").WillReturnRows(sqlmock.NewRows(columns).AddRow(1, 2, "{not json", 3, 4))
	if _, err := r.Load(t.Context(), 7); err == nil {
		t.Error("a holder that cannot be read was taken for none")
	}
	// That the tables cannot be read does not mean that there are no IDs.
	m.ExpectQuery("SELECT COALESCE").WillReturnRows(sqlmock.NewRows(columns).AddRow(1, 2, "", 3, 4))
	m.ExpectQuery("information_schema").WillReturnError(mysql.ErrInvalidConn)
	_, err = r.Floor(t.Context(), 7, worldregistry.NodeOptions{})
	is(t, err, []error{store.ErrUnavailable})
}

// Tables that another process makes between the look at the tables and the
// look at their version are not taken for lost.
func TestTablesMadeMeanwhile(t *testing.T) {
	names := func(names ...string) *sqlmock.Rows {
		rows := sqlmock.NewRows([]string{"table_name"})
		for _, name := range append(names, sqldb.SchemaTable) {
			rows.AddRow(name)
		}
		return rows
	}
	for _, tt := range []struct {
		name   string
		second *sqlmock.Rows
		want   []error
	}{
		{"there at the second look", names(worldregistry.Table), nil},
		{"gone", names(), []error{store.ErrSchema}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, m := mock(t)
			version := func() *sqlmock.Rows {
				return sqlmock.NewRows([]string{"application", "version"}).AddRow(sqldb.RegistryMark, 1)
			}
			m.ExpectQuery("SELECT table_name").WillReturnRows(names())
			m.ExpectQuery("SELECT application").WillReturnRows(version())
			m.ExpectQuery("SELECT table_name").WillReturnRows(tt.second)
			m.ExpectQuery("SELECT application").WillReturnRows(version())
			if tt.want == nil {
				for range 2 { // the marks and the table
					m.ExpectQuery("engine").WillReturnRows(sqlmock.NewRows([]string{"engine", "keyed"}).AddRow("InnoDB", 1))
				}
			}
			err := r.Check(t.Context())
			if is(t, err, tt.want); tt.want == nil && err != nil {
				t.Error(err)
			}
		})
	}
}
