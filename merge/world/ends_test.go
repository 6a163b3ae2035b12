package world

import (
	"fmt"
	"testing"

	"mergesafe/merge/catalog"
)

// The ends of an order are the first and the last row of the scan.
func TestEnds(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		w.exec(t, "CREATE TABLE e (id "+e.blob+" NOT NULL PRIMARY KEY, a INT NOT NULL, s "+nameType(e)+" NOT NULL, UNIQUE (a, s), UNIQUE (s))",
			"CREATE TABLE none (id INT PRIMARY KEY)")
		for i, name := range []string{"m", "B", "a", "Z", "c"} {
			w.exec(t, fmt.Sprintf("INSERT INTO e VALUES (x'0000000000000000000%d', %d, '%s')", (i*3)%5, -i/2, name))
		}
		s := w.open(t)
		for _, columns := range [][]string{{"id"}, {"a", "s"}, {"s"}} {
			scan := by("e", columns...)
			scan.Carry = append([]string{"id"}, columns...)
			rows := mustCollect(t, s.Scan(t.Context(), scan))
			first, last, err := s.Ends(t.Context(), scan)
			if err != nil || first.Len != 1 || last.Len != 1 {
				t.Fatalf("%v: %v, %v, %v", columns, first, last, err)
			}
			got := []row{{values(first.Order, 0), values(first.Carry, 0)}, {values(last.Order, 0), values(last.Carry, 0)}}
			if want := []row{rows[0], rows[len(rows)-1]}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v: got %q, want %q", columns, got, want)
			}
		}
		if first, last, err := s.Ends(t.Context(), by("none", "id")); first != nil || last != nil || err != nil {
			t.Errorf("an empty table: %v, %v, %v", first, last, err)
		}
		other := map[string]string{"sqlite": "BINARY", "mariadb": "utf8mb4_bin", "mysql": "utf8mb4_bin"}[e.name]
		_, _, err := s.Ends(t.Context(), catalog.Scan{Table: "e", Order: []catalog.Order{{Column: "s", Collation: other}}})
		if _, ok := asUnsupported(err); !ok {
			t.Errorf("under another collation: %v", err)
		}
	})
}
