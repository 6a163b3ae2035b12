package faulty

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"mergesafe/internal/sqldb"
)

// Fault is how a request to a database fails.
type Fault struct {
	Name  string
	mysql error // what the driver returns
	lite  int   // the same of SQLite
	rows  int   // of the answer, before it fails; -1: the request itself
}

var general = [5]byte([]byte("HY000"))

// ReadFaults are the ways in which a read fails, once.
var ReadFaults = []Fault{
	{"lost", mysql.ErrInvalidConn, sqlite3.SQLITE_IOERR_READ, -1},
	{"lost after a row", mysql.ErrInvalidConn, sqlite3.SQLITE_IOERR_READ, 1},
	{"lost at the end", mysql.ErrInvalidConn, sqlite3.SQLITE_IOERR_READ, 1 << 30},
	{"in conflict", Deadlock, sqlite3.SQLITE_BUSY, -1},
	{"waited", &mysql.MySQLError{Number: 1205, SQLState: general, Message: "Lock wait timeout exceeded; try restarting transaction"}, sqlite3.SQLITE_LOCKED, 1},
	{"took too long", &mysql.MySQLError{Number: 3024, SQLState: general, Message: "Query execution was interrupted, maximum statement execution time exceeded"}, sqlite3.SQLITE_INTERRUPT, -1},
	{"odd", &mysql.MySQLError{Number: 1105, SQLState: general, Message: "Unknown error"}, sqlite3.SQLITE_INTERNAL, -1},
}

// Faults are requests that fail, of a program that makes so many: about most of them, spread over
// all; 0 is each request at least once. All ways in which a read fails come in turn.
func Faults(requests, most int) iter.Seq[*Nth] {
	ways := len(ReadFaults)
	step := ways - 1
	if most > 0 {
		step = max(step, requests*ways/most)
	}
	if step%ways == 0 {
		step++
	}
	return func(yield func(*Nth) bool) {
		for i := 0; i < requests*ways; i += step {
			if !yield(&Nth{N: i / ways, Fault: ReadFaults[i%ways]}) {
				return
			}
		}
	}
}

// Nth makes one of the requests to all databases that a program opens fail, and counts them.
type Nth struct {
	N     int // which one, from 0
	Fault Fault

	// Only, if not nil, tells of which databases the requests count.
	Only func(dsn string) bool

	mu    sync.Mutex
	count int
	what  string
}

// In returns the context of the program.
func (n *Nth) In(ctx context.Context) context.Context {
	return sqldb.Through(func(dsn string, c driver.Connector) driver.Connector {
		if n.Only != nil && !n.Only(dsn) {
			return c
		}
		fault := func(what string) error { return n.at(what, strings.HasPrefix(dsn, string(sqldb.SQLite))) }
		return &Wire{Connector: nthConnector{c, fault}, Fault: func(what string) (error, bool) { return fault(what), false }}
	}).With(ctx)
}

type nthConnector struct {
	driver.Connector
	fault func(what string) error
}

func (c nthConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.fault("CONNECT"); err != nil {
		return nil, err
	}
	return c.Connector.Connect(ctx)
}

func (n *Nth) at(what string, lite bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count++
	if n.count != n.N+1 || n.Fault.Name == "" {
		return nil
	}
	n.what = what
	err := n.Fault.mysql
	if lite {
		err = SQLiteError(n.Fault.lite)
	}
	if n.Fault.rows >= 0 {
		return &CutError{n.Fault.rows, err}
	}
	return err
}

// Count is how many requests there were.
func (n *Nth) Count() int { n.mu.Lock(); defer n.mu.Unlock(); return n.count }

// String tells which request failed.
func (n *Nth) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return fmt.Sprintf("request %d, %s: %.300s", n.N, n.Fault.Name, n.what)
}

// SQLiteError is an error of SQLite as the driver returns it. The driver makes none for others.
func SQLiteError(code int) error {
	e := new(sqlite.Error)
	set := func(field string) reflect.Value {
		f := reflect.ValueOf(e).Elem().FieldByName(field)
		return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
	}
	set("code").SetInt(int64(code))
	set("msg").SetString(fmt.Sprintf("%s (%d)", sqlite.ErrorCodeString[code], code))
	return e
}
