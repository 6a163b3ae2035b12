package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"mergesafe/internal/mariadbtest"
)

// nameSQL makes a name of the column x: some syllables and a number, all of them
// different.
const nameSQL = `CONCAT(ELT(1 + x % 16, 'Ar', 'Be', 'Cor', 'Dra', 'El', 'Fae', 'Gor', 'Hy', 'Il', 'Ka', 'Lo', 'Mor', 'Nu', 'Per', 'Sha', 'Zed'),
	ELT(1 + x DIV 16 % 8, 'an', 'bel', 'dor', 'eth', 'gal', 'ith', 'mir', 'wen'),
	ELT(1 + x DIV 128 % 8, 'a', 'bane', 'dil', 'kin', 'lor', 'ric', 'sha', 'us'), x DIV 1024)`

// mariadbCheck starts a server of its own that has room for all rows in its
// memory: it is the check that is measured, not the disk.
func mariadbCheck(ctx context.Context, o options) ([]section, error) {
	const tables, sources = "97 tables, nearly empty, 5 sources", "memory, 20 sources"
	s := section{
		title: "Check before a merge on MariaDB",
		intro: "Rows a second, of both databases together; the ratio is to counting the keys of one in the server, or to a scan of the driver that looks at nothing.",
	}
	if !o.wants(s.title, checkKeys) && !o.wants(s.title, checkNames) && !o.wants(s.title, checkComposite) && !o.wants(s.title, tables) && !o.wants(s.title, sources) {
		return nil, nil
	}
	o.log("%s: starting the server", s.title)
	starting, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	server, err := mariadbtest.Start(starting, mariadbtest.Options{
		Args: []string{"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=2G", "--innodb-log-file-size=512M"},
	})
	if errors.Is(err, mariadbtest.ErrNoProgram) {
		s.rows = []row{{what: "not measured", note: err.Error()}}
		return []section{s}, nil
	}
	if err != nil {
		return nil, err
	}
	defer server.Stop()

	var keys *worlds
	for _, kind := range []struct {
		check, create, fill string
		rows                int
		reference           func(*worlds) candidate
	}{
		{checkKeys, "CREATE TABLE t (id BINARY(10) PRIMARY KEY)",
			// As two worlds make them that run at the same time.
			"SELECT UNHEX(CONCAT(LPAD(HEX(1000000000 + seq * 2 + {world}), 11, '0'), LPAD(HEX({world}), 5, '0'), LPAD(HEX(seq % 65536), 4, '0'))) FROM seq_1_to_{rows}",
			o.checkRows,
			func(w *worlds) candidate { return w.counted(ctx, "SELECT COUNT(*) of the keys", "t") }},
		{checkNames, "CREATE TABLE t (name VARCHAR(24) COLLATE utf8mb4_general_ci PRIMARY KEY)",
			"SELECT " + nameSQL + ` AS name
				FROM (SELECT (seq * 2 + {world}) * 2654435761 % 4294967291 AS x FROM seq_1_to_{rows}) AS numbers ORDER BY name`,
			o.checkRows / 4,
			func(w *worlds) candidate {
				return w.bare(ctx, "bare ordered scan of the names", "SELECT name FROM t ORDER BY name")
			}},
		{checkComposite, "CREATE TABLE t (guid INT UNSIGNED, slot SMALLINT UNSIGNED, PRIMARY KEY (guid, slot))",
			"SELECT seq DIV 8 * 2 + {world}, seq % 8 FROM seq_1_to_{rows}",
			o.checkRows / 4,
			func(w *worlds) candidate {
				return w.bare(ctx, "bare ordered scan of both columns", "SELECT guid, slot FROM t ORDER BY guid, slot")
			}},
	} {
		if !o.wants(s.title, kind.check) && !(kind.check == checkKeys && o.wants(s.title, sources)) {
			continue
		}
		o.log("%s: filling 2 tables with %d rows", s.title, kind.rows)
		w, err := fillWorlds(ctx, server, 2, kind.rows, func(world int) []string {
			fill := strings.NewReplacer("{world}", fmt.Sprint(world), "{rows}", fmt.Sprint(kind.rows)).Replace(kind.fill)
			return []string{kind.create, "INSERT INTO t " + fill}
		})
		if err != nil {
			return nil, err
		}
		defer w.db.Close()
		if kind.check == checkKeys {
			keys = w
		}
		note := fmt.Sprintf("2 × %d rows", kind.rows)
		if err := w.beside(ctx, o, &s, kind.reference(w), w.checked(ctx, kind.check, note)); err != nil {
			return []section{s}, err
		}
	}
	if o.wants(s.title, sources) {
		o.log("%s: %s", s.title, sources)
		r, err := memoryOfMany(ctx, sources, keys)
		if err != nil {
			return []section{s}, err
		}
		s.rows = append(s.rows, r)
	}
	if o.wants(s.title, tables) {
		o.log("%s: %s", s.title, tables)
		r, err := manyTables(ctx, server, tables)
		if err != nil {
			return []section{s}, err
		}
		s.rows = append(s.rows, r)
	}
	return []section{s}, nil
}

// fillWorlds makes databases and runs the statements for each.
func fillWorlds(ctx context.Context, server *mariadbtest.Server, n, rows int, statements func(world int) []string) (*worlds, error) {
	w := &worlds{rows: rows}
	for world := range n {
		dsn, err := server.Database(ctx)
		if err != nil {
			return nil, err
		}
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			return nil, err
		}
		for _, statement := range statements(world + 1) {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return nil, errors.Join(err, db.Close())
			}
		}
		if w.dsns = append(w.dsns, "mysql:"+dsn); world == 0 {
			w.db = db
		} else if err := db.Close(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// memoryOfMany checks 20 sources: both databases ten times. Every key is then
// there ten times, which is more to keep in mind than there being none.
func memoryOfMany(ctx context.Context, name string, w *worlds) (row, error) {
	var dsns []string
	for range 10 {
		dsns = append(dsns, w.dsns...)
	}
	return memoryRow(name, fmt.Sprintf("20 × %d rows, every key ten times", w.rows), func() error {
		got, err := check(ctx, dsns)
		if err == nil && got.twice != int64(2*w.rows) {
			err = &wrong{fmt.Sprintf("a check found %d keys more than once where there are %d", got.twice, 2*w.rows)}
		}
		return err
	})
}

func manyTables(ctx context.Context, server *mariadbtest.Server, name string) (row, error) {
	const tables, sources, rows = 97, 5, 3
	w, err := fillWorlds(ctx, server, sources, tables*rows, func(world int) (all []string) {
		for i := range tables {
			all = append(all,
				fmt.Sprintf("CREATE TABLE t%d (id INT AUTO_INCREMENT PRIMARY KEY, owner INT, name VARCHAR(20) UNIQUE, note VARCHAR(200), KEY (owner))", i),
				fmt.Sprintf("INSERT INTO t%d SELECT seq * %d + %d, seq, CONCAT('n', seq * %[2]d + %[3]d), '' FROM seq_1_to_%d", i, sources, world, rows))
		}
		return all
	})
	if err != nil {
		return row{}, err
	}
	defer w.db.Close()
	got, err := check(ctx, w.dsns)
	if err == nil {
		err = got.clean(sources * tables * rows)
	}
	return row{
		what: name, measured: fmt.Sprintf("%.2f s", got.whole.Seconds()),
		goal: fmt.Sprintf("≤ %.0f s", checkTables.Seconds()), holds: verdict(got.whole <= checkTables),
		note: "the whole check, schemas included",
	}, err
}
