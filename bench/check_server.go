package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/servertest"
)

// nameSQL makes a name of the column x: some syllables and a number, all of them
// different.
const nameSQL = `CONCAT(ELT(1 + x % 16, 'Ar', 'Be', 'Cor', 'Dra', 'El', 'Fae', 'Gor', 'Hy', 'Il', 'Ka', 'Lo', 'Mor', 'Nu', 'Per', 'Sha', 'Zed'),
	ELT(1 + x DIV 16 % 8, 'an', 'bel', 'dor', 'eth', 'gal', 'ith', 'mir', 'wen'),
	ELT(1 + x DIV 128 % 8, 'a', 'bane', 'dil', 'kin', 'lor', 'ric', 'sha', 'us'), x DIV 1024)`

// Rows of the check on MariaDB and MySQL.
const (
	exactKeys      = "exact check of BINARY(10) keys"
	exactNames     = "exact check of names"
	exactComposite = "exact check of keys of two columns"
	undeclared     = "the rule for undeclared columns, 8 integers a row"
	memory20       = "memory, 20 sources"
	tables97       = "97 tables, nearly empty, 5 sources"
)

// scanned is a table whose keys are checked and, for comparison, scanned.
type scanned struct {
	check, create, fill string
	rows                int
	reference           func(*worlds) candidate
	least               float64 // the goal, a ratio to the reference
}

func keysTable(rows int, least float64, reference func(*worlds) candidate) scanned {
	return scanned{exactKeys, "CREATE TABLE t (id BINARY(10) PRIMARY KEY)",
		// As two worlds make them that run at the same time.
		"SELECT UNHEX(CONCAT(LPAD(HEX(1000000000 + seq * 2 + {world}), 11, '0'), LPAD(HEX({world}), 5, '0'), LPAD(HEX(seq % 65536), 4, '0'))) FROM {numbers} AS numbers",
		rows, reference, least}
}

func namesTable(rows int, collation string, least float64, reference func(*worlds) candidate) scanned {
	return scanned{exactNames, "CREATE TABLE t (name VARCHAR(24) COLLATE " + collation + " PRIMARY KEY)",
		"SELECT " + nameSQL + " AS name FROM (SELECT (seq * 2 + {world}) * 2654435761 % 4294967291 AS x FROM {numbers} AS numbers) AS hashes ORDER BY name",
		rows, reference, least}
}

// mariadbCheck starts a server of its own that has room for all rows in its
// memory: it is the check that is measured, not the disk.
func mariadbCheck(ctx context.Context, o options) ([]section, error) {
	asTheTools()
	return o.measureSection("Check before a merge on MariaDB",
		"Rows a second, of both databases together; the ratio is to counting the keys of one in the server, or to a scan of the driver that looks at nothing.",
		[]string{exactKeys, exactNames, exactComposite, undeclared, memory20, tables97}, func(m *measuring) {
			server := startServer(ctx, m, servertest.MariaDB, "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=2G", "--innodb-log-file-size=512M")
			numbers := func(n int) string { return fmt.Sprintf("seq_1_to_%d", n) }
			manyKeys := keysTable(o.checkRows, 0.5, func(w *worlds) candidate {
				return w.counted(ctx, "SELECT COUNT(*) of the keys", "SELECT COUNT(*) FROM t")
			})
			var filled *worlds
			if m.wants(exactKeys, memory20) {
				filled = manyKeys.filled(ctx, m, server, numbers)
				manyKeys.compare(ctx, m, filled)
			}
			for _, t := range []scanned{
				namesTable(o.checkRows/4, "utf8mb4_general_ci", 0.5, func(w *worlds) candidate {
					return w.bare(ctx, "bare ordered scan of the names", "SELECT name FROM t ORDER BY name")
				}),
				{exactComposite, "CREATE TABLE t (guid INT UNSIGNED, slot SMALLINT UNSIGNED, PRIMARY KEY (guid, slot))",
					"SELECT seq DIV 8 * 2 + {world}, seq % 8 FROM {numbers} AS numbers",
					o.checkRows / 4, func(w *worlds) candidate {
						return w.bare(ctx, "bare ordered scan of both columns", "SELECT guid, slot FROM t ORDER BY guid, slot")
					}, 0.5},
			} {
				if m.wants(t.check) {
					t.compare(ctx, m, t.filled(ctx, m, server, numbers))
				}
			}
			if m.wants(undeclared) {
				t := scanned{undeclared, "CREATE TABLE t (id INT PRIMARY KEY, owner INT, level INT, kind INT, map INT, x INT, y INT, gold INT)",
					"SELECT seq + {world} * 100000000, seq DIV 4 + {world} * 100000000, seq % 80, seq % 5000, seq % 700, seq % 9973, seq % 7919, seq * 7 FROM {numbers} AS numbers",
					o.checkRows / 4, nil, 0.5}
				w := t.filled(ctx, m, server, numbers)
				m.compare(ctx, pace{rounds: checkRounds}, true,
					w.bareAll(ctx, "bare ordered scans of both tables", "SELECT id, owner, level, kind, map, x, y, gold FROM t ORDER BY id"), w.undeclared(ctx, undeclared))
			}
			if m.wants(memory20) {
				memoryOfMany(ctx, m, memory20, filled)
			}
			if m.wants(tables97) {
				manyTables(ctx, m, server, tables97)
			}
		})
}

