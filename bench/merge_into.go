package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/servertest"
)

// Rows of the section.
const (
	intoByDump = "mariadb-dump | mariadb of both worlds into a new database"
	intoLoader = "mydumper and myloader, 4 threads, the same"
	intoApply  = "servermerge apply, plan -into"
	intoText   = "  the same, local_infile=OFF"
	intoPlan   = "servermerge plan -into"
	intoVerify = "servermerge verify"
	intoUndo   = "servermerge undo before open"
	intoMemory = "  the most memory of apply"
)

const freshWorld = "fresh" // the new database

// intoCase is a merge into a new database, with what is asked of it: times of apply as a part of the
// dump's, with LOAD DATA LOCAL and without, and of plan, apply and verify together; and of undo as a part of apply. 0 asks nothing.
type intoCase struct {
	title, server    string
	reference        string // the row of what apply is compared with; intoByDump unless said
	part             int    // how much smaller the world is that comes
	equal            bool   // the first world is as large
	collide          bool   // keys count from 1 in both
	withLoader       bool   // beside myloader, too
	apply, text, all float64
	undo             float64
}

var intoCases = []intoCase{
	{title: "Merge into a new database, on MariaDB", server: servertest.MariaDB, part: 1, withLoader: true, apply: 0.30, text: 0.38, all: 0.60, undo: 0.05},
	{title: "Merge into a new database of keys that collide, on MariaDB", server: servertest.MariaDB, part: 1, collide: true, apply: 0.40, text: 0.45, all: 0.65, undo: 0.05},
	{title: "Merge into a new database of equal worlds, on MariaDB", server: servertest.MariaDB, part: 5, equal: true, apply: 0.30, text: 0.38, undo: 0.05},
	{title: "Merge into a new database, on MySQL", server: servertest.MySQL, part: 5, apply: 0.33, text: 0.45, undo: 0.05},
}

// intoParts measure merges into a new database beside what one would do by hand.
func intoParts() (all []part) {
	for _, c := range intoCases {
		all = append(all, c.measure)
	}
	return all
}

func (c intoCase) measure(ctx context.Context, o options) ([]section, error) {
	names := []string{intoByDump, intoApply, intoText, intoPlan, intoVerify, intoUndo, intoMemory}
	if c.withLoader {
		names = append(names, intoLoader)
	}
	return o.measureSection(c.title, "", names, func(m *measuring) {
		pipe, err := findPipe()
		m.must(err)
		redo := "--innodb-log-file-size=512M"
		if c.server == servertest.MySQL {
			redo = "--innodb-redo-log-capacity=512M"
		}
		server := startServer(ctx, m, c.server, "--innodb-buffer-pool-size=2G", redo, "--local-infile=ON", "--skip-log-bin")
		worlds := &mergeWorlds{measuring: m, server: server, players: o.mergePlayers / c.part}
		if c.equal {
			worlds.home = worlds.players
		}
		b := &intoBench{mergeBench: mergeBench{measuring: m, pipe: pipe, loader: findLoader(), worlds: worlds}, intoCase: c, tables: mergeTables[:], dumps: sourceWorld}
		b.tool = buildTool(ctx, m)
		b.pipe.configure(worlds)
		b.fill(ctx)
		b.rounds(ctx)
		what := "tables of package store"
		if c.collide {
			what = "characters and items with keys of AUTO_INCREMENT, which collide; the dump is of a copy whose keys do not"
		}
		m.intro = fmt.Sprintf("A world of %s rows and one of %s rows become a new database on the same server, %s; whole processes, the ratio is of their times. The server is %s, %s.",
			count(worlds.rowsToCome()), count(cmp.Or(worlds.home, homePlayers)*(1+itemsOfPlayer)), what, server.version, worlds.durability(ctx))
		m.rows = b.table()
	})
}

// intoBench is what was measured, a value for each round, in seconds.
type intoBench struct {
	mergeBench
	intoCase
	tables []string
	dumps  string   // what the dump takes in the place of the world that comes
	rules  []string // arguments of plan
	texts  []float64
	after  string // the flag of myloader that makes indexes after the rows; "" if it has none
}

