package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// nameSQL makes a name of the column x: some syllables and a number, all of them
// different.
const nameSQL = `CONCAT(ELT(1 + x % 16, 'Ar', 'Be', 'Cor', 'Dra', 'El', 'Fae', 'Gor', 'Hy', 'Il', 'Ka', 'Lo', 'Mor', 'Nu', 'Per', 'Sha', 'Zed'),
	ELT(1 + x DIV 16 % 8, 'an', 'bel', 'dor', 'eth', 'gal', 'ith', 'mir', 'wen'),
	ELT(1 + x DIV 128 % 8, 'a', 'bane', 'dil', 'kin', 'lor', 'ric', 'sha', 'us'), x DIV 1024)`

// mariadbCheck starts a server of its own that has room for all rows in its
// memory: it is the check that is measured, not the disk.
func mariadbCheck(ctx context.Context, o options) ([]section, error) {
	const (
		keys      = "exact check of BINARY(10) keys"
		names     = "exact check of names"
		composite = "exact check of keys of two columns"
		memory    = "memory, 20 sources"
		tables    = "97 tables, nearly empty, 5 sources"
	)
	return o.measureSection("Check before a merge on MariaDB",
		"Rows a second, of both databases together; the ratio is to counting the keys of one in the server, or to a scan of the driver that looks at nothing.",
		[]string{keys, names, composite, memory, tables}, func(m *measuring) {
			server := startMariaDB(ctx, m, "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=2G", "--innodb-log-file-size=512M")
			var manyKeys *worlds
			for _, kind := range []struct {
				check, create, fill string
				rows                int
				reference, query    string
			}{
				{keys, "CREATE TABLE t (id BINARY(10) PRIMARY KEY)",
					// As two worlds make them that run at the same time.
					"SELECT UNHEX(CONCAT(LPAD(HEX(1000000000 + seq * 2 + {world}), 11, '0'), LPAD(HEX({world}), 5, '0'), LPAD(HEX(seq % 65536), 4, '0'))) FROM seq_1_to_{rows}",
					o.checkRows, "SELECT COUNT(*) of the keys", "SELECT COUNT(*) FROM t"},
				{names, "CREATE TABLE t (name VARCHAR(24) COLLATE utf8mb4_general_ci PRIMARY KEY)",
					"SELECT " + nameSQL + ` AS name
						FROM (SELECT (seq * 2 + {world}) * 2654435761 % 4294967291 AS x FROM seq_1_to_{rows}) AS numbers ORDER BY name`,
					o.checkRows / 4, "bare ordered scan of the names", "SELECT name FROM t ORDER BY name"},
				{composite, "CREATE TABLE t (guid INT UNSIGNED, slot SMALLINT UNSIGNED, PRIMARY KEY (guid, slot))",
					"SELECT seq DIV 8 * 2 + {world}, seq % 8 FROM seq_1_to_{rows}",
					o.checkRows / 4, "bare ordered scan of both columns", "SELECT guid, slot FROM t ORDER BY guid, slot"},
			} {
				if !m.wants(kind.check) && !(kind.check == keys && m.wants(memory)) {
					continue
				}
				m.log("filling 2 tables with %d rows", kind.rows)
				w := fillWorlds(ctx, m, server, 2, kind.rows, func(world int) []string {
					fill := strings.NewReplacer("{world}", fmt.Sprint(world), "{rows}", fmt.Sprint(kind.rows)).Replace(kind.fill)
					return []string{kind.create, "INSERT INTO t " + fill}
				})
				reference := w.bare(ctx, kind.reference, kind.query)
				if kind.check == keys {
					manyKeys, reference = w, w.counted(ctx, kind.reference, kind.query)
				}
				m.compare(ctx, pace{rounds: checkRounds}, true, reference, w.checked(ctx, kind.check, 0.5))
			}
			if m.wants(memory) {
				memoryOfMany(ctx, m, memory, manyKeys)
			}
			if m.wants(tables) {
				manyTables(ctx, m, server, tables)
			}
		})
}

// fillWorlds makes databases and runs the statements for each.
func fillWorlds(ctx context.Context, m *measuring, server mariadb, n, rows int, statements func(world int) []string) *worlds {
	w := &worlds{rows: rows}
	for world := range n {
		dsn, err := server.Database(ctx)
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
		m.must(&wrong{fmt.Sprintf("a check found %d keys more than once where there are %d", got.twice, 2*w.rows)})
	}
	m.add(row{what: name, note: fmt.Sprintf("20 × %d rows, every key ten times", w.rows)}.memory(most, 100<<20))
}

func manyTables(ctx context.Context, m *measuring, server mariadb, name string) {
	m.log(name)
	const tables, sources, rows = 97, 5, 3
	w := fillWorlds(ctx, m, server, sources, tables*rows, func(world int) (all []string) {
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
