package world

import (
	"fmt"
	"testing"

	"mergesafe/internal/servertest"
)

// The catalogue says of a counter that has come to its end whether the next row gets a number:
// the INSERT shows it. So it does once an INSERT failed.
func TestCounterAtItsEnd(t *testing.T) {
	t.Parallel()
	for _, e := range engines() {
		ends := map[string]string{
			"INTEGER PRIMARY KEY AUTOINCREMENT":               "9223372036854775807",
			"integer primary key /* AUTOINCREMENT */":         "9223372036854775807",
			"INTEGER PRIMARY KEY, \"autoincrement\" INT NULL": "9223372036854775807",
		}
		if e.name != "sqlite" {
			ends = map[string]string{
				"TINYINT AUTO_INCREMENT PRIMARY KEY": "127", "TINYINT UNSIGNED AUTO_INCREMENT PRIMARY KEY": "255", "INT AUTO_INCREMENT PRIMARY KEY": "2147483647",
				"BIGINT AUTO_INCREMENT PRIMARY KEY": "9223372036854775807", "BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY": "18446744073709551614",
			}
			if e.name == servertest.MariaDB { // MySQL 9 knows no counters of this type
				ends["FLOAT AUTO_INCREMENT PRIMARY KEY"] = "16777216"
			}
		}
		for column, end := range ends {
			t.Run(e.name+"/"+column, func(t *testing.T) {
				w := e.world(t)
				w.exec(t, "CREATE TABLE t (id "+column+", n INT)")
				endless := e.name == "sqlite" && column != "INTEGER PRIMARY KEY AUTOINCREMENT"
				for _, key := range []string{"5", end + " - 1", end} {
					w.exec(t, "DELETE FROM t", fmt.Sprintf("INSERT INTO t (id, n) VALUES (%s, 1)", key))
					for range 2 {
						known, err := w.open(t).Catalog(t.Context())
						if err != nil {
							t.Fatal(err)
						}
						c := known.Tables[0].AutoIncrement
						_, err = w.db.ExecContext(t.Context(), "INSERT INTO t (n) VALUES (2)")
						if full := c.Next > c.Max; c.Endless != endless || (full && !endless) != (err != nil) {
							t.Errorf("after %s it is %+v, and an INSERT says: %v", key, *c, err)
						}
					}
				}
			})
		}
	}
}
