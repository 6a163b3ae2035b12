package gameworlds

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
)

func madeUp(t *testing.T) *Schema {
	t.Helper()
	s, err := Load("testdata/made_up.sql", "testdata/made_up.refs")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// small is a tenth of a typical world.
func small(seed uint64) Options {
	o := Typical(seed)
	o.Characters, o.Items = o.Characters/10, o.Items/10
	return o
}

func fill(t *testing.T, s *Schema, o Options) (*sql.DB, *World) {
	t.Helper()
	db, err := sql.Open("mysql", servertest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w, err := s.Fill(t.Context(), db, sqldb.MySQL, o)
	if err != nil {
		t.Fatal(err)
	}
	return db, w
}

func count(t *testing.T, db *sql.DB, query string, args ...any) (n int64) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestSplit(t *testing.T) {
	got := split("-- a; b\nA 'x;''\\';' ; # c;\n/*!40101 SET x */;\nB `;`;\nDELIMITER //\nC; D//\nDELIMITER ;\nE -- f")
	if diff := cmp.Diff([]string{`A 'x;''\';'`, "B `;`", "C; D", "E"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPopulation(t *testing.T) {
	for _, c := range []struct {
		deleted float64
		block   int
	}{{0, 0}, {0.02, 0}, {0.13, 0}, {0.5, 0}, {0.5, 150}} {
		p := newPopulation(random(1, "test"), 2000, c.deleted, c.block)
		if len(p.alive) != 2000 || !slices.IsSorted(p.alive) || p.alive[0] < 1 {
			t.Errorf("%+v: %d alive", c, len(p.alive))
		}
		n := int64(math.Round(2000 / (1 - c.deleted)))
		if p.alive[1999] > n {
			t.Errorf("%+v: counts to %d, beyond %d", c, p.alive[1999], n)
		}
		gone, runs, before := int64(0), 0, int64(0)
		for _, key := range append(p.alive, n+1) {
			if gap := key - before - 1; gap > 0 {
				gone, runs = gone+gap, runs+1
			}
			before = key
		}
		if want := n - 2000; gone != want {
			t.Errorf("%+v: %d keys are gone, want %d", c, gone, want)
		}
		if c.block > 0 && int64(runs) > gone/50 {
			t.Errorf("%+v: %d runs of gaps for %d keys", c, runs, gone)
		}
		for _, d := range p.dead {
			if _, found := slices.BinarySearch(p.alive, d); found {
				t.Fatalf("%+v: %d is dead and alive", c, d)
			}
		}
	}
}

// dangling returns how many values of a reference name nothing, of how many that could name something.
func dangling(t *testing.T, db *sql.DB, c Column, m Meaning) (lost, all int64) {
	t.Helper()
	where := []string{sqldb.MySQL.Quote(c.Name) + " IS NOT NULL"}
	for _, r := range m.None {
		if r.Max == math.MaxInt64 { // and above, in a column without a sign
			where = append(where, fmt.Sprintf("NOT %s >= %d", sqldb.MySQL.Quote(c.Name), r.Min))
			continue
		}
		where = append(where, fmt.Sprintf("NOT %s BETWEEN %d AND %d", sqldb.MySQL.Quote(c.Name), r.Min, r.Max))
	}
	if m.When != nil {
		where = append(where, fmt.Sprintf("%s IN ('%s')", sqldb.MySQL.Quote(m.When.Column), strings.Join(m.When.Is, "','")))
	}
	from := "SELECT COUNT(*) FROM " + sqldb.MySQL.Quote(c.Table) + " t WHERE " + strings.Join(where, " AND ")
	all = count(t, db, from)
	lost = count(t, db, fmt.Sprintf("%s AND NOT EXISTS (SELECT 1 FROM %s o WHERE o.%s = t.%s)", from, sqldb.MySQL.Quote(m.To[0].Table), sqldb.MySQL.Quote(m.To[0].Name), sqldb.MySQL.Quote(c.Name)))
	return lost, all
}

// allDangling sums dangling over all references of a schema, without foreign keys and references to the game's own data: there none may dangle.
func allDangling(t *testing.T, s *Schema, db *sql.DB) (lost, all int64) {
	t.Helper()
	declared := make(map[string]bool)
	rows, err := db.QueryContext(t.Context(), catalogs[sqldb.MySQL].foreign)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		declared[table+"."+column] = true
	}
	for c, meanings := range s.Refs.Columns {
		for _, m := range meanings {
			if m.Kind != Reference {
				continue
			}
			l, n := dangling(t, db, c, m)
			natural := slices.ContainsFunc(s.Refs.Columns[m.To[0]], func(m Meaning) bool { return m.Kind == Natural })
			switch {
			case n == 0 && m.When == nil:
				t.Errorf("%s names nothing in any row", c)
			case (declared[c.String()] || natural) && l > 0:
				t.Errorf("%d of %d values of %s lead nowhere", l, n, c)
			case !declared[c.String()] && !natural:
				lost, all = lost+l, all+n
			}
		}
	}
	return lost, all
}

func TestWorld(t *testing.T) {
	s := madeUp(t)
	o := small(1)
	db, w := fill(t, s, o)
	if got := count(t, db, "SELECT COUNT(*) FROM sailors"); got != 200 || w.Rows["sailors"] != 200 {
		t.Errorf("%d sailors, %d reported", got, w.Rows["sailors"])
	}
	if got := count(t, db, "SELECT COUNT(*) FROM crates"); got != 2000 {
		t.Errorf("%d crates", got)
	}
	if got := count(t, db, "SELECT COUNT(*) FROM crews"); got != 10 {
		t.Errorf("%d crews", got)
	}
	if got := count(t, db, "SELECT MAX(id) FROM sailors"); got < 250 || got > 300 {
		t.Errorf("200 sailors, of 300 keys, count to %d", got)
	}
	if got := count(t, db, "SELECT COUNT(*) FROM crates JOIN ships ON crate = ship_id"); got != 0 {
		t.Errorf("%d keys of one counter were handed out twice", got)
	}
	if got := count(t, db, "SELECT COUNT(*) FROM settings"); got != 2 {
		t.Errorf("%d settings: the schema's own rows stay, and no trigger may add to them", got)
	}
	if got := count(t, db, "SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE()"); got != 1 {
		t.Errorf("%d triggers", got)
	}
	if got := count(t, db, "SELECT COUNT(*) FROM sailors WHERE ship = 0"); got == 0 || got == 200 {
		t.Errorf("%d of 200 sailors are ashore", got)
	}
	if got := count(t, db, "SELECT COUNT(DISTINCT kind) FROM letters"); got != 4 {
		t.Errorf("%d kinds of letters", got)
	}
	if got := count(t, db, "SELECT COUNT(*) FROM crates WHERE stamp <> 0 AND stamp < 1 << 32"); got != 0 {
		t.Errorf("%d stamps are plain keys", got)
	}
	// The best known sailor owns far more than the average.
	owned := "FROM (SELECT COUNT(*) n FROM crates WHERE owner <> 0 GROUP BY owner) x"
	if most, average := count(t, db, "SELECT MAX(n) "+owned), count(t, db, "SELECT CAST(AVG(n) AS SIGNED) "+owned); most < 4*average {
		t.Errorf("the best known sailor owns %d crates, the average one %d", most, average)
	}
	for table, n := range w.Rows {
		if n < 2 && table != "settings" {
			t.Errorf("%d rows of %s", n, table)
		}
	}
}

func TestDangling(t *testing.T) {
	s := madeUp(t)
	for _, share := range []float64{0, 0.02, 0.35} {
		o := small(2)
		o.Dangling = share
		db, _ := fill(t, s, o)
		lost, all := allDangling(t, s, db)
		if got := float64(lost) / float64(all); math.Abs(got-share) > share/4 {
			t.Errorf("%.3f of %d references dangle, want %.2f", got, all, share)
		}
	}
	o := small(2)
	o.Deleted, o.Dangling = 0, 0.1 // no key is gone: what dangles lies above all
	db, _ := fill(t, s, o)
	if lost, all := allDangling(t, s, db); lost < all/20 {
		t.Errorf("%d of %d references dangle", lost, all)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM sailors"); count(t, db, "SELECT MAX(id) FROM sailors") != n {
		t.Errorf("%d sailors have gaps", n)
	}
}

// dump returns the rows of a table as text, sorted.
func dump(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		values := make([]sql.RawBytes, len(names))
		targets := make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%q", values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// The same options make the same rows, another seed another world, and the game's own data are the same in all.
func TestSame(t *testing.T) {
	s := madeUp(t)
	first, w := fill(t, s, small(3))
	again, _ := fill(t, s, small(3))
	other, _ := fill(t, s, small(4))
	for table := range w.Rows {
		data := table == "ports" || table == "settings"
		rows := dump(t, first, table)
		if rows != dump(t, again, table) {
			t.Errorf("%s differs between two worlds of one seed", table)
		}
		if same := rows == dump(t, other, table); same != data {
			t.Errorf("%s in two worlds of different seeds is the same: %v, want %v", table, same, data)
		}
	}
}

// An offset changes keys and what names them, and nothing else; what was forgotten keeps its numbers.
func TestOffset(t *testing.T) {
	s := madeUp(t)
	o := small(5)
	o.Dangling = 0
	base, _ := fill(t, s, o)
	o.Offset = 1_000_000
	shifted, w := fill(t, s, o)
	if lost, _ := allDangling(t, s, shifted); lost != 0 || len(w.Forgotten) != 0 {
		t.Errorf("%d references dangle after a shift, forgotten %v", lost, w.Forgotten)
	}
	sum := func(db *sql.DB, c Column) int64 {
		return count(t, db, fmt.Sprintf("SELECT CAST(COALESCE(SUM(%s), 0) AS SIGNED) FROM %s", sqldb.MySQL.Quote(c.Name), sqldb.MySQL.Quote(c.Table)))
	}
	moved := func(c Column) bool {
		return (sum(shifted, c)-sum(base, c))%o.Offset == 0 && sum(shifted, c) != sum(base, c)
	}
	for _, c := range []Column{{"sailors", "id"}, {"sailors", "ship"}, {"sailors", "mentor"}, {"crates", "crate"}, {"letters", "sender"}, {"signatures", "deed"}, {"voyages", "convoy"}, {"berths", "ship"}} {
		if !moved(c) {
			t.Errorf("%s was not shifted", c)
		}
	}
	for _, c := range []Column{{"sailors", "account"}, {"sailors", "home"}, {"sailors", "level"}, {"sailors", "coins"}, {"crates", "goods"}, {"voyages", "left_at"}, {"sailor_skills", "skill"}} {
		if sum(shifted, c) != sum(base, c) {
			t.Errorf("%s was changed", c)
		}
	}

	o.Forget = 1. / 3
	partly, w := fill(t, s, o)
	if n := len(w.Forgotten); n < 5 || n > 7 {
		t.Errorf("%d columns forgotten: %v", n, w.Forgotten)
	}
	for c, meanings := range s.Refs.Columns {
		if meanings[0].Kind != Reference || len(meanings) > 1 || meanings[0].To[0].Table == "ports" {
			continue
		}
		lowest := count(t, partly, fmt.Sprintf("SELECT MAX(%s) FROM %s", sqldb.MySQL.Quote(c.Name), sqldb.MySQL.Quote(c.Table)))
		if forgotten := slices.Contains(w.Forgotten, c); forgotten != (lowest < o.Offset) {
			t.Errorf("%s reaches %d, forgotten %v", c, lowest, forgotten)
		}
	}
}

func TestFillNamesWhatIsWrong(t *testing.T) {
	list, err := os.ReadFile("testdata/made_up.refs")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"table settings", "", "table \"settings\" is not in the list"},
		{"table settings", "table settings\ntable nowhere", "table \"nowhere\" is in the list and not in the schema"},
		{"berth natural", "quay natural", "table \"berths\" has no column \"quay\""},
		{"buyer ref sailors.id", "buyer ref sailors.number", "sailors.number is referred to, and the list does not say what it is"},
		{"buyer ref sailors.id", "buyer ref sailors.level", "sailors.level is referred to, and the list does not say what it is"},
		{"when kind = 1", "when sort = 1", "table \"letters\" has no column \"sort\""},
	} {
		s := madeUp(t)
		if s.Refs, err = ReadRefs(strings.NewReader(strings.Replace(string(list), c.old, c.new, 1))); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("mysql", servertest.DSN(t))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := s.Fill(t.Context(), db, sqldb.MySQL, small(1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q instead of %q: %v, want %q", c.new, c.old, err, c.want)
		}
	}
}

// The public schemas are not in this repository: MERGESAFE_SCHEMAS names their folder.
func TestPublicSchemas(t *testing.T) {
	folder := os.Getenv(EnvSchemas)
	if folder == "" {
		t.Skipf("NOT TESTED: the public schemas. %s names no folder that has them", EnvSchemas)
	}
	servertest.OnlyMariaDB(t, "the schemas have names that are words of MySQL's language")
	paths, err := filepath.Glob(filepath.Join(lists, "*.refs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".refs")
		t.Run(name, func(t *testing.T) {
			s, err := Load(filepath.Join(folder, name+".sql"), path)
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("NOT TESTED: ", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			s.Engine = "InnoDB"
			hard := small(2)
			hard.Block, hard.Dangling, hard.Offset, hard.Forget = 150, 0.35, 10_000_000, 1./3
			if _, w := fill(t, s, hard); len(w.Forgotten) == 0 {
				t.Error("nothing was forgotten")
			}

			start := time.Now()
			db, w := fill(t, s, Typical(1))
			total := 0
			for _, n := range w.Rows {
				total += n
			}
			t.Logf("%d rows in %v", total, time.Since(start).Round(time.Millisecond))
			lost, all := allDangling(t, s, db)
			if got := float64(lost) / float64(all); math.Abs(got-0.02) > 0.005 {
				t.Errorf("%.4f of %d references dangle", got, all)
			}
			least := map[string]int{"characters": 2000, "items": 20_000, "guilds": 100}
			switch {
			case strings.HasSuffix(name, "_auth"): // accounts are its characters
				least = map[string]int{"characters": 2000}
			case name == "canary": // the key of its items has room for no more
				least["items"] = 16_000
			}
			for size, atLeast := range least {
				if n := w.Rows[s.Refs.Sizes[size]]; n < atLeast {
					t.Errorf("%d %s", n, size)
				}
			}
		})
	}
}
