package world

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
)

// decode reads the sorting form of an integer.
func decode(t *testing.T, b []byte) string {
	t.Helper()
	if len(b) != 9 {
		t.Fatalf("an integer has %d bytes, want 9", len(b))
	}
	n := binary.BigEndian.Uint64(b[1:])
	if b[0] == 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(n, 10)
}

func TestScanIntegers(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		want := []int64{math.MinInt64, math.MinInt64 + 1, -256, -1, 0, 1, 255, 256, math.MaxInt64 - 1, math.MaxInt64}
		w.exec(t, "CREATE TABLE n (id BIGINT PRIMARY KEY)")
		for _, i := range []int{3, 9, 0, 5, 1, 8, 2, 7, 4, 6} {
			w.exec(t, fmt.Sprintf("INSERT INTO n VALUES (%d)", want[i]))
		}
		scan := by("n", "id")
		scan.Carry = []string{"id"}
		rows := mustCollect(t, w.open(t).Scan(t.Context(), scan))
		if len(rows) != len(want) {
			t.Fatalf("got %d rows, want %d", len(rows), len(want))
		}
		for i, r := range rows {
			digits := strconv.FormatInt(want[i], 10)
			if got := decode(t, r.order[0]); got != digits || string(r.carry[0]) != digits {
				t.Errorf("row %d: got %s, carried %s, want %s", i, got, r.carry[0], digits)
			}
			if i > 0 && bytes.Compare(rows[i-1].order[0], r.order[0]) >= 0 {
				t.Errorf("%d does not sort after %d", want[i], want[i-1])
			}
		}
	})
}

// A signed and an unsigned column can be held against each other.
func TestScanUnsigned(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE n (id BIGINT UNSIGNED PRIMARY KEY, small TINYINT, y YEAR, filled INT(7) ZEROFILL)",
		"INSERT INTO n VALUES (18446744073709551615, -1, 2155, 1), (9223372036854775808, 1, 1901, 2), (0, 0, 1970, 10), (127, 127, 0, 9)")
	s := w.open(t)
	for column, want := range map[string]string{
		"id":     "0 127 9223372036854775808 18446744073709551615",
		"small":  "-1 0 1 127",
		"y":      "0 1901 1970 2155",
		"filled": "1 2 9 10",
	} {
		var got []string
		for _, r := range mustCollect(t, s.Scan(t.Context(), by("n", column))) {
			got = append(got, decode(t, r.order[0]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %v", column, got, want)
		}
	}
}

func TestScanBytes(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		w.exec(t, "CREATE TABLE k (id "+e.blob+" NOT NULL PRIMARY KEY, v VARBINARY(20))",
			"INSERT INTO k VALUES (x'ffffffffffffffffffff', x''), (x'00000000000000000000', x'6100'), (x'80000000000000000000', x'61'), (x'7f0000000000000a0d27', NULL)")
		scan := by("k", "id")
		scan.Carry = []string{"v", "id"}
		var batches []*catalog.Batch
		for b, err := range w.open(t).Scan(t.Context(), scan) {
			if err != nil {
				t.Fatal(err)
			}
			if b.Len != 4 || b.Order[0].Width != 10 || b.Order[0].Null != nil {
				t.Errorf("got %d rows of width %d, NULLs %v", b.Len, b.Order[0].Width, b.Order[0].Null)
			}
			if &b.Order[0].Data[0] != &b.Carry[1].Data[0] {
				t.Error("a column that sorts as it is was read twice")
			}
			var got []string
			for i := range b.Len {
				got = append(got, fmt.Sprintf("%x %x %t", b.Order[0].At(i), b.Carry[0].At(i), b.Carry[0].At(i) == nil))
			}
			want := []string{
				"00000000000000000000 6100 false",
				"7f0000000000000a0d27  true",
				"80000000000000000000 61 false",
				"ffffffffffffffffffff  false",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			batches = append(batches, b)
		}
		if len(batches) != 1 {
			t.Errorf("got %d batches, want 1", len(batches))
		}
	})
}

func TestScanComposite(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		w.exec(t, "CREATE TABLE k (a INT, b VARCHAR(10), c "+e.blob+")",
			"INSERT INTO k VALUES (2, 'x', x'00000000000000000001'), (1, 'y', NULL), (1, 'x', NULL), (NULL, 'z', NULL), (1, NULL, NULL)")
		s := w.open(t)
		shape := func(scan catalog.Scan) (out []string) {
			for _, r := range mustCollect(t, s.Scan(t.Context(), scan)) {
				text := "NULL"
				if r.order[0] != nil {
					text = decode(t, r.order[0])
				}
				if r.order[1] == nil {
					text += " NULL"
				}
				out = append(out, text)
			}
			return out
		}
		scan := by("k", "a", "b")
		if diff := cmp.Diff([]string{"NULL", "1 NULL", "1", "1", "2"}, shape(scan)); diff != "" {
			t.Error(diff)
		}
		scan.SkipNull = true
		if diff := cmp.Diff([]string{"1", "1", "2"}, shape(scan)); diff != "" {
			t.Error(diff)
		}
	})
}

