package world

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
)

// typeCase is a type of column and how to make values for it, as literals of
// SQL, some of them often.
type typeCase struct {
	declared string
	value    func(r *rand.Rand) string

	// order is how the database compares two columns; "" for their own
	// comparison. equality tells that only that is compared: the sorting form
	// has an order of its own.
	order    func(column string) string
	equality bool
}

// of makes values by picking one from a list.
func of(literals ...string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return literals[r.IntN(len(literals))] }
}

// either makes values in several ways.
func either(ways ...func(*rand.Rand) string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return ways[r.IntN(len(ways))](r) }
}

func hexBytes(most int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = []byte{0, 1, 0x20, 0x27, 0x5c, 0x7f, 0x80, 0xff}[r.IntN(8)]
		}
		return fmt.Sprintf("x'%x'", b)
	}
}

func aFloat(r *rand.Rand) string {
	return fmt.Sprintf("%s%d.%de%d", []string{"", "-"}[r.IntN(2)], r.IntN(10), r.IntN(1000), r.IntN(40)-20)
}

func aDecimal(whole, fraction int) func(*rand.Rand) string {
	digits := func(r *rand.Rand, n int) string {
		var b strings.Builder
		for range r.IntN(n + 1) {
			b.WriteByte("000123459"[r.IntN(9)])
		}
		return b.String()
	}
	return func(r *rand.Rand) string {
		return []string{"", "-"}[r.IntN(2)] + "0" + digits(r, whole) + "." + digits(r, fraction) + "0"
	}
}

func aTime(r *rand.Rand) string {
	return fmt.Sprintf("'%s%02d:%02d:%02d.%d'", []string{"", "-"}[r.IntN(2)], r.IntN(839), r.IntN(60), r.IntN(60), r.IntN(1000))
}

func aDate(r *rand.Rand) string {
	return fmt.Sprintf("'%04d-%02d-%02d %02d:%02d:%02d.%d'", 1971+r.IntN(60), r.IntN(12)+1, r.IntN(28)+1, r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000))
}

func aUUID(r *rand.Rand) string {
	h := fmt.Sprintf("%016x%016x", r.Uint64()&0xff0000000000ffff, r.Uint64()|1<<63)
	version := "01456789"[r.IntN(8)]
	return "'" + h[:8] + "-" + h[8:12] + "-" + string(version) + h[13:16] + "-" + h[16:20] + "-" + h[20:] + "'"
}

// mariadbOnly are types that MySQL does not have.
var mariadbOnly = []string{"UUID", "INET6", "INET4"}