// mysqlCheck is what differs on MySQL: it counts on several threads, so that
// keys are compared with bare scans, and names are under its default collation.
func mysqlCheck(ctx context.Context, o options) ([]section, error) {
	asTheTools()
	return o.measureSection("Check before a merge on MySQL",
		"Rows a second, of both databases together; the ratio is to scans of the driver that look at nothing.",
		[]string{exactKeys, exactNames}, func(m *measuring) {
			server := startServer(ctx, m, servertest.MySQL, "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=2G", "--innodb-redo-log-capacity=1G",
				"--cte-max-recursion-depth=4294967295")
			for _, t := range []scanned{
				keysTable(o.checkRows/4, 0.8, func(w *worlds) candidate {
					return w.bareAll(ctx, "bare ordered scans of the keys of both", "SELECT id FROM t ORDER BY id")
				}),
				namesTable(o.checkRows/4, "utf8mb4_0900_ai_ci", 0.8, func(w *worlds) candidate {
					return w.bare(ctx, "bare ordered scan of the names of one", "SELECT name FROM t ORDER BY name")
				}),
			} {
				if m.wants(t.check) {
					t.compare(ctx, m, t.filled(ctx, m, server, func(n int) string {
						return fmt.Sprintf("(WITH RECURSIVE n (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < %d) SELECT seq FROM n)", n)
					}))
				}
			}
		})
}

// filled makes two databases with the table. numbers is a table of the whole
// numbers from 1 on, in a column seq.
func (t scanned) filled(ctx context.Context, m *measuring, on server, numbers func(n int) string) *worlds {
	m.log("filling 2 tables with %d rows", t.rows)
	return fillWorlds(ctx, m, on, 2, t.rows, func(world int) []string {
		return []string{t.create, "INSERT INTO t " + strings.NewReplacer("{world}", fmt.Sprint(world), "{numbers}", numbers(t.rows)).Replace(t.fill)}
	})
}

func (t scanned) compare(ctx context.Context, m *measuring, w *worlds) {
	m.compare(ctx, pace{rounds: checkRounds}, true, t.reference(w), w.checked(ctx, t.check, t.least))
}

// fillWorlds makes databases and runs the statements for each.
func fillWorlds(ctx context.Context, m *measuring, on server, n, rows int, statements func(world int) []string) *worlds {
	w := &worlds{rows: rows}
	for world := range n {
		dsn, err := on.Database(ctx)
		m.must(err)
		w.add(ctx, m, "mysql", dsn, statements(world+1)...)
	}
	return w
}

// memoryOfMany is the most memory of this process that was in use while it
// checked 20 sources: both databases ten times. Every key is then there ten
// times, which is more to keep in mind than there being none.
func memoryOfMany(ctx context.Context, m *measuring, name string, w *worlds) {
	m.log(name)
	var most uint64
	runtime.GC()
	stop := often(20*time.Millisecond, func() {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		most = max(most, stats.HeapInuse+stats.StackInuse)
	})
	got, err := check(ctx, slices.Repeat(w.dsns, 10))
	stop()
	m.must(err)
	if got.twice != int64(2*w.rows) {
		m.must(&wrong{fmt.Sprintf("a check found %d keys more than once, want %d", got.twice, 2*w.rows)})
	}
	m.add(row{what: name, note: fmt.Sprintf("20 × %d rows, every key ten times", w.rows)}.memory(most, 100<<20))
}

func manyTables(ctx context.Context, m *measuring, on server, name string) {
	m.log(name)
	const tables, sources, rows = 97, 5, 3
	w := fillWorlds(ctx, m, on, sources, tables*rows, func(world int) (all []string) {
		for i := range tables {
			all = append(all,
				fmt.Sprintf("CREATE TABLE t%d (id INT AUTO_INCREMENT PRIMARY KEY, owner INT, name VARCHAR(20) UNIQUE, note VARCHAR(200), KEY (owner))", i),
				fmt.Sprintf("INSERT INTO t%d SELECT seq * %d + %d, seq, CONCAT('n', seq * %[2]d + %[3]d), '' FROM seq_1_to_%d", i, sources, world, rows))
		}
		return all
	})
	got, err := check(ctx, w.dsns)
	m.must(err)
	m.must(got.clean(sources * tables * rows))
	whole := got.whole.Seconds()
	m.add(row{what: name, measured: fmt.Sprintf("%.2f s", whole), note: "the whole check, schemas included"}.atMost(whole, 3, "%.0f s"))
}
