package world_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// private is a server with options of its own.
func private(t *testing.T, server *servertest.Server) worldtest.Engine {
	t.Helper()
	cfg, err := mysql.ParseDSN(server.DSN())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	return worldtest.Engine{Name: "mariadb", Fresh: func(t testing.TB, name string) world.Database {
		n++
		of := cfg.Clone()
		of.DBName = "mysql" // exists
		fresh := "World_" + name + strings.Repeat("x", n)
		worldtest.Exec(t, world.Database{Name: name, DSN: "mysql:" + of.FormatDSN()}, "CREATE DATABASE `"+fresh+"` CHARACTER SET utf8mb4")
		of.DBName = fresh
		return world.Database{Name: name, DSN: "mysql:" + of.FormatDSN()}
	}}
}

// One server for what needs options that do no harm to each other.
func TestMySQLOptions(t *testing.T) {
	e := private(t, servertest.PrivateMySQL(t, "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--server-id=1", "--log-bin=binlog", "--sql-require-primary-key=ON"))
	t.Run("replicated", func(t *testing.T) { testReplicated(t, e) })
	t.Run("read only", func(t *testing.T) { testReadOnly(t, e) })
	t.Run("system tablespace", func(t *testing.T) { testSystemTablespace(t, e) })
}

// Where tables are in the system tablespace, those that were altered name it, and the others do not.
func testSystemTablespace(t *testing.T, e worldtest.Engine) {
	before := worldtest.GameWorld(t, e, "s1", 1, 3, "a")
	worldtest.Exec(t, before, "SET GLOBAL innodb_file_per_table = OFF")
	defer worldtest.Exec(t, before, "SET GLOBAL innodb_file_per_table = ON")
	second := worldtest.GameWorld(t, e, "s2", 2, 3, "b")
	worldtest.MergedAndBack(t, e, []world.Database{before, second}, worldtest.OddAllowed)
	worldtest.MergedAndBack(t, e, []world.Database{second, before}, worldtest.OddAllowed)
}

// A merge takes no statement that GTIDs, binlog ROW or sql_require_primary_key
// forbid: a replica gets it, and every row of it.
func testReplicated(t *testing.T, e worldtest.Engine) {
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	for i, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY)", fmt.Sprintf("INSERT INTO counted VALUES (%d)", 10*i+1))
	}
	if n := worldtest.Number(t, all[0], "SELECT @@gtid_mode = 'ON' AND @@binlog_format = 'ROW' AND @@sql_require_primary_key"); n != 1 {
		t.Fatal("the server does not have its options")
	}
	p, into := worldtest.PlanOf(t, e, all, worldtest.OddAllowed)
	worldtest.Exec(t, all[0], "FLUSH BINARY LOGS")
	worldtest.MustApply(t, p, into, all)
	// Each change of a row is in the log as rows, none as a statement.
	events := make(map[string]int)
	var log string
	for _, row := range worldtest.Rows(t, into, "SHOW BINARY LOG STATUS") {
		log = row[0]
	}
	for _, row := range worldtest.Rows(t, into, "SHOW BINLOG EVENTS IN '"+log+"'") {
		events[row[2]]++
		if row[2] == "Query" && strings.Contains(row[5], "INSERT INTO") {
			t.Errorf("a statement in the log: %s", row[5])
		}
	}
	if events["Write_rows"] == 0 || events["Gtid"] == 0 {
		t.Errorf("the log has %v", events)
	}
	worldtest.Proved(t, p, into, all)
	worldtest.MustDrop(t, p, into, all)
}

// With lower_case_table_names=1 a server has all names in lower case. Tables whose
// names differ in case are two tables for a merge, and are refused; those that have
// the same names are merged.
func TestLowerCase(t *testing.T) {
	asWritten, lower := worldtest.Engines()[1], private(t, servertest.Private(t, "--lower-case-table-names=1"))
	for _, tt := range []struct {
		name         string
		first, other worldtest.Engine
	}{{"0 into 1", lower, asWritten}, {"1 into 0", asWritten, lower}} {
		t.Run(tt.name, func(t *testing.T) {
			all := []world.Database{tt.first.Fresh(t, "s1"), tt.other.Fresh(t, "s2")}
			for i, d := range all {
				worldtest.Exec(t, d, "CREATE TABLE mails (Id INT PRIMARY KEY)", fmt.Sprintf("INSERT INTO mails VALUES (%d)", i))
			}
			worldtest.MergedAndBack(t, tt.first, all, planner.PlanOptions{})
			for i, d := range all {
				worldtest.Exec(t, d, "CREATE TABLE `Items` (id INT PRIMARY KEY)", fmt.Sprintf("INSERT INTO `Items` VALUES (%d)", i))
			}
			p := worldtest.Planned(t, tt.first.Fresh(t, "new"), all, planner.PlanOptions{})
			var codes []string
			for _, r := range p.Refusals {
				codes = append(codes, r.Table+" "+r.Code)
			}
			slices.Sort(codes)
			if want := []string{"Items schema-table", "items schema-table"}; !slices.Equal(slices.Compact(codes), want) {
				t.Errorf("refused for %q, want %q: %v", codes, want, p.Refusals)
			}
		})
	}
}