// More rows than fit one batch come all, once, in order, and in bounded
// batches.
func TestScanBatches(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		const n = 3*batchRows + 17
		fill(t, e, w, n)
		i, batches := 0, 0
		for b, err := range w.open(t).Scan(t.Context(), by("many", "id")) {
			if err != nil {
				t.Fatal(err)
			}
			if b.Len < 1 || b.Len > batchRows {
				t.Fatalf("a batch of %d rows", b.Len)
			}
			batches++
			for j := range b.Len {
				if got := binary.BigEndian.Uint64(b.Order[0].At(j)[2:]); got != uint64(i) {
					t.Fatalf("row %d is %d", i, got)
				}
				i++
			}
		}
		if i != n || batches != 4 {
			t.Errorf("got %d rows in %d batches, want %d in 4", i, batches, n)
		}
	})
}

// fill makes a table with n consecutive IDs.
func fill(t *testing.T, e engine, w *world, n int) {
	t.Helper()
	w.exec(t, "CREATE TABLE many (id "+e.blob+" NOT NULL PRIMARY KEY)")
	for start := 0; start < n; start += 1000 {
		var rows []string
		for i := start; i < min(n, start+1000); i++ {
			rows = append(rows, fmt.Sprintf("(x'%020x')", i))
		}
		w.exec(t, "INSERT INTO many VALUES "+strings.Join(rows, ","))
	}
}

// Long values make batches smaller, so that memory stays what it was.
func TestScanLongValues(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		w.exec(t, "CREATE TABLE texts (id INT PRIMARY KEY, v VARCHAR(1000))")
		for i := range 500 {
			w.exec(t, fmt.Sprintf("INSERT INTO texts VALUES (%d, '%s')", i, strings.Repeat("x", 1000)))
		}
		rows, most := 0, 0
		scan := by("texts", "id")
		scan.Carry = []string{"v"}
		for b, err := range w.open(t).Scan(t.Context(), scan) {
			if err != nil {
				t.Fatal(err)
			}
			rows += b.Len
			most = max(most, b.Len)
		}
		if rows != 500 || most >= 500 {
			t.Errorf("got %d rows, %d of them in one batch", rows, most)
		}
	})
}

func TestScanDangling(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		w.exec(t,
			"CREATE TABLE parents (a INT NOT NULL, b VARCHAR(10) NOT NULL, PRIMARY KEY (a, b))",
			"CREATE TABLE children (id INT PRIMARY KEY, a INT, b VARCHAR(10))",
			"INSERT INTO parents VALUES (1, 'x'), (2, 'y')",
			"INSERT INTO children VALUES (1, 1, 'x'), (2, 1, 'y'), (3, NULL, 'y'), (4, 3, NULL), (5, 3, 'x'), (6, 2, 'y')")
		scan := by("children", "id")
		scan.Dangling = &catalog.Reference{Name: "f", Columns: []string{"a", "b"}, ToTable: "parents", ToColumns: []string{"a", "b"}}
		var got []string
		s := w.open(t)
		for _, r := range mustCollect(t, s.Scan(t.Context(), scan)) {
			got = append(got, decode(t, r.order[0]))
		}
		if diff := cmp.Diff([]string{"2", "5"}, got); diff != "" {
			t.Error(diff)
		}
		scan.Dangling.ToTable = "elsewhere.parents"
		_, err := collect(s.Scan(t.Context(), scan))
		if u, ok := errors.AsType[*catalog.UnsupportedError](err); !ok || u.Table != "children" || u.Column != "a, b" {
			t.Errorf("got error %v", err)
		}
	})
}

