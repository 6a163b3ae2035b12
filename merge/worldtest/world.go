// Package worldtest has worlds on each kind of database, games with odd rows, and the steps of a merge over them, for tests.
package worldtest

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	_ "modernc.org/sqlite"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// Engine makes empty databases of one kind.
type Engine struct {
	Name  string
	Fresh func(t testing.TB, name string) world.Database
}

// Short is how many of n points a test looks at without -torture.long: a server takes about four times
// as long for each as SQLite.
func (e Engine) Short(n int64) int64 {
	if e.Name == "sqlite" {
		return max(1, n/3)
	}
	return max(1, n/6)
}

func SqliteIn(dir func(testing.TB) string) Engine {
	return Engine{"sqlite", func(t testing.TB, name string) world.Database {
		return world.Database{Name: name, DSN: "sqlite:" + filepath.Join(dir(t), name+".db")}
	}}
}

func Engines() []Engine {
	return []Engine{
		SqliteIn(func(t testing.TB) string { return t.(*testing.T).TempDir() }),
		{"mariadb", func(t testing.TB, name string) world.Database {
			return world.Database{Name: name, DSN: "mysql:" + servertest.DSN(t)}
		}},
	}
}

// EngineOn makes databases on a server of its own.
func EngineOn(server *servertest.Server) Engine {
	return Engine{"mariadb", func(t testing.TB, name string) world.Database {
		dsn, err := server.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return world.Database{Name: name, DSN: "mysql:" + dsn}
	}}
}

// OnEvery is [OnEach], and on MySQL too: a test that asks something of the server in which MySQL may differ.
func OnEvery(t *testing.T, test func(t *testing.T, e Engine)) {
	OnEach(t, test)
	t.Run(servertest.MySQL, func(t *testing.T) {
		servertest.Needs(t, servertest.MySQL)
		test(t, Engines()[1])
	})
}

// OnSQLite is the engine of a test that asks nothing of the server: a merge costs a fraction there. It runs beside others.
func OnSQLite(t *testing.T) Engine {
	t.Parallel()
	return Engines()[0]
}

// OnEachIfLong runs a test on SQLite, and if LONG is set on a server too: it has many merges, of which a server would do the
// same by the code that all engines share.
func OnEachIfLong(t *testing.T, test func(t *testing.T, e Engine)) {
	if *Long {
		OnEach(t, test)
		return
	}
	test(t, OnSQLite(t))
}

// OnEach runs a test on SQLite and on a server.
func OnEach(t *testing.T, test func(t *testing.T, e Engine)) {
	t.Parallel()
	for _, e := range Engines() {
		t.Run(e.Name, func(t *testing.T) { test(t, e) })
	}
}

// Pool opens a database to do with it as one likes.
func Pool(t testing.TB, d world.Database) *sql.DB {
	t.Helper()
	kind, rest, _ := strings.Cut(d.DSN, ":")
	if kind == "sqlite" {
		rest = "file:" + rest + "?_busy_timeout=5000&_journal_mode=WAL"
	}
	db, err := sql.Open(kind, rest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func Exec(t testing.TB, d world.Database, statements ...string) {
	t.Helper()
	db := Pool(t, d)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %.200s: %v", d.Name, s, err)
		}
	}
}

func Number(t testing.TB, d world.Database, query string) (n int64) {
	t.Helper()
	db := Pool(t, d)
	defer db.Close()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %s: %v", d.Name, query, err)
	}
	return n
}