// Tables of engines without transactions are copied as they are, from every world. The new database gets tables of InnoDB
// by a rule, without which the plan says the line.
func TestTablesWithoutTransactions(t *testing.T) {
	e := worldtest.Engines()[1]
	for _, engine := range []string{"MyISAM", "Aria", "MEMORY"} {
		t.Run(engine, func(t *testing.T) {
			if engine == "Aria" {
				servertest.OnlyMariaDB(t, "an engine of its own")
			}
			all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
			for i, d := range all {
				worldtest.Exec(t, d, "CREATE TABLE mails (id INT PRIMARY KEY)", "CREATE TABLE logs (id INT PRIMARY KEY, v VARCHAR(9)) ENGINE = "+engine, "CREATE TABLE none (id INT PRIMARY KEY) ENGINE = "+engine,
					fmt.Sprintf("INSERT INTO mails VALUES (%d)", i), fmt.Sprintf("INSERT INTO logs VALUES (%d, 'x'), (%d, NULL)", 10*i, 10*i+1))
			}
			into := e.Fresh(t, "new")
			p := worldtest.Planned(t, into, all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing}})
			if len(p.Refusals) != 1 || p.Refusals[0].Source != "s1" || !strings.Contains(p.Refusals[0].Reason, "the engine of 2 tables ("+engine+") has no transactions") ||
				!strings.Contains(p.Refusals[0].Reason, `engine = "InnoDB" below [merge]`) {
				t.Errorf("refused for %v", p.Refusals)
			}
			options := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing, Engine: rules.InnoDB}}
			worldtest.MergedAndBack(t, e, all, options)
			if engine == "Aria" {
				return // a change of it is told by the sum of its rows, as one of MEMORY
			}

			// A row that is changed after the plan is noticed, as in every table.
			for i, key := range []int{0, 10} {
				p = worldtest.MustPlan(t, into, all, options)
				worldtest.Exec(t, all[i], fmt.Sprintf("UPDATE logs SET v = 'y' WHERE id = %d", key))
				changed := new(record.ChangedError)
				if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); !errors.As(err, &changed) || changed.Table != "logs" || changed.Database != all[i].Name {
					t.Errorf("apply: %v", err)
				}
				into = e.Fresh(t, "new")
			}

			// So it is between apply and open.
			p = worldtest.MustPlan(t, into, all, options)
			worldtest.MustApply(t, p, into, all)
			worldtest.Exec(t, all[0], "UPDATE logs SET v = 'z' WHERE id = 0")
			if opened, err := build.Open(t.Context(), p, into, all, build.Options{}); !errors.Is(err, build.ErrNotProved) {
				t.Errorf("open: %+v, %v", opened, err)
			}
		})
	}
}

// Whatever options a table without transactions has, it becomes one of InnoDB.
func TestTablesIntoInnoDB(t *testing.T) { servertest.OnMySQLToo(t, testTablesIntoInnoDB) }