func TestOddNames(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		const name = "odd \"`'%_\\;-- 表 r"
		q := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
		if e.name != "sqlite" {
			q = newMySQL().Quote
		}
		w.exec(t, "CREATE TABLE "+q(name)+" ("+q(name)+" INT PRIMARY KEY, "+q("select")+" VARCHAR(20))",
			"INSERT INTO "+q(name)+" VALUES (7, 'seven')")
		s := w.open(t)
		scan := by(name, name)
		scan.Order = append(scan.Order, catalog.Order{Column: "select"})
		scan.Carry = []string{name}
		scan.Dangling = &catalog.Reference{Columns: []string{"select"}, ToTable: name, ToColumns: []string{"select"}}
		if rows := mustCollect(t, s.Scan(t.Context(), scan)); len(rows) != 0 {
			t.Errorf("%d dangling rows", len(rows))
		}
		scan.Dangling = nil
		rows := mustCollect(t, s.Scan(t.Context(), scan))
		if len(rows) != 1 || decode(t, rows[0].order[0]) != "7" {
			t.Fatalf("got %v", rows)
		}
		fields, err := s.Row(t.Context(), name, scan.Carry, rows[0].carry)
		want := []catalog.Field{{Column: name, Value: "7"}, {Column: "select", Value: "seven"}}
		if diff := cmp.Diff(want, fields); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

// Whatever is written after Open, by whomever, is not seen.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		fill(t, e, w, 10)
		s := w.open(t)
		w.exec(t, "INSERT INTO many VALUES (x'ffffffffffffffffffff')", "DELETE FROM many WHERE id = x'00000000000000000003'")
		for range 2 {
			rows := mustCollect(t, s.Scan(t.Context(), by("many", "id")))
			if len(rows) != 10 {
				t.Errorf("got %d rows, want 10", len(rows))
			}
			w.exec(t, "DELETE FROM many WHERE id = x'00000000000000000004'")
		}
		late, err := s.Row(t.Context(), "many", []string{"id"}, [][]byte{bytes.Repeat([]byte{0xff}, 10)})
		if late != nil || err != nil {
			t.Errorf("a later row is there: %v, %v", late, err)
		}
		gone, err := s.Row(t.Context(), "many", []string{"id"}, [][]byte{{9: 3}})
		if diff := cmp.Diff([]catalog.Field{{Column: "id", Value: "00000000000000000003"}}, gone); diff != "" || err != nil {
			t.Errorf("a row deleted later: %s, %v", diff, err)
		}
	})
}

func TestScanCancelled(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		fill(t, e, w, 3*batchRows)
		s := w.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		batches := 0
		var last error
		for _, err := range s.Scan(ctx, by("many", "id")) {
			if last = err; err == nil {
				batches++
				cancel()
			}
		}
		if !errors.Is(last, context.Canceled) || batches == 3 {
			t.Errorf("got %d batches and then %v", batches, last)
		}
		if rows, err := collect(s.Scan(ctx, by("many", "id"))); !errors.Is(err, context.Canceled) || len(rows) > 0 {
			t.Errorf("a scan under an ended context: %d rows, %v", len(rows), err)
		}
	})
}

// A statement that would run for hours before its first row ends when the
// context does, on the server as well: there it would hold the tables, and
// cost a core.
func TestScanCancelledWhileSorting(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		fill(t, e, w, 5000)
		s := w.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		schema, err := s.schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// A view on the inside: no real table is slow enough to be sure of it.
		slow := "(SELECT MIN(a.id = d.id) AS id FROM many AS a, many AS b, many AS c, many AS d)"
		schema.tables["slow"] = &table{name: slow, byName: schema.tables["many"].byName}
		s.dialect = unquoted{s.dialect, slow}
		done := make(chan error, 1)
		go func() {
			_, err := collect(s.Scan(ctx, by("slow", "id")))
			done <- err
		}()
		await := func(running bool) {
			if e.name != "sqlite" { // there is no server
				servertest.AwaitRunning(t, strings.TrimPrefix(w.dsn, "mysql:"), slow, running)
			}
		}
		await(true)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		await(false)
	})
}

// unquoted leaves one name as it is.
type unquoted struct {
	dialect
	name string
}

func (u unquoted) Quote(name string) string {
	if name == u.name {
		return name
	}
	return u.dialect.Quote(name)
}

// A lost connection is an error in the middle of a scan and ever after: the
// snapshot is gone, and another one would not fit what was read before.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	// More than all buffers between the server and us can hold.
	const total = 30000
	w.exec(t, "CREATE TABLE wide (id INT PRIMARY KEY, v VARCHAR(1000))", "INSERT INTO wide SELECT seq, REPEAT('x', 1000) FROM "+servertest.Seq(1, total))
	s := w.open(t)
	scan := by("wide", "id")
	scan.Carry = []string{"v"}
	var id int64
	if err := s.conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	rows := 0
	var last error
	for b, err := range s.Scan(t.Context(), scan) {
		if last = err; err != nil {
			break
		}
		if rows == 0 {
			if _, err := servertest.Admin(t).ExecContext(t.Context(), fmt.Sprintf("KILL %d", id)); err != nil {
				t.Fatal(err)
			}
		}
		rows += b.Len
	}
	if last == nil || rows == total {
		t.Errorf("got %d rows, error %v", rows, last)
	}
	for range 2 {
		if rows, err := collect(s.Scan(t.Context(), scan)); err == nil || len(rows) > 0 {
			t.Errorf("after the loss: %d rows, error %v", len(rows), err)
		}
	}
}