// GameWorld makes a database of package store: a server with players that have
// items and guilds. The names begin with prefix.
func GameWorld(t testing.TB, e Engine, name string, server gameid.ServerID, players int, prefix string) world.Database {
	t.Helper()
	d := e.Fresh(t, name)
	ctx := context.Background()
	db, err := store.Open(ctx, d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := storetest.Create(ctx, db); err != nil {
		t.Fatal(err)
	}
	node, err := db.OpenNode(ctx, server, storetest.NodeOptions)
	if err != nil {
		t.Fatal(err)
	}
	ids, items, guilds := gameid.NewGenerator[entity.Player](node), gameid.NewGenerator[entity.Item](node), gameid.NewGenerator[entity.Guild](node)
	var err2 error
	must := func(err error) {
		if err != nil && err2 == nil {
			err2 = err
		}
	}
	now := entity.Time(time.Now())
	var heroes []entity.Player
	var loot []entity.Item
	for i := range players {
		id, err := ids.Next()
		must(err)
		heroes = append(heroes, entity.Player{ID: id, Account: fmt.Sprint("acc-", i), Name: fmt.Sprint(prefix, i), Level: 1, Gold: int64(i) + 1000*int64(server), CreatedAt: now.Add(time.Duration(server) * time.Hour), UpdatedAt: now})
		for j := range 3 {
			item, err := items.Next()
			must(err)
			loot = append(loot, entity.Item{ID: item, Owner: id, Template: int32(j + 1), Count: int64(i), CreatedAt: now})
		}
	}
	must(starter.Players.Insert(ctx, db, heroes...))
	must(starter.Items.Insert(ctx, db, loot...))
	for i := 0; i+3 < len(heroes); i += 10 {
		id, err := guilds.Next()
		must(err)
		must(starter.Guilds.Insert(ctx, db, entity.Guild{ID: id, Name: fmt.Sprint(name, " guild ", i), Leader: heroes[i].ID, FoundedAt: now}))
		must(starter.GuildMembers.Insert(ctx, db, entity.GuildMember{Player: heroes[i].ID, Guild: id, Rank: entity.Leader, JoinedAt: now}))
	}
	must(node.Close())
	if err2 != nil {
		t.Fatal(err2)
	}
	return d
}

// Dump is the whole of a database as text: how its tables are made, and their
// rows in the order of all their columns. ignore names tables.
func Dump(t testing.TB, d world.Database, ignore ...string) string {
	t.Helper()
	db := Pool(t, d)
	defer db.Close()
	mysql := strings.HasPrefix(d.DSN, "mysql:")
	query := "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
	if mysql {
		query = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME"
	}
	var b strings.Builder
	for _, row := range ReadCell(t, db, query) {
		table := row[0]
		if slices.Contains(ignore, table) {
			continue
		}
		create := "SELECT sql FROM sqlite_schema WHERE name = '" + table + "'"
		if mysql {
			create = "SHOW CREATE TABLE `" + strings.ReplaceAll(table, "`", "``") + "`"
		}
		for _, row := range ReadCell(t, db, create) {
			// MySQL tells a character set where it was said, although the collation implies it.
			fmt.Fprintln(&b, beginnings.ReplaceAllString(strings.ReplaceAll(fmt.Sprint(row), " CHARACTER SET utf8mb4", ""), "$1 BEGUN "))
		}
		var rows []string
		for _, row := range ReadCell(t, db, "SELECT * FROM `"+strings.ReplaceAll(table, "`", "``")+"`") {
			rows = append(rows, strings.Join(row, "|"))
			if table == record.RecordTable { // who filled the tables last is another one each time
				rows[len(rows)-1] = claims.ReplaceAllString(rows[len(rows)-1], "|CLAIM|{")
			}
		}
		slices.Sort(rows)
		fmt.Fprintf(&b, "%s\n", strings.Join(rows, "\n"))
	}
	return b.String()
}

// What is another text in every merge, or each time that a process works on one.
var (
	claims     = regexp.MustCompile(`\|([A-Z2-7]{26})?\|\{`)
	beginnings = regexp.MustCompile(`\b((?:merge|try) [0-9a-f]{32}) [A-Z2-7]{26} `)
)

// OpenWorld opens a database for reading until the test ends.
func OpenWorld(t testing.TB, d world.Database) *world.World {
	t.Helper()
	w, err := world.OpenWorld(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// Rows are the rows of an answer of a database, as texts.
func Rows(t testing.TB, d world.Database, query string) [][]string {
	t.Helper()
	db := Pool(t, d)
	defer db.Close()
	return ReadCell(t, db, query)
}

func ReadCell(t testing.TB, db *sql.DB, query string) (all [][]string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	for rows.Next() {
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		var row []string
		for _, v := range values {
			switch v := v.(type) {
			case []byte:
				if !utf8.Valid(v) || bytes.ContainsFunc(v, func(r rune) bool { return unicode.IsControl(r) && r != 0x0a }) {
					row = append(row, "x"+hex.EncodeToString(v))
				} else {
					row = append(row, string(v))
				}
			default:
				row = append(row, fmt.Sprintf("%v", v))
			}
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// PlanOf makes a plan of a merge into a database that is new.
func PlanOf(t testing.TB, e Engine, worlds []world.Database, opts planner.PlanOptions) (*plan.Plan, world.Database) {
	t.Helper()
	into := e.Fresh(t, "new")
	return MustPlan(t, into, worlds, opts), into
}

// MustPlan makes a plan in which small tables have ranges too.
func MustPlan(t testing.TB, into world.Database, worlds []world.Database, opts planner.PlanOptions) *plan.Plan {
	t.Helper()
	opts.RangeRows = cmp.Or(opts.RangeRows, 10)
	p := Planned(t, into, worlds, opts)
	if len(p.Refusals) > 0 {
		t.Fatalf("refused: %v", p.Refusals)
	}
	return p
}

// Planned makes a plan, which may be refused.
func Planned(t testing.TB, into world.Database, worlds []world.Database, opts planner.PlanOptions) *plan.Plan {
	t.Helper()
	p, err := planner.NewPlan(t.Context(), into, worlds, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Refuses makes sure that the plan is refused once, with a reason, and returns that.
func Refuses(t testing.TB, into world.Database, worlds []world.Database, opts planner.PlanOptions, want string) (reason string) {
	t.Helper()
	p := Planned(t, into, worlds, opts)
	if len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Reason, want) {
		t.Errorf("refused for %v, want %q", p.Refusals, want)
		return ""
	}
	return p.Refusals[0].Reason
}

// RefusedWith makes sure that a plan is refused, for this reason among others.
func RefusedWith(t testing.TB, p *plan.Plan, code, want string) {
	t.Helper()
	if !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.Code == code && strings.Contains(r.String(), want) }) {
		t.Errorf("refused for %v, want %s with %q", p.Refusals, code, want)
	}
}

// NoPlan makes sure that no plan can be made, with an error.
func NoPlan(t testing.TB, into world.Database, worlds []world.Database, opts planner.PlanOptions, want string) {
	t.Helper()
	if _, err := planner.NewPlan(t.Context(), into, worlds, opts); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// MergeOf plans a merge into a database that is new, and makes that.
func MergeOf(t testing.TB, e Engine, worlds []world.Database, opts planner.PlanOptions) (*plan.Plan, world.Database) {
	t.Helper()
	p, into := PlanOf(t, e, worlds, opts)
	MustApply(t, p, into, worlds)
	return p, into
}

// MustApply makes the new database of a plan.
func MustApply(t testing.TB, p *plan.Plan, into world.Database, worlds []world.Database) {
	t.Helper()
	if _, err := build.Apply(t.Context(), p, into, worlds, job.Options{}); err != nil {
		t.Fatal(err)
	}
}

// MustDrop undoes a merge whose new database is there.
func MustDrop(t testing.TB, p *plan.Plan, into world.Database, worlds []world.Database) {
	t.Helper()
	if undone, err := build.Undo(t.Context(), p, into, worlds, build.UndoOptions{}); err != nil || !undone.Dropped {
		t.Fatalf("%+v, %v", undone, err)
	}
}

// Clone makes a copy of a database that is not open.
func Clone(t testing.TB, e Engine, d world.Database) world.Database {
	t.Helper()
	to := e.Fresh(t, d.Name)
	Refill(t, d, to)
	return to
}

// Refill makes a database that is not open what another one is.
func Refill(t testing.TB, d, to world.Database) {
	t.Helper()
	if path, ok := strings.CutPrefix(d.DSN, "sqlite:"); ok {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(to.DSN, "sqlite:")
		for _, beside := range []string{"-wal", "-shm"} {
			os.Remove(path + beside)
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	from, into := Pool(t, d), Pool(t, to)
	defer from.Close()
	defer into.Close()
	into.SetMaxOpenConns(1)
	must := func(query string) {
		if _, err := into.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	const tables = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'"
	must("SET SESSION foreign_key_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
	name := ReadCell(t, from, "SELECT DATABASE()")[0][0]
	var there []string
	for _, row := range ReadCell(t, into, tables) {
		table := "`" + strings.ReplaceAll(row[0], "`", "``") + "`"
		if slices.Contains([]string{record.RecordTable, record.MergesTable, record.ProgressTable, record.RenamesTable, record.KeysTable}, row[0]) {
			must("DROP TABLE " + table)
			continue
		}
		must("DELETE FROM " + table)
		there = append(there, row[0])
	}
	for _, row := range ReadCell(t, from, tables) {
		table := "`" + strings.ReplaceAll(row[0], "`", "``") + "`"
		if !slices.Contains(there, row[0]) {
			must(ReadCell(t, from, "SHOW CREATE TABLE "+table)[0][1])
		}
		var columns []string
		for _, c := range ReadCell(t, from, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '"+row[0]+"' AND COALESCE(GENERATION_EXPRESSION, '') = '' ORDER BY ORDINAL_POSITION") {
			columns = append(columns, "`"+c[0]+"`")
		}
		list := strings.Join(columns, ", ")
		must("INSERT INTO " + table + " (" + list + ") SELECT " + list + " FROM `" + name + "`." + table)
	}
}

func RefillAll(t testing.TB, from, to []world.Database) {
	t.Helper()
	for i := range from {
		Refill(t, from[i], to[i])
	}
}

// There makes a database that is not there yet, empty.
func There(t testing.TB, d world.Database) world.Database {
	t.Helper()
	if path, ok := strings.CutPrefix(d.DSN, "sqlite:"); ok {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func Clones(t testing.TB, e Engine, all []world.Database) (copies []world.Database) {
	for _, d := range all {
		copies = append(copies, Clone(t, e, d))
	}
	return copies
}

// Steady is dump without what is another every time: the times in the registry, and
// how often its rows were changed, by fences too.
func Steady(t testing.TB, d world.Database) string {
	t.Helper()
	Exec(t, d, "UPDATE gameid_servers SET created_ms = 0, updated_ms = 0, lease_until_ms = 0", "UPDATE gameid_servers SET epoch = ((epoch >> 40) << 40) + 1 WHERE role = 'own'")
	return Dump(t, d)
}

func FixedClock() time.Time { return time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC) }

// RowsMade is a dump of what a merge into a new database made, without its record.
func RowsMade(t *testing.T, p *plan.Plan, d world.Database) string {
	t.Helper()
	if Number(t, d, hasRegistry(d)) > 0 {
		return SteadyRows(t, p, d)
	}
	return strings.ReplaceAll(Dump(t, d, record.KeysTable, record.RecordTable, record.ProgressTable, "sqlite_stat1", "sqlite_sequence"), p.ID, "ID")
}
