package sqldb_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	sqlite3 "modernc.org/sqlite/lib"

	"mergesafe/internal/sqldb"
	"mergesafe/store/storetest/faulty"
)

func TestMeaningOfMySQLErrors(t *testing.T) {
	kinds := []error{sqldb.ErrDuplicate, sqldb.ErrForeignKey, sqldb.ErrInvalid, sqldb.ErrRetryable, sqldb.ErrUnavailable, sqldb.ErrReadOnly}
	for want, numbers := range map[error][]uint16{
		sqldb.ErrDuplicate:  {1022, 1062, 1586},
		sqldb.ErrForeignKey: {1216, 1217, 1451, 1452, 1761, 1762},
		sqldb.ErrInvalid:    {1048, 1264, 1265, 1292, 1364, 1366, 1406, 1690, 3819, 4025},
		sqldb.ErrRetryable:  {1020, 1205, 1213, 1615, 8022, 9007},
		sqldb.ErrUnavailable: {14, 1021, 1040, 1041, 1047, 1053, 1114, 1152, 1158, 1159, 1160, 1161, 1180, 1203, 1226, 1317, 1878, 1927,
			3032, 3100, 3101, 3169, 3796, 3797, 3798, 3812, 3813, 4031},
		sqldb.ErrReadOnly: {1290, 1792, 1836},
		nil: {1064, 1054, 1969, 3024, 3098, // a time limit; a table that a group does not take
			1146, 1, 3, 1004, 1005, 1006, 1025, 1026, 1030},
	} {
		for _, number := range numbers {
			cause := &mysql.MySQLError{Number: number, Message: "m"}
			got := sqldb.Translate(fmt.Errorf("wrapped: %w", cause))
			if !errors.Is(got, cause) {
				t.Errorf("%d: the cause is lost in %v", number, got)
			}
			for _, kind := range kinds {
				if errors.Is(got, kind) != (kind == want) {
					t.Errorf("%d: %v, want %v", number, got, want)
				}
			}
		}
	}
	for _, cause := range []error{mysql.ErrInvalidConn, driver.ErrBadConn, sql.ErrConnDone} {
		if got := sqldb.Translate(cause); !errors.Is(got, sqldb.ErrUnavailable) || !errors.Is(got, cause) {
			t.Errorf("%v: %v", cause, got)
		}
	}
}

// A full disk is called one, also by those that speak of a table, or of a number.
func TestFullDisks(t *testing.T) {
	for _, cause := range []error{
		&mysql.MySQLError{Number: 1021, Message: "m"},
		&mysql.MySQLError{Number: 1114, Message: "The table 'pl' is full"},
		&mysql.MySQLError{Number: 1030, Message: "Got error 28 \"No space left on device\" from storage engine Aria"},
		faulty.SQLiteError(sqlite3.SQLITE_FULL), faulty.SQLiteError(sqlite3.SQLITE_IOERR_SHMSIZE), // 4874
	} {
		if got := sqldb.Translate(cause); !errors.Is(got, sqldb.ErrUnavailable) || !strings.Contains(got.Error(), "the disk is full") {
			t.Errorf("%v: %v", cause, got)
		}
	}
	if got := sqldb.Translate(faulty.SQLiteError(sqlite3.SQLITE_IOERR_SHMSIZE)); got.Error() != "the disk is full" {
		t.Errorf("the message shows the number of the error: %v", got)
	}
}

// What a database answers of the words and the values of a query is told from everything that may
// be another answer the next time.
func TestCannotEvaluate(t *testing.T) {
	for state, numbers := range map[string]map[bool][]uint16{
		"42000": {true: {1064, 1139, 1305}, false: {1142, 1203, 1226, 1461}},
		"22003": {true: {1690}},
		"22007": {true: {1292}},
		"22032": {true: {3141}},
		"HY000": {true: {1267, 1366, 1411, 1436, 3685, 3699, 4078}, false: {1, 1030, 1105, 1205, 1290, 3024, 3684, 3700}},
		"70100": {false: {1317, 1969}},
		"40001": {false: {1213}},
		"08S01": {false: {1053, 1927}},
	} {
		for want, numbers := range numbers {
			for _, number := range numbers {
				err := fmt.Errorf("wrapped: %w", &mysql.MySQLError{Number: number, SQLState: [5]byte([]byte(state)), Message: "m"})
				if got := sqldb.Says(err, sqldb.NeverEvaluates); got != want {
					t.Errorf("%d: %t", number, got)
				}
			}
		}
	}
	for code, want := range map[int]bool{sqlite3.SQLITE_ERROR: true, sqlite3.SQLITE_ERROR_SNAPSHOT: false, sqlite3.SQLITE_ERROR_RETRY: false, sqlite3.SQLITE_BUSY: false, sqlite3.SQLITE_IOERR_READ: false, sqlite3.SQLITE_INTERRUPT: false, sqlite3.SQLITE_INTERNAL: false} {
		if got := sqldb.Says(faulty.SQLiteError(code), sqldb.NeverEvaluates); got != want {
			t.Errorf("SQLite %d: %t", code, got)
		}
	}
	for _, err := range []error{nil, mysql.ErrInvalidConn, errors.New("odd")} {
		if sqldb.Says(err, sqldb.NeverEvaluates) {
			t.Error(err)
		}
	}
}