// A scan that is given up leaves the source usable.
func TestScanStopped(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		fill(t, e, w, 3*batchRows)
		s := w.open(t)
		for _, err := range s.Scan(t.Context(), by("many", "id")) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Row(t.Context(), "many", []string{"id"}, [][]byte{{9: 1}}); !errors.Is(err, errBusy) {
				t.Errorf("Row while a scan is open: %v", err)
			}
			if _, err := collect(s.Scan(t.Context(), by("many", "id"))); !errors.Is(err, errBusy) {
				t.Errorf("Scan while a scan is open: %v", err)
			}
			break
		}
		if rows := mustCollect(t, s.Scan(t.Context(), by("many", "id"))); len(rows) != 3*batchRows {
			t.Errorf("then got %d rows", len(rows))
		}
	})
}

func TestScanMost(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		fill(t, e, w, 10)
		scan := by("many", "id")
		scan.Most = 3
		rows := mustCollect(t, w.open(t).Scan(t.Context(), scan))
		if len(rows) != 3 || rows[0].order[0][9] != 0 || rows[2].order[0][9] != 2 {
			t.Errorf("the first 3 of 10 rows are %v", rows)
		}
	})
}

// The index that keeps names unique has their order. Where several rows may be equal, they
// come in the order of their key.
func TestScanOfUniqueNamesSortsNothing(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		var named []string
		for i := range 1000 {
			named = append(named, fmt.Sprintf("(%d, 'name %d')", i, (i*7919)%1000))
		}
		w.exec(t, "CREATE TABLE named (id INT NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)",
			"INSERT INTO named VALUES "+strings.Join(named, ", "),
			"CREATE TABLE maybe (id INT NOT NULL PRIMARY KEY, name VARCHAR(20) UNIQUE)",
			"INSERT INTO maybe VALUES (4, 'b'), (3, NULL), (2, 'a'), (1, NULL)")
		s := w.open(t)
		schema, err := s.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		scan := by("named", "name")
		scan.Carry = []string{"id"}
		q, err := s.plan(t.Context(), schema, scan, true)
		s.leave()
		if err != nil {
			t.Fatal(err)
		}
		explain, sorts := "EXPLAIN ", "filesort"
		if e.name == "sqlite" {
			explain, sorts = "EXPLAIN QUERY PLAN ", "TEMP B-TREE"
		}
		for _, row := range w.query(t, explain+q.statement) {
			if text := fmt.Sprintf("%s", row); strings.Contains(text, sorts) {
				t.Errorf("%s: %s", q.statement, text)
			}
		}
		scan.Table = "maybe"
		var ids []string
		for _, r := range mustCollect(t, s.Scan(t.Context(), scan)) {
			ids = append(ids, string(r.carry[0]))
		}
		if diff := cmp.Diff([]string{"1", "3", "2", "4"}, ids); diff != "" {
			t.Error(diff)
		}
	})
}

func TestScanUnsupported(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		columns := map[string]string{"odd": "NUMERIC COLLATE NOCASE"}
		if e.name != "sqlite" {
			columns = map[string]string{"g": "GEOMETRY", "j": "JSON", "bl": "BLOB", "tx": "TEXT", "va": "VARCHAR(2000)", "vb": "VARBINARY(4000)"}
		}
		var definitions []string
		for name, typ := range columns {
			definitions = append(definitions, name+" "+typ)
		}
		slices.Sort(definitions)
		w.exec(t, "CREATE TABLE u ("+strings.Join(definitions, ", ")+")")
		s := w.open(t)
		for name := range columns {
			_, err := collect(s.Scan(t.Context(), by("u", name)))
			if u, ok := errors.AsType[*catalog.UnsupportedError](err); !ok || u.Table != "u" || u.Column != name || u.Reason == "" {
				t.Errorf("%s %s: got error %v", name, columns[name], err)
			}
		}
		if _, err := collect(s.Scan(t.Context(), by("u", "nosuch"))); err == nil {
			t.Error("a column that is not there was scanned")
		}
		if _, err := collect(s.Scan(t.Context(), by("nosuch", "v"))); err == nil {
			t.Error("a table that is not there was scanned")
		}
		if _, err := collect(s.Scan(t.Context(), catalog.Scan{Table: "u"})); err == nil {
			t.Error("no columns were scanned")
		}
	})
}