// findAfter asks myloader how it calls that.
func (b *intoBench) findAfter(ctx context.Context) {
	help, _ := exec.CommandContext(ctx, b.loader.load, "--help").Output()
	for _, flag := range []string{"--optimize-keys", "--innodb-optimize-keys"} {
		if strings.Contains(string(help), flag) {
			b.after = flag
			return
		}
	}
}

// fill makes the worlds.
func (b *intoBench) fill(ctx context.Context) {
	b.log("filling a world of %d rows", b.worlds.rowsToCome())
	if b.collide {
		b.counted(ctx)
	} else {
		b.worlds.fill(ctx)
	}
	b.tool.configure(b.measuring, b.worlds.dsn, homeWorld, sourceWorld, freshWorld)
}

// counted makes worlds whose keys collide, and a copy of one whose keys do not.
func (b *intoBench) counted(ctx context.Context) {
	r := &rekeyBench{mergeBench: b.mergeBench}
	r.world(ctx, homeWorld, homePlayers, 0)
	r.world(ctx, sourceWorld, b.worlds.players, 0)
	r.world(ctx, apartWorld, b.worlds.players, homePlayers*itemsOfPlayer)
	file := filepath.Join(b.dir, "rules.toml")
	b.must(os.WriteFile(file, []byte(rekeyRules), 0o600))
	b.tables, b.dumps, b.rules = rekeyTables, apartWorld, []string{"-rekey", "-rules", file}
}

// rounds measures, in turns.
func (b *intoBench) rounds(ctx context.Context) {
	sides := []func(context.Context){b.dumpBoth, b.loadBoth, func(ctx context.Context) { b.into(ctx, true) }, func(ctx context.Context) { b.into(ctx, false) }}
	if !b.withLoader || b.loader.missing != nil {
		sides = slices.Delete(sides, 1, 2)
	} else {
		b.findAfter(ctx)
	}
	for range b.mergeRounds {
		for _, side := range sides {
			b.must(execute(ctx, b.worlds, "DROP DATABASE IF EXISTS "+loadedWorld))
			b.log("letting the server come to rest")
			b.worlds.rest(ctx)
			side(ctx)
		}
		slices.Reverse(sides)
	}
}

// dumpBoth measures the reference: the tables come with the rows of the first world.
func (b *intoBench) dumpBoth(ctx context.Context) {
	b.log("mariadb-dump | mariadb")
	b.must(execute(ctx, b.worlds, "CREATE DATABASE "+loadedWorld+" CHARACTER SET utf8mb4"))
	began := time.Now()
	for i, world := range []string{homeWorld, b.dumps} {
		words := []string{"--defaults-file=" + b.pipe.account, "--single-transaction", world}
		if i > 0 {
			words = append(words, "--no-create-info")
		}
		dump := exec.CommandContext(ctx, b.pipe.dump, append(words, b.tables...)...)
		b.must(connect(dump, exec.CommandContext(ctx, b.pipe.load, "--defaults-file="+b.pipe.account, loadedWorld)))
	}
	b.dumped = append(b.dumped, time.Since(began).Seconds())
	b.must(b.worlds.complete(ctx, loadedWorld, b.tables...))
}