// A full disk is told by the number of what could not be done, and the cause in
// the message.
func TestFullDiskOfMySQL(t *testing.T) {
	for _, test := range []struct {
		number  uint16
		message string
		want    bool
	}{
		{1, `Can't create/write to file '/tmp/MYx' (Errcode: 28 "No space left on device")`, true},
		{3, `Error writing file './s1/items.frm' (Errcode: 28 "No space left on device")`, true},
		{3, "Error writing file '/tmp/MYfd=53' (OS errno 28 - No space left on device)", true},
		{1004, `Can't create file './s1/items.frm' (errno: 28 "No space left on device")`, true},
		{1005, "Can't create table `s1`.`items` (errno: 135 \"No more room in record file\")", true},
		{1006, `Can't create database 's1' (errno: 28 "No space left on device")`, true},
		{1025, `Error on rename of './s1/a' to './s1/b' (errno: 28 "No space left on device")`, true},
		{1026, `Error writing file 'items' (errno: 28 "No space left on device")`, true},
		{1030, `Got error 28 "No space left on device" from storage engine Aria`, true},
		{1030, "Got error 28 - 'No space left on device' from storage engine", true},

		{1005, "Can't create table `s1`.`items` (errno: 150 \"Foreign key constraint is incorrectly formed\")", false},
		{1005, "Can't create table `s28`.`items135` (errno: 121 \"Duplicate key on write or update\")", false},
		{1006, `Can't create database 's1' (errno: 13 "Permission denied")`, false},
		{1030, `Got error 128 "Out of memory in engine" from storage engine Aria`, false},
		{1064, "You have an error in your SQL syntax near '(errno: 28)'", false},
	} {
		cause := &mysql.MySQLError{Number: test.number, Message: test.message}
		got := sqldb.Translate(cause)
		if errors.Is(got, sqldb.ErrUnavailable) != test.want || !errors.Is(got, cause) {
			t.Errorf("got %v, want that the database is unavailable: %t", got, test.want)
		}
	}
}

func TestDuplicateKeyOfMySQL(t *testing.T) {
	for message, want := range map[string][2]string{
		"Duplicate entry 'Aria' for key 'name'":                        {"", "name"},
		"Duplicate entry 'Aria' for key 'players.name'":                {"players", "name"},
		"Duplicate entry 'x' for key 'PRIMARY'' for key 'players.abc'": {"players", "abc"}, // a player may be called that
		"Doppelter Eintrag": {"", ""},
	} {
		err := sqldb.Translate(&mysql.MySQLError{Number: 1062, Message: message})
		d, ok := errors.AsType[*sqldb.DuplicateError](err)
		if !ok || d.Table != want[0] || d.Key != want[1] {
			t.Errorf("%s: got %q, %q", message, d.Table, d.Key)
		}
	}
}

// SQLite's errors are those of a real one; see also TestConstraints,
// TestReferences and TestInTx.
func TestDuplicateKeyOfSQLite(t *testing.T) {
	db := dial(t, "sqlite:"+t.TempDir()+"/x.db")
	exec(t, db, "CREATE TABLE pairs (id BLOB PRIMARY KEY, a TEXT, b TEXT, UNIQUE (a, b)) WITHOUT ROWID")
	exec(t, db, "INSERT INTO pairs VALUES (x'01', 'a', 'b')")
	for query, key := range map[string]string{
		"INSERT INTO pairs VALUES (x'01', 'c', 'd')": "PRIMARY",
		"INSERT INTO pairs VALUES (x'02', 'a', 'b')": "a, b",
	} {
		_, err := db.Exec(t.Context(), query)
		if d, ok := errors.AsType[*sqldb.DuplicateError](err); !ok || d.Table != "pairs" || d.Key != key {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// A damaged file is not a database that may answer later, and says so once.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.db")
	must(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE t (a)")
	err = sqldb.Translate(err)
	if !errors.Is(err, sqldb.ErrDamaged) || !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("%v, want %v", err, sqldb.ErrDamaged)
	}
	again := sqldb.Translate(fmt.Errorf("reading: %w", err))
	if strings.Count(again.Error(), sqldb.ErrUnavailable.Error()) != 1 {
		t.Errorf("translated twice: %v", again)
	}
}