// SQLite stores any value in any column. What is not of the declared type is
// never compared.
func TestScanOtherStorageClass(t *testing.T) {
	t.Parallel()
	for column, value := range map[string]string{
		"id BLOB": "'0123456789'", "n INTEGER": "'x'", "n INT": "1.5", "n BIGINT": "x'01'", "s TEXT": "x'61'", "v VARBINARY(10)": "7",
	} {
		w := newSQLiteWorld(t)
		w.exec(t, "CREATE TABLE c ("+column+")", "INSERT INTO c VALUES ("+value+")")
		name, _, _ := strings.Cut(column, " ")
		_, err := collect(w.open(t).Scan(t.Context(), by("c", name)))
		if u, ok := errors.AsType[*catalog.UnsupportedError](err); !ok || u.Table != "c" || u.Column != name {
			t.Errorf("%s holding %s: got error %v", column, value, err)
		}
	}
}

func TestScanDates(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.db.SetMaxOpenConns(1) // for its settings
	w.exec(t, "CREATE TABLE a (d DATE PRIMARY KEY)", "CREATE TABLE b (d DATETIME(6) PRIMARY KEY)", "CREATE TABLE c (d TIMESTAMP PRIMARY KEY)",
		"SET time_zone = '+00:00'",
		"SET sql_mode = ''",
		"INSERT INTO a VALUES ('2024-02-29'), ('0000-00-00'), ('9999-12-31')",
		"INSERT INTO b VALUES ('2024-02-29 00:00:00'), ('2024-02-29 00:00:00.000001'), ('0999-12-31 23:59:59')",
		"INSERT INTO c VALUES ('2024-02-29 00:00:00')")
	s := w.open(t)
	got := make(map[string][]string)
	for _, table := range []string{"a", "b", "c"} {
		for _, r := range mustCollect(t, s.Scan(t.Context(), by(table, "d"))) {
			got[table] = append(got[table], string(r.order[0]))
			if fields, err := s.Row(t.Context(), table, []string{"d"}, r.order); err != nil || fields == nil {
				t.Errorf("%s is not found again: %v", r.order[0], err)
			}
		}
		if !slices.IsSorted(got[table]) {
			t.Errorf("%s is not sorted: %v", table, got[table])
		}
	}
	want := map[string][]string{
		"a": {"0000-00-00 00:00:00.000000", "2024-02-29 00:00:00.000000", "9999-12-31 00:00:00.000000"},
		"b": {"0999-12-31 23:59:59.000000", "2024-02-29 00:00:00.000000", "2024-02-29 00:00:00.000001"},
		"c": {"2024-02-29 00:00:00.000000"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What the server, the account or the DSN is set to does not change what is
// read. (A DSN that sets what every session needs otherwise is refused.)
func TestSessionSettings(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	fill(t, engines()[1], w, 100)
	separator := "?"
	if strings.Contains(w.dsn, "?") {
		separator = "&"
	}
	w.dsn += separator + "net_write_timeout=5&wait_timeout=5&max_join_size=1&max_sort_length=8"
	has, want := "@@max_execution_time, @@net_write_timeout, @@wait_timeout", "0 86400 86400"
	if servertest.OnMariaDB(t) {
		w.dsn += "&idle_readonly_transaction_timeout=30"
		has, want = "@@max_statement_time, @@idle_readonly_transaction_timeout, @@net_write_timeout, @@wait_timeout", "0.000000 0 86400 86400"
	}
	long := strings.Repeat("a", 100)
	w.exec(t, "CREATE TABLE s (n INT PRIMARY KEY, name VARCHAR(200))", "INSERT INTO s VALUES (1, '"+long+"c'), (2, '"+long+"a'), (3, '"+long+"b')")
	s := w.open(t)
	var limits string
	if err := s.conn.QueryRowContext(t.Context(), "SELECT CONCAT_WS(' ', "+has+")").Scan(&limits); err != nil {
		t.Fatal(err)
	}
	if limits != want {
		t.Errorf("a long check would be cut off: %s", limits)
	}
	if rows := mustCollect(t, s.Scan(t.Context(), by("many", "id"))); len(rows) != 100 {
		t.Errorf("got %d rows, want 100", len(rows))
	}
	scan := by("s", "name")
	scan.Carry = []string{"name"}
	rows := mustCollect(t, s.Scan(t.Context(), scan))
	for i, end := range []string{"a", "b", "c"} {
		if got := string(rows[i].carry[0]); got != long+end {
			t.Errorf("row %d ends in %s, want %s", i, got[100:], end)
		}
	}
}
