package prove_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
)

// written writes rows to a table as apply does, and returns the error.
func written(t *testing.T, d world.Database, table string, rows ...[]any) error {
	t.Helper()
	s, err := world.OpenWorld(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	on := &world.Connection{Database: d, Writes: true}
	defer on.Close()
	l := world.NewLayout(s.Dialect, s.Table(table))
	return on.Tx(t.Context(), func() error { return on.Bulk(t.Context(), l, rows) })
}

// The key 0 of a column that counts stays 0, whatever the types of the other columns are.
func TestWrittenKeyZero(t *testing.T) {
	worldtest.OnEachWay(t, func(t *testing.T, e worldtest.Engine) {
		d := e.Fresh(t, "d")
		types := map[string]string{"VARCHAR(20) CHARACTER SET latin1": "Zero", "VARCHAR(20)": "Zero", "ENUM('One', 'Zero')": "Zero", "JSON": "{}"}
		if servertest.OnMariaDB(t) {
			types["INET6"], types["UUID"] = "::1", "00000000-0000-4000-8000-000000000001"
		}
		for of, v := range types {
			worldtest.Exec(t, d, "DROP TABLE IF EXISTS t", "CREATE TABLE t (v "+of+" NOT NULL, id INT AUTO_INCREMENT PRIMARY KEY)")
			if err := written(t, d, "t", []any{v, int64(0)}, []any{v, int64(50)}); err != nil {
				t.Errorf("%s: %v", of, err)
			}
			worldtest.Asked(t, d, "SELECT MIN(id), MAX(id) FROM t", "0|50")
		}
	})
}

// What the server would change, or leave out, is an error that says why, and nothing is written.
func TestWrittenAsItIs(t *testing.T) {
	worldtest.OnEachWay(t, func(t *testing.T, e worldtest.Engine) {
		for _, of := range []struct {
			why, table string
			kind       error
			there, row any
			says       string
		}{
			{"a generated number that is too large", "id INT PRIMARY KEY, b TINYINT UNSIGNED AS (id DIV 1000) STORED", store.ErrInvalid, int64(7), int64(1250000), "Out of range"},
			{"a generated text that is too long", "id VARCHAR(20) PRIMARY KEY, b VARCHAR(6) AS (id) STORED", store.ErrInvalid, "p1", "Annabe.s2", "for column 'b'"},
			{"a number that is too large", "id TINYINT PRIMARY KEY", store.ErrInvalid, int64(7), int64(300), "Out of range"},
			{"a condition", "id INT PRIMARY KEY, CHECK (id > 5)", store.ErrInvalid, int64(7), int64(4), ""},
			{"a key that is there", "id INT PRIMARY KEY", store.ErrDuplicate, int64(7), int64(7), ""},
			{"digits that a generated column rounds", "id INT PRIMARY KEY, b DECIMAL(5, 2) AS (id / 3) STORED", nil, int64(7), int64(8), ""},
		} {
			d := e.Fresh(t, "d")
			worldtest.Exec(t, d, "CREATE TABLE t ("+of.table+")")
			if err := written(t, d, "t", []any{of.there}); err != nil {
				t.Fatal(err)
			}
			want := int64(1)
			if of.kind == nil {
				want = 2
			}
			if err := written(t, d, "t", []any{of.row}); !errors.Is(err, of.kind) || err != nil && !strings.Contains(err.Error(), of.says) {
				t.Errorf("%s: %v", of.why, err)
			}
			if n := worldtest.Number(t, d, "SELECT COUNT(*) FROM t"); n != want {
				t.Errorf("%s: %d rows, want %d", of.why, n, want)
			}
		}
	})
}

// An ENUM or a SET may have members that are equal in its collation, if it was made in a mode that is not strict: it
// is made again, and each row keeps its member.
func TestEqualMembers(t *testing.T) {
	worldtest.OnEachWay(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
		for i, d := range all {
			db := worldtest.Pool(t, d)
			db.SetMaxOpenConns(1)
			for _, statement := range []string{
				"SET sql_mode = ''",
				"CREATE TABLE pet (id INT PRIMARY KEY, e ENUM('a', 'A', 'b') NOT NULL, KEY by_e (e))",
				"CREATE TABLE pl (id INT AUTO_INCREMENT PRIMARY KEY, e ENUM('a', 'A', 'b') NOT NULL, s SET('a', 'A', 'b') NULL, pet INT, KEY by_e (e), FOREIGN KEY (pet) REFERENCES pet (id))",
				"INSERT INTO pet VALUES (" + []string{"1", "100"}[i] + ", 2)",
				"INSERT INTO pl (id, e, s, pet) SELECT 100 * " + []string{"0", "1"}[i] + " + seq, seq % 3 + 1, IF(seq = 8, NULL, seq - 1), NULL FROM " + servertest.Seq(1, 8),
			} {
				if _, err := db.Exec(statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
		}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
		const query = "SELECT id, e + 0, s + 0 FROM pl ORDER BY id"
		want := append(worldtest.Rows(t, all[0], query), worldtest.Rows(t, all[1], query)...)
		if got := worldtest.Rows(t, into, query); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