func testTablesIntoInnoDB(t *testing.T) {
	e := worldtest.Engines()[1]
	const two = " (id INT NOT NULL PRIMARY KEY, v VARCHAR(200)"
	tables := []string{
		two + ") ENGINE=MyISAM ROW_FORMAT=FIXED",
		two + ") ENGINE=MyISAM ROW_FORMAT=DYNAMIC",
		two + ") ENGINE=MyISAM ROW_FORMAT=COMPRESSED",
		two + ") ENGINE=MyISAM KEY_BLOCK_SIZE=1024",
		two + ") ENGINE=MyISAM KEY_BLOCK_SIZE=3 ROW_FORMAT=FIXED",
		two + ", KEY sized (v) KEY_BLOCK_SIZE=2048) ENGINE=MyISAM",
		two + ", w VARCHAR(250) CHARACTER SET utf8mb4, KEY long_one (w)) ENGINE=MyISAM ROW_FORMAT=COMPACT",
		// more than 767 bytes
		two + ", w VARCHAR(250) CHARACTER SET utf8mb4, KEY long_one (w)) ENGINE=MyISAM ROW_FORMAT=REDUNDANT",
		two + ", FULLTEXT (v)) ENGINE=MyISAM",
		two + ", g GEOMETRY NULL, p POINT NOT NULL DEFAULT (POINT(1, 2)), SPATIAL KEY (p)) ENGINE=MyISAM",
		two + ") ENGINE=MyISAM CHECKSUM=1 DELAY_KEY_WRITE=1 PACK_KEYS=1 MIN_ROWS=1 MAX_ROWS=1000 " +
			"AVG_ROW_LENGTH=9 COMMENT='x'",
		two + ") ENGINE=MyISAM DATA DIRECTORY='{dir}' INDEX DIRECTORY='{dir}'",
		two + ") ENGINE=MyISAM INDEX DIRECTORY='{dir}'",
		two + ") ENGINE=MEMORY MAX_ROWS=1000",
		two + ", KEY hashed (v) USING HASH, KEY sorted (v) USING BTREE) ENGINE=MEMORY",
		" (v INT NOT NULL, id INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (v, id)) ENGINE=MyISAM", // counts for each v
		" (v INT NOT NULL, id INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (id, v)) ENGINE=MyISAM",
		" (v INT NOT NULL, id INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (v, id), KEY (id)) ENGINE=MyISAM",
	}
	if servertest.OnMariaDB(t) {
		tables = append(tables, two+") ENGINE=Aria ROW_FORMAT=PAGE", two+") ENGINE=Aria ROW_FORMAT=PAGE TRANSACTIONAL=1",
			two+") ENGINE=Aria ROW_FORMAT=FIXED TRANSACTIONAL=0 PAGE_CHECKSUM=1",
			two+") ENGINE=MyISAM PARTITION BY HASH (id) PARTITIONS 2")
	}
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
	for i, d := range all {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o777); err != nil { // the server may be another user
			t.Fatal(err)
		}
		for n, table := range tables {
			name := fmt.Sprintf("t%d", n)
			worldtest.Exec(t, d, "CREATE TABLE "+name+strings.ReplaceAll(table, "{dir}", dir),
				fmt.Sprintf("INSERT INTO %s (v, id) VALUES (%d, %d), (%d, %d)", name, 2*i+1, 10*i+1, 2*i+2, 10*i+2))
		}
	}
	options := worldtest.OddAllowed
	options.Check.Engine = rules.InnoDB
	if p := worldtest.MustPlan(t, e.Fresh(t, "new"), all, options); !slices.Equal(p.New.Recounted, []string{"t15.id"}) {
		t.Errorf("numbered through the whole table: %q", p.New.Recounted)
	}
	worldtest.MergedAndBack(t, e, all, options)
}

// A key that keeps periods from overlapping is compared by the new database: that has to be allowed, and rows of two
// worlds that overlap are refused there, in a rehearsal too.
func TestPeriods(t *testing.T) {
	servertest.OnlyMariaDB(t, "it has periods")
	e := worldtest.Engines()[1]
	worlds := func(from string) []world.Database {
		all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
		for i, d := range all {
			for n, key := range []string{"PRIMARY KEY", "UNIQUE KEY u"} {
				worldtest.Exec(t, d, fmt.Sprintf("CREATE TABLE booked%d (room INT NOT NULL, s DATE NOT NULL, e DATE NOT NULL, PERIOD FOR p (s, e), %s (room, p WITHOUT OVERLAPS))", n, key),
					fmt.Sprintf("INSERT INTO booked%d VALUES (7, '2026-0%d-01', '2026-0%d-02')", n, i+1, i+1))
			}
		}
		worldtest.Exec(t, all[1], "INSERT INTO booked0 VALUES (7, '"+from+"', '2026-01-09')")
		return all
	}
	rooms := []rules.Declarations{{Shared: []string{"booked0.*"}}}
	all := worlds("2026-01-02")
	p := worldtest.Planned(t, e.Fresh(t, "new"), all, planner.PlanOptions{Check: rules.Options{Rules: rooms}})
	for n, name := range []string{"PRIMARY", "u"} {
		if n >= len(p.Refusals) || p.Refusals[n].Table != fmt.Sprint("booked", n) || p.Refusals[n].Code != verdict.CodeUniqueCollision || !strings.Contains(p.Refusals[n].Reason, "index "+name+": it prevents overlapping periods") {
			t.Errorf("refused for %v", p.Refusals)
		}
	}
	opts := planner.PlanOptions{Check: rules.Options{Rules: rooms, Allow: []string{"unique-collision:booked*"}}}
	worldtest.MergedAndBack(t, e, all, opts)
	all, into := worlds("2026-01-01"), e.Fresh(t, "new")
	p = worldtest.MustPlan(t, into, all, opts)
	if _, err := build.Apply(t.Context(), p, into, all, job.Options{Try: true}); err == nil || !strings.Contains(err.Error(), "booked0") || !strings.Contains(err.Error(), "Duplicate entry") {
		t.Errorf("rehearsal: %v", err)
	}
}

