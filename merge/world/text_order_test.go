package world

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Under every collation of utf8mb4 that the server has, the rows of a column
// come in the order of their sorting forms: out of the index, which needs no
// sorting in the server unless it sorts otherwise than it compares, and without
// one. What SQL says of each text and the
// next is what their forms say.
func TestTextComesInOrderOfItsForm(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE texts (id INT PRIMARY KEY, v VARCHAR(20) COLLATE utf8mb4_bin)",
		"CREATE TABLE placed (place INT PRIMARY KEY, id INT NOT NULL)")
	var values []string
	for i, text := range difficultTexts() {
		values = append(values, fmt.Sprintf("(%d, CONVERT(x'%x' USING utf8mb4))", i, text))
	}
	w.exec(t, "INSERT INTO texts VALUES "+strings.Join(values, ", "))
	for _, collation := range w.collations(t) {
		t.Run(collation, func(t *testing.T) {
			for name, key := range map[string]string{"indexed": ", KEY (v)", "plain": ""} {
				w.exec(t, "DROP TABLE IF EXISTS "+name,
					"CREATE TABLE "+name+" (id INT PRIMARY KEY, v VARCHAR(20) COLLATE "+collation+key+")",
					"INSERT INTO "+name+" SELECT * FROM texts")
			}
			s := w.open(t)
			for _, table := range []string{"plain", "indexed"} {
				before := sortedByServer(t, s)
				scan := by(table, "v")
				scan.Carry = []string{"id"}
				rows, err := collect(s.Scan(t.Context(), scan))
				if u, ok := asUnsupported(err); ok {
					if collation != refused {
						t.Error(u)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if table == "indexed" && sortedByServer(t, s) != before && !slices.ContainsFunc(s.weights(), func(w *weight) bool { return w.unsorted }) {
					t.Error("the server sorted what it has an index for")
				}
				w.exec(t, "TRUNCATE TABLE placed")
				var places []string
				for i, r := range rows {
					places = append(places, fmt.Sprintf("(%d, %s)", i, r.carry[0]))
				}
				w.exec(t, "INSERT INTO placed VALUES "+strings.Join(places, ", "))
				// The pool of the test compares, so that nothing comes from the connection of the source.
				compared := w.query(t, "SELECT (x.v < y.v) - (x.v > y.v) FROM placed AS a JOIN placed AS b ON b.place = a.place + 1"+
					" JOIN "+table+" AS x ON x.id = a.id JOIN "+table+" AS y ON y.id = b.id ORDER BY a.place")
				if len(rows) != len(values) || len(compared) != len(rows)-1 {
					t.Fatalf("%s: %d rows and %d comparisons, want %d", table, len(rows), len(compared), len(values))
				}
				for i, c := range compared {
					got := bytes.Compare(rows[i+1].order[0], rows[i].order[0])
					if got < 0 || fmt.Sprint(got) != fmt.Sprint(c[0]) {
						t.Fatalf("%s: text %s and then text %s: the forms say %d, the server says %v", table, rows[i].carry[0], rows[i+1].carry[0], got, c[0])
					}
				}
			}
		})
	}
}

// collations are those of utf8mb4 that the server has.
func (w *world) collations(t *testing.T) (names []string) {
	t.Helper()
	for _, r := range w.query(t, "SHOW COLLATION WHERE Charset = 'utf8mb4'") {
		names = append(names, string(r[0].([]byte)))
	}
	for _, name := range textCollations { // MariaDB does not list all of them with their character set
		if !slices.Contains(names, name) && w.knows(t, name) {
			names = append(names, name)
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %d collations: %q", len(names), names)
	}
	return names
}

// weights are those of the collations of its scans.
func (s *Source) weights() []*weight {
	return slices.Collect(maps.Values(s.dialect.(*mysqlDialect).weights))
}

// sortedByServer is how many rows the connection of the source has had sorted.
func sortedByServer(t *testing.T, s *Source) (n int64) {
	t.Helper()
	var name string
	if err := s.conn.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE 'Sort_rows'").Scan(&name, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