func mariadbTypes() []typeCase {
	number := func(column string) string { return column + " + 0" }
	var members []string
	for i := range 64 {
		members = append(members, fmt.Sprintf("'%c%d'", "zaM"[i%3], i))
	}
	aSet := func(r *rand.Rand) string { return fmt.Sprint(r.Uint64() >> r.IntN(64)) }
	return []typeCase{
		{declared: "TINYINT", value: of("-128", "-1", "0", "1", "127")},
		{declared: "BIGINT", value: of("-9223372036854775808", "-9223372036854775807", "-1", "0", "1", "255", "256", "9223372036854775807")},
		{declared: "BIGINT UNSIGNED", value: of("0", "1", "9223372036854775807", "9223372036854775808", "18446744073709551615")},
		{declared: "FLOAT", value: either(aFloat, of("0", "-0e0", "0.1", "0.10000001", "16777216", "16777217", "3.4028234e38", "-3.4e38", "1.4e-45"))},
		{declared: "DOUBLE", value: either(aFloat, of("0", "-0e0", "0.1", "0.30000000000000004", "0.3", "1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "9007199254740993"))},
		{declared: "FLOAT(7,3)", value: either(aDecimal(4, 3), of("0.1", "9999.999", "-9999.999", "1234.567"))},
		{declared: "DOUBLE(20,2)", value: either(aDecimal(15, 2), of("0.01", "123456789012345678.9", "123456789012345.67", "123456789012345.68"))},
		{declared: "DECIMAL(10,2)", value: either(aDecimal(8, 2), of("0", "-0.01", "0.01", "99999999.99", "-99999999.99"))},
		{declared: "DECIMAL(65,30)", value: either(aDecimal(35, 30), aDecimal(3, 30), aDecimal(35, 0), of("1", "1.0", "-1", "0.1"))},
		{declared: "DECIMAL(65,0)", value: either(aDecimal(65, 0), of("0", "-1", "1"))},
		{declared: "DECIMAL(20,5) UNSIGNED ZEROFILL", value: either(aDecimalUnsigned, of("0", "1", "1.10", "0.00001"))},
		{declared: "ENUM('b','a','C','ä','') COLLATE utf8mb4_general_ci", value: of("'b'", "'a'", "'C'", "'ä'", "''", "'none of them'"), equality: true},
		{declared: "SET('b','a','C')", value: of("''", "'b'", "'a'", "'C,b'", "'a,b'", "'a,b,C'", "'none'"), order: number},
		{declared: "SET(" + strings.Join(members, ",") + ")", value: aSet, order: number},
		{declared: "BIT(1)", value: of("0", "1")},
		{declared: "BIT(9)", value: of("0", "1", "255", "256", "511")},
		{declared: "BIT(64)", value: either(aSet, of("0", "18446744073709551615", "9223372036854775808"))},
		{declared: "UUID", value: either(aUUID, of("'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "'01234567-89ab-1def-8123-456789abcdef'")), equality: true},
		{declared: "INET6", value: of("'::'", "'::1'", "'1::'", "'ffff::ffff'", "'::ffff:1.2.3.4'", "'2001:db8::8:800:200c:417a'"), equality: true},
		{declared: "INET4", value: of("'0.0.0.0'", "'1.2.3.4'", "'10.0.0.1'", "'9.0.0.1'", "'255.255.255.255'"), equality: true},
		{declared: "TIME", value: either(aTime, of("'00:00:00'", "'-00:00:00'", "'838:59:59'", "'-838:59:59'"))},
		{declared: "TIME(6)", value: either(aTime, of("'00:00:00.000001'", "'-00:00:00.000001'", "'838:59:59'"))},
		{declared: "YEAR", value: of("0", "1901", "1970", "2155")},
		{declared: "DATE", value: either(aDate, of("'0000-00-00'", "'2024-00-00'", "'2024-02-00'", "'9999-12-31'", "'0001-01-01'"))},
		{declared: "DATETIME", value: either(aDate, of("'0000-00-00 00:00:00'", "'2024-00-00 10:00:00'", "'9999-12-31 23:59:59'"))},
		{declared: "DATETIME(6)", value: either(aDate, of("'0000-00-00 00:00:00'", "'2024-00-00 10:00:00.5'", "'2024-00-00 10:00:00.500001'"))},
		{declared: "TIMESTAMP(3) NULL", value: either(aDate, of("0", "'1970-01-01 00:00:01'", "'2038-01-19 03:14:07.999'"))},
		{declared: "BINARY(5)", value: hexBytes(5)},
		{declared: "VARBINARY(6)", value: hexBytes(6)},
		{declared: "TINYBLOB", value: hexBytes(6)},
	}
}

func aDecimalUnsigned(r *rand.Rand) string {
	return strings.TrimPrefix(aDecimal(15, 5)(r), "-")
}

func sqliteTypes() []typeCase {
	text := of("''", "'a'", "'A'", "'b'", "'1'", "'1.0'", "'1e0'", "'2024-02-29 10:00:00'", "'2024-02-29T10:00:00Z'", "char(0xe9)", "char(0xffff)", "char(0x1f600)", "'a '", "CAST(x'ff41' AS TEXT)", "CAST(x'c3' AS TEXT)")
	integers := of("0", "1", "-1", "9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854774784")
	reals := either(aFloat, of("0.0", "-0.0", "1.0", "0.1", "9007199254740992.0", "9223372036854775808.0", "-9223372036854775808.0", "1e999", "-1e999", "9223372036854774784.0"))
	all := either(text, integers, reals, hexBytes(3))
	return []typeCase{
		{declared: "INTEGER", value: integers},
		{declared: "UNSIGNED BIG INT", value: integers},
		{declared: "REAL", value: either(integers, reals)},
		{declared: "DOUBLE PRECISION", value: reals},
		{declared: "TEXT", value: text},
		{declared: "VARBINARY(3)", value: hexBytes(3)},
		{declared: "", value: all},
		{declared: "NUMERIC", value: all},
		{declared: "DECIMAL(10,2)", value: all},
		{declared: "BOOLEAN", value: of("0", "1", "TRUE")},
		{declared: "DATETIME", value: all},
		{declared: "DATETIME(3)", value: all},
		{declared: "TIMESTAMP", value: either(text, integers)},
		{declared: "DATE", value: text},
		{declared: "JSON", value: all},
	}
}

// Of every type that can be a key, the bytes of two values compare as the
// database compares the values, and a row is found again by what was carried.
func TestTypesCompareAsTheDatabaseDoes(t *testing.T) {
	t.Parallel()
	types := map[string][]typeCase{"sqlite": sqliteTypes(), "mariadb": mariadbTypes()}
	forEach(t, func(t *testing.T, e engine, w *world) {
		w.db.SetMaxOpenConns(1)
		if e.name == "mariadb" {
			w.exec(t, "SET sql_mode = '', time_zone = '+00:00'")
		}
		for i, tt := range types[e.name] {
			t.Run(strings.ReplaceAll(tt.declared, " ", "_"), func(t *testing.T) {
				if slices.Contains(mariadbOnly, tt.declared) {
					servertest.OnlyMariaDB(t, "a type of its own")
				}
				compareType(t, w, fmt.Sprint("t", i), tt)
			})
		}
	})
}

func compareType(t *testing.T, w *world, table string, tt typeCase) {
	const n = 80
	r := rand.New(rand.NewPCG(1, 2))
	w.exec(t, "CREATE TABLE "+table+" (id INTEGER PRIMARY KEY, v "+tt.declared+")", "INSERT INTO "+table+" (id) VALUES (0)")
	for i := range n {
		w.exec(t, fmt.Sprintf("INSERT INTO %s VALUES (%d, %s)", table, i+1, tt.value(r)))
	}
	s := w.open(t)
	scan := by(table, "v")
	scan.Carry, scan.SkipNull = []string{"id", "v"}, true
	rows := mustCollect(t, s.Scan(t.Context(), scan))
	forms := make(map[string][]byte)
	for i, row := range rows {
		forms[string(row.carry[0])] = row.order[0]
		if i > 0 && bytes.Compare(rows[i-1].order[0], row.order[0]) > 0 {
			t.Fatalf("row %d is out of order: %x after %x", i, row.order[0], rows[i-1].order[0])
		}
		fields, err := s.Row(t.Context(), table, []string{"v", "id"}, [][]byte{row.carry[1], row.carry[0]})
		if err != nil || fields == nil || fields[0].Value != string(row.carry[0]) {
			t.Fatalf("the row with %q is not found again: %v, %v", row.carry[1], fields, err)
		}
	}
	if len(rows) != n {
		t.Fatalf("got %d rows, want the %d without NULL", len(rows), n)
	}
	order := func(column string) string { return column }
	if tt.order != nil {
		order = tt.order
	}
	compare := fmt.Sprintf("(%s > %s) - (%[1]s < %s)", order("x.v"), order("y.v"), order("y.v"))
	if tt.equality {
		compare = "x.v <> y.v"
	}
	equal := 0
	for _, pair := range w.query(t, "SELECT x.id, y.id, "+compare+", CAST(x.v AS CHAR), CAST(y.v AS CHAR) FROM "+table+" AS x JOIN "+table+" AS y ON x.id <> y.id WHERE x.v IS NOT NULL AND y.v IS NOT NULL") {
		want := int(pair[2].(int64))
		got := bytes.Compare(forms[fmt.Sprint(pair[0])], forms[fmt.Sprint(pair[1])])
		if tt.equality {
			got *= got
		}
		if got != want {
			t.Fatalf("%s and %s compare %d, want %d: %x and %x", pair[3], pair[4], got, want, forms[fmt.Sprint(pair[0])], forms[fmt.Sprint(pair[1])])
		}
		if want == 0 {
			equal++
		}
	}
	if equal == 0 {
		t.Error("no two values are equal")
	}
}

// A row of every type is shown in full, and NULL as such.
func TestTypesAreShown(t *testing.T) {
	t.Parallel()
	w := newMariaDBWorld(t)
	declared, values := "", ""
	want := `f=0.5 d=-1e300 de=1.5000000000 e=y s=x,y b=513 ti=-01:02:03.004 y=2024 j={"a": 1}`
	if servertest.OnMariaDB(t) {
		declared, values = ", u UUID, i INET6", ", '01234567-89ab-1def-8123-456789abcdef', '::1'"
		want += " u=01234567-89ab-1def-8123-456789abcdef i=::1"
	}
	w.exec(t, "CREATE TABLE t (f FLOAT, d DOUBLE, de DECIMAL(30,10), e ENUM('x','y'), s SET('x','y'), b BIT(10), ti TIME(3), y YEAR, j JSON"+declared+")",
		`INSERT INTO t VALUES (0.5, -1e300, 1.5, 'y', 'y,x', 513, '-01:02:03.004', 2024, '{"a": 1}'`+values+`)`)
	fields, err := w.open(t).Row(t.Context(), "t", []string{"f"}, [][]byte{[]byte("0.5")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fields {
		got = append(got, f.Column+"="+f.Value)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

// Values that mean something by their very type alone are of no kind that
// would let them be held against those of another type.
func TestTypesAlone(t *testing.T) {
	t.Parallel()
	w := newMariaDBWorld(t)
	declared := ""
	if servertest.OnMariaDB(t) {
		declared = ", u UUID, i INET6"
	}
	w.exec(t, "CREATE TABLE t (s SET('a','b'), e ENUM('a','b'), b BIT(3), n INT"+declared+")")
	c, err := w.open(t).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]catalog.Kind{"e": catalog.KindText, "b": catalog.KindInteger, "n": catalog.KindInteger}
	for _, column := range c.Tables[0].Columns {
		if column.Kind != want[column.Name] {
			t.Errorf("%s is of kind %q, want %q", column.Name, column.Kind, want[column.Name])
		}
	}
}

// Rows of a partitioned table come in one order, and generated columns can be
// keys like others.
func TestPartitionsAndGeneratedColumns(t *testing.T) {
	t.Parallel()
	w := newMariaDBWorld(t)
	w.exec(t, "CREATE TABLE p (id INT PRIMARY KEY, v VARCHAR(9)) PARTITION BY HASH (id) PARTITIONS 4",
		"INSERT INTO p SELECT seq * 7 % 101, seq FROM "+servertest.Seq(0, 100),
		"CREATE TABLE g (id INT PRIMARY KEY, name VARCHAR(9), folded VARCHAR(9) AS (LOWER(name)) STORED UNIQUE, twice INT AS (id * 2) VIRTUAL UNIQUE)",
		"INSERT INTO g (id, name) VALUES (2, 'A'), (1, 'b')")
	s := w.open(t)
	for i, r := range mustCollect(t, s.Scan(t.Context(), by("p", "id"))) {
		if got := decode(t, r.order[0]); got != fmt.Sprint(i) {
			t.Fatalf("row %d is %s", i, got)
		}
	}
	for column, want := range map[string]string{"folded": "21", "twice": "12"} {
		scan, got := by("g", column), ""
		scan.Carry = []string{"id"}
		for _, r := range mustCollect(t, s.Scan(t.Context(), scan)) {
			got += string(r.carry[0])
		}
		if got != want {
			t.Errorf("by %s: got %s, want %s", column, got, want)
		}
	}
}