// An invisible primary key that MySQL made of itself is a key like others: it
// counts from 1 in each world, so rows collide; and where it does not, the rows
// keep theirs. That holds for a server that hides such keys, too.
func TestGeneratedInvisiblePrimaryKey(t *testing.T) {
	servertest.OnMySQLToo(t, testGeneratedInvisiblePrimaryKey)
}

func testGeneratedInvisiblePrimaryKey(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
	if servertest.OnMariaDB(t) {
		t.Skip("MariaDB makes no key of itself")
	}
	for _, d := range all {
		db := worldtest.Pool(t, d)
		db.SetMaxOpenConns(1)
		for _, s := range []string{"SET SESSION sql_generate_invisible_primary_key = ON", "CREATE TABLE logs (line VARCHAR(20))", "INSERT INTO logs VALUES ('one'), ('two')"} {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		db.Close()
	}
	collides := func(shown string) {
		p := worldtest.Planned(t, e.Fresh(t, "new"), all, worldtest.OddAllowed)
		if len(p.Refusals) != 1 || p.Refusals[0].Code != verdict.CodeKeyCollision || p.Refusals[0].Table != "logs" {
			t.Errorf("keys shown %s: refused for %v", shown, p.Refusals)
		}
	}
	collides("ON")
	const hide = "SET GLOBAL show_gipk_in_create_table_and_information_schema = "
	t.Cleanup(func() { worldtest.Exec(t, all[0], hide+"ON") })
	worldtest.Exec(t, all[0], hide+"OFF")
	collides("OFF")
	worldtest.Exec(t, all[1], "UPDATE logs SET my_row_id = my_row_id + 10 ORDER BY my_row_id DESC", "ALTER TABLE logs AUTO_INCREMENT = 13")
	worldtest.MergedAndBack(t, e, all, worldtest.OddAllowed)
	p, into := worldtest.MergeOf(t, e, all, worldtest.OddAllowed)
	worldtest.Opened(t, p, into, all)
	worldtest.Exec(t, into, hide+"ON")
	worldtest.Asked(t, into, "SELECT my_row_id, line FROM logs ORDER BY my_row_id", "1|one", "2|two", "11|one", "12|two")
	worldtest.Exec(t, into, "INSERT INTO logs (line) VALUES ('three')")
	if n := worldtest.Number(t, into, "SELECT MAX(my_row_id) FROM logs"); n != 13 {
		t.Errorf("the next key is %d, want 13", n)
	}
}

// A server that accepts no writes is refused by the plan, and before the first write
// where it became so later; with read_only an administrator may merge.
func testReadOnly(t *testing.T, e worldtest.Engine) {
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	other, before := e.Fresh(t, "new"), []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1])}
	worldtest.Exec(t, all[0], "SET GLOBAL super_read_only = ON")
	refused := new(record.RefusedError)
	if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "running with the --super-read-only option") {
		t.Errorf("apply: %v", err)
	}
	frozen := worldtest.Planned(t, other, all, planner.PlanOptions{})
	var from []string
	for _, r := range frozen.Refusals {
		if strings.Contains(r.Reason, "accepts no writes (super_read_only is ON)") {
			from = append(from, r.Code+r.Source)
		}
	}
	if strings.Join(from, " ") != "s1 s2" {
		t.Errorf("the plan has %v", frozen.Refusals)
	}
	worldtest.Exec(t, all[0], "SET GLOBAL super_read_only = OFF")
	if before[0] != worldtest.Dump(t, all[0]) || before[1] != worldtest.Dump(t, all[1]) {
		t.Error("something was changed")
	}
	worldtest.Dropped(t, into)
	worldtest.Exec(t, all[0], "SET GLOBAL read_only = ON")
	worldtest.MergedAndBack(t, e, all, planner.PlanOptions{})
	worldtest.Exec(t, all[0], "SET GLOBAL read_only = OFF")
}