// loadBoth measures the other way by hand: myloader makes the tables with the large world, which
// it loads first.
func (b *intoBench) loadBoth(ctx context.Context) {
	b.log("mydumper and myloader")
	files, err := os.MkdirTemp(b.worlds.dir, "mydumper-")
	b.must(err)
	defer os.RemoveAll(files)
	b.must(execute(ctx, b.worlds, "CREATE DATABASE "+loadedWorld+" CHARACTER SET utf8mb4"))
	tables := strings.Join(b.tables, ",")
	began := time.Now()
	for i, world := range []string{sourceWorld, homeWorld} {
		dump := []string{"--defaults-file=" + b.pipe.account, "-t", "4", "-B", world, "-T", tables, "-o", files + "/" + world}
		if i > 0 {
			dump = append(dump, "--no-schemas")
		}
		load := []string{"--defaults-file=" + b.pipe.account, "-t", "4", "-B", loadedWorld, "-d", files + "/" + world}
		if i == 0 && b.after != "" {
			load = append(load, b.after)
		}
		for _, cmd := range []*exec.Cmd{exec.CommandContext(ctx, b.loader.dump, dump...), exec.CommandContext(ctx, b.loader.load, load...)} {
			if says, err := cmd.CombinedOutput(); err != nil {
				b.must(fmt.Errorf("%s: %w\n%s", cmd.Path, err, says))
			}
		}
	}
	b.loaded = append(b.loaded, time.Since(began).Seconds())
	b.must(b.worlds.complete(ctx, loadedWorld, b.tables...))
}

// into measures the merge, by LOAD DATA LOCAL or by INSERT.
func (b *intoBench) into(ctx context.Context, infile bool) {
	applied, planned, verified, undone := &b.applied, &b.planned, &b.verified, &b.undone
	if !infile {
		var other []float64
		applied, planned, verified, undone = &b.texts, &other, &other, &other
	}
	b.must(execute(ctx, b.worlds, fmt.Sprintf("SET GLOBAL local_infile = %t", infile)))
	b.must(os.RemoveAll(b.tool.plan))
	b.step(ctx, planned, "plan", slices.Concat([]string{"-into", freshWorld}, b.rules, []string{"-o", b.tool.plan, homeWorld, sourceWorld})...)
	used := b.step(ctx, applied, "apply", b.tool.plan)
	b.memory = max(b.memory, used.peak)
	b.step(ctx, verified, "verify", b.tool.plan)
	b.must(b.worlds.complete(ctx, freshWorld, b.tables...))
	b.step(ctx, undone, "undo", b.tool.plan)
}

func (b *intoBench) table() []row {
	line := func(what string, seconds []float64, note string) row {
		t := median(seconds)
		return row{what: what, measured: fmt.Sprintf("%.1f s", t), note: fmt.Sprintf("%.0f k rows/s%s", float64(b.worlds.rowsToCome())/t/1000, note)}
	}
	against := func(r row, a, b []float64, most float64) row {
		q := quotients(a, b)
		if r = r.compared(q); most == 0 {
			return r
		}
		return r.judged(goal{most: most}, q)
	}
	all := make([]float64, len(b.applied))
	for i := range all {
		all[i] = b.planned[i] + b.applied[i] + b.verified[i]
	}
	dump := line(intoByDump, b.dumped, "; --single-transaction")
	if b.reference != "" {
		dump = line(b.reference, b.dumped, "")
	}
	dump.ratio = "1.00"
	found := []row{dump}
	loaded := b.withLoader && b.loader.missing == nil
	if loaded {
		note := "; indexes after the rows"
		if b.after == "" {
			note = "; this version makes indexes first"
		}
		found = append(found, line(intoLoader, b.loaded, note).compared(quotients(b.loaded, b.dumped)))
	} else if b.withLoader {
		found = append(found, row{what: intoLoader, measured: "not measured", note: b.loader.missing.Error()})
	}
	found = append(found, against(line(intoApply, b.applied, ""), b.applied, b.dumped, b.apply))
	if b.text > 0 {
		found = append(found, against(line(intoText, b.texts, ""), b.texts, b.dumped, b.text))
	}
	if loaded {
		found = append(found, against(row{what: "  ÷ " + intoLoader}, b.applied, b.loaded, 0.90),
			against(row{what: "  local_infile=OFF ÷ the same"}, b.texts, b.loaded, 1.05))
	}
	return append(found, b.peak(intoMemory),
		line(intoPlan, b.planned, "; the whole check, and a sum over every row"),
		line(intoVerify, b.verified, "; PASS"),
		against(row{what: "  plan, apply and verify ÷ the dump"}, all, b.dumped, b.all),
		against(line(intoUndo, b.undone, "; the ratio is to its apply"), b.undone, b.applied, b.undo))
}
