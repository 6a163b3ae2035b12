package sqldb_test

import (
	"errors"
	"testing"

	"mergesafe/internal/smalldisk"
	"mergesafe/internal/sqldb"
)

// Whatever MariaDB says of a full disk, and it says it in many ways, it means
// that the database is unavailable.
func TestFullDiskOfMariaDB(t *testing.T) {
	disk, server := smalldisk.MariaDB(t, "150m")
	dsn, err := server.Database(t.Context())
	must(t, err)
	db := dial(t, "mysql:"+dsn)
	exec(t, db, "CREATE TABLE notes (n INT PRIMARY KEY, text VARCHAR(200))")
	exec(t, db, "INSERT INTO notes SELECT seq, REPEAT('x', 200) FROM seq_1_to_20000")
	for _, test := range []struct {
		spare      int64
		statements []string
	}{
		{0, []string{
			"CREATE TABLE more (n INT)",
			"INSERT INTO notes SELECT seq, REPEAT('x', 200) FROM seq_100001_to_130000",
			"SELECT COUNT(*) FROM (SELECT * FROM notes ORDER BY text, n DESC LIMIT 15000) AS sorted",
		}},
		{16 << 10, []string{ // enough for the description of a table, not for the table
			"CREATE TABLE more (n INT)",
			"ALTER TABLE notes ADD INDEX (text)",
			"ALTER TABLE notes FORCE, ALGORITHM=COPY",
		}},
	} {
		must(t, disk.Fill(test.spare))
		for _, statement := range test.statements {
			_, err := db.Exec(t.Context(), statement)
			if !errors.Is(err, sqldb.ErrUnavailable) {
				t.Errorf("with %d bytes left, %s: %v, want that the database is unavailable", test.spare, statement, err)
			}
		}
		must(t, disk.Free())
	}
}
