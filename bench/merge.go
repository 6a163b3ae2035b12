package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"mergesafe/internal/servertest"
)

// Rows of the sections.
const (
	mergeByDump = "mariadb-dump | mariadb of both worlds into a new database"
	mergeLoader = "mydumper and myloader, 4 threads, the same"
	mergeApply  = "servermerge apply"
	mergeText   = "  the same, local_infile=OFF"
	mergeApart  = "  ÷ the same of keys that do not collide"
	mergeMemory = "  the most memory of apply"
	mergeRead   = "reading all rows of both worlds, side by side"
	mergePlan   = "servermerge plan"
	mergeVerify = "servermerge verify"
	mergeAll    = "  plan, apply and verify ÷ the dump"
	mergeUndo   = "servermerge undo before open"
)

const itemsOfPlayer = 4 // of each player, on average

// mergeCase is a merge, with what is asked of it: times of apply as a part of the dump's, with LOAD DATA LOCAL
// and without, and of plan, apply and verify together; and of undo as a part of apply. 0 asks nothing.
type mergeCase struct {
	title, server    string
	part             int  // how much smaller the world is that comes
	equal            bool // the first world is as large
	collide          bool // keys count from 1 in both
	withLoader       bool // beside myloader, too
	apply, text, all float64
	undo             float64
}

var mergeCases = []mergeCase{
	{title: "Merge on MariaDB", server: servertest.MariaDB, part: 1, withLoader: true, apply: 0.30, text: 0.38, all: 0.60, undo: 0.05},
	{title: "Merge of keys that collide, on MariaDB", server: servertest.MariaDB, part: 1, collide: true, apply: 0.40, text: 0.45, all: 0.65, undo: 0.05},
	{title: "Merge of equal worlds, on MariaDB", server: servertest.MariaDB, part: 5, equal: true, apply: 0.30, text: 0.38, undo: 0.05},
	{title: "Merge on MySQL", server: servertest.MySQL, part: 5, apply: 0.33, text: 0.45, undo: 0.05},
}

// mergeParts measure the commands of an operator as they are, whole processes, beside what one would do by hand.
func mergeParts() (all []part) {
	for _, c := range mergeCases {
		all = append(all, c.measure)
	}
	return all
}

func (c mergeCase) measure(ctx context.Context, o options) ([]section, error) {
	// All or nothing: each step needs the one before.
	names := []string{mergeByDump, mergeApply, mergeText, mergeMemory, mergePlan, mergeVerify, mergeAll, mergeUndo}
	if c.withLoader {
		names = append(names, mergeLoader)
	}
	if c.collide {
		names = append(names, mergeApart, mergeRead)
	}
	return o.measureSection(c.title, "", names, func(m *measuring) {
		pipe, err := findPipe()
		m.must(err)
		redo := "--innodb-log-file-size=512M"
		if c.server == servertest.MySQL {
			redo = "--innodb-redo-log-capacity=512M"
		}
		server := startServer(ctx, m, c.server, "--innodb-buffer-pool-size=2G", redo, "--local-infile=ON", "--skip-log-bin")
		worlds := &mergeWorlds{measuring: m, server: server, players: o.mergePlayers / c.part, tables: mergeTables}
		if c.equal {
			worlds.home = worlds.players
		}
		b := &mergeBench{measuring: m, mergeCase: c, pipe: pipe, worlds: worlds, complete: worlds.complete, reference: mergeByDump, dumps: sourceWorld}
		if c.withLoader {
			b.loader = findLoader(ctx)
		}
		b.tool = buildTool(ctx, m)
		b.tool.configure(m, worlds.dsn, homeWorld, sourceWorld, apartWorld, freshWorld)
		b.pipe.configure(worlds)
		m.log("filling a world of %d rows", worlds.rowsToCome())
		what := "tables of package store"
		if c.collide {
			b.fillCounted(ctx)
			what = "characters and items with keys of AUTO_INCREMENT, which collide; the dump is of a copy whose keys do not"
		} else {
			worlds.fill(ctx)
		}
		b.rounds(ctx)
		m.intro = fmt.Sprintf("A world of %s rows and one of %s rows become a new database on the same server, %s; whole processes, the ratio is of their times. The server is %s, %s.",
			count(worlds.rowsToCome()), count(cmp.Or(worlds.home, homePlayers)*(1+itemsOfPlayer)), what, server.version, worlds.durability(ctx))
		m.rows = b.table()
	})
}

// mergeBench is what was measured, a value for each round, in seconds.
type mergeBench struct {
	*measuring
	mergeCase
	pipe      pipe
	loader    loader
	tool      tool
	worlds    *mergeWorlds
	complete  func(ctx context.Context, name, from string) // ends the section unless a database has all rows
	reference string                                       // the row of what apply is compared with
	dumps     string                                       // what it takes in the place of the world that comes
	rules     []string                                     // arguments of plan

	dumped, loaded, read []float64
	took                 // with LOAD DATA LOCAL
	texts, apart         took

	memory uint64 // bytes, the most of all rounds; 0 where the system does not tell
}

// took is what the commands of a merge took.
type took struct{ planned, applied, verified, undone []float64 }

// fillCounted makes worlds whose keys collide, and a copy of one whose keys do not.
func (b *mergeBench) fillCounted(ctx context.Context) {
	b.worlds.counted(ctx, homeWorld, homePlayers, 0)
	b.worlds.counted(ctx, sourceWorld, b.worlds.players, 0)
	b.worlds.counted(ctx, apartWorld, b.worlds.players, homePlayers*itemsOfPlayer)
	b.worlds.tables, b.dumps = countedTables, apartWorld
	file := filepath.Join(b.dir, "rules.toml")
	b.must(os.WriteFile(file, []byte(countedRules), 0o600))
	b.rules = []string{"-rules", file}
}

// rounds measures, in turns.
func (b *mergeBench) rounds(ctx context.Context) {
	sides := []func(context.Context){b.byDump,
		func(ctx context.Context) { b.infile(ctx, true); b.merge(ctx, sourceWorld, &b.took) },
		func(ctx context.Context) { b.infile(ctx, false); b.merge(ctx, sourceWorld, &b.texts) },
	}
	if b.withLoader && b.loader.missing == nil {
		sides = slices.Insert(sides, 1, b.byLoader)
	}
	if b.collide {
		sides = append(sides, func(ctx context.Context) { b.infile(ctx, true); b.merge(ctx, apartWorld, &b.apart) }, b.readAll)
	}
	for range b.mergeRounds {
		for _, side := range sides {
			b.must(execute(ctx, b.worlds, "DROP DATABASE IF EXISTS "+loadedWorld))
			b.log("letting the server come to rest")
			b.worlds.rest(ctx)
			side(ctx)
		}
		slices.Reverse(sides) // so that none always comes first
	}
}

// byDump measures the reference: the tables come with the rows of the first world.
func (b *mergeBench) byDump(ctx context.Context) {
	b.byHand(ctx, "mariadb-dump | mariadb", &b.dumped, func() error {
		return b.pipe.run(ctx, loadedWorld, b.worlds.tables, homeWorld, b.dumps)
	})
}

// byLoader measures the other way by hand: myloader makes the tables with the large world, which
// it loads first.
func (b *mergeBench) byLoader(ctx context.Context) {
	b.byHand(ctx, "mydumper and myloader", &b.loaded, func() error {
		return b.loader.run(ctx, b.pipe.account, b.dir, loadedWorld, b.worlds.tables, sourceWorld, homeWorld)
	})
}

func (b *mergeBench) byHand(ctx context.Context, how string, took *[]float64, run func() error) {
	b.must(execute(ctx, b.worlds, "CREATE DATABASE "+loadedWorld+" CHARACTER SET utf8mb4"))
	b.timed(how, took, run)
	b.complete(ctx, loadedWorld, sourceWorld)
}

// readAll measures the least that plan can do.
func (b *mergeBench) readAll(ctx context.Context) {
	b.timed(mergeRead, &b.read, func() error { return b.worlds.readAll(ctx) })
}

func (b *mergeBench) timed(what string, took *[]float64, run func() error) {
	b.log("%s", what)
	began := time.Now()
	b.must(run())
	*took = append(*took, time.Since(began).Seconds())
}

// infile lets the server take LOAD DATA LOCAL, or refuse it.
func (b *mergeBench) infile(ctx context.Context, on bool) {
	b.must(execute(ctx, b.worlds, fmt.Sprintf("SET GLOBAL local_infile = %t", on)))
}

// merge measures the merge of a world, proves what it did, and takes it back.
func (b *mergeBench) merge(ctx context.Context, from string, took *took) {
	b.must(os.RemoveAll(b.tool.plan))
	b.step(ctx, &took.planned, "plan", slices.Concat([]string{"-into", freshWorld}, b.rules, []string{"-o", b.tool.plan, homeWorld, from})...)
	applied := b.step(ctx, &took.applied, "apply", b.tool.plan)
	b.memory = max(b.memory, applied.peak)
	b.step(ctx, &took.verified, "verify", b.tool.plan)
	b.complete(ctx, freshWorld, from)
	b.step(ctx, &took.undone, "undo", b.tool.plan)
}

// step runs one of the tool's commands.
func (b *mergeBench) step(ctx context.Context, took *[]float64, command string, args ...string) usage {
	b.log(command)
	used, err := b.tool.run(ctx, command, args...)
	if e, ok := errors.AsType[*exec.ExitError](err); ok && command == "verify" && e.ExitCode() == 1 {
		err = &wrong{"a merge is not what was planned: " + err.Error()}
	}
	b.must(err)
	*took = append(*took, used.time.Seconds())
	return used
}

// peak is the row of the most memory of apply.
func (b *mergeBench) peak() row {
	if b.memory == 0 {
		return row{what: mergeMemory, note: "this system does not tell"}
	}
	return row{what: mergeMemory, note: "of all rounds"}.memory(b.memory, 150<<20)
}

// timeOf is the row of what took so long for so many rows.
func timeOf(what string, seconds []float64, rows int, note string) row {
	t := median(seconds)
	return row{what: what, measured: fmt.Sprintf("%.1f s", t), note: fmt.Sprintf("%.0f k rows/s%s", float64(rows)/t/1000, note)}
}

// against compares what the row is about with something else; most is 0 if there is no goal.
func (r row) against(own, other []float64, most float64) row {
	q := quotients(own, other)
	if r = r.compared(q); most == 0 {
		return r
	}
	return r.judged(goal{most: most}, q)
}

func (b *mergeBench) table() []row {
	line := func(what string, seconds []float64, note string) row {
		return timeOf(what, seconds, b.worlds.rowsToCome(), note)
	}
	all := make([]float64, len(b.applied))
	for i := range all {
		all[i] = b.planned[i] + b.applied[i] + b.verified[i]
	}
	dump := line(b.reference, b.dumped, "")
	dump.ratio = "1.00"
	found := []row{dump}
	loaded := b.withLoader && b.loader.missing == nil
	if loaded {
		found = append(found, line(mergeLoader, b.loaded, b.loader.note()).against(b.loaded, b.dumped, 0))
	} else if b.withLoader {
		found = append(found, row{what: mergeLoader, measured: "not measured", note: b.loader.missing.Error()})
	}
	found = append(found, line(mergeApply, b.applied, "").against(b.applied, b.dumped, b.apply))
	if b.text > 0 {
		found = append(found, line(mergeText, b.texts.applied, "").against(b.texts.applied, b.dumped, b.text))
	}
	if loaded {
		found = append(found, row{what: "  ÷ " + mergeLoader}.against(b.applied, b.loaded, 0.90),
			row{what: "  local_infile=OFF ÷ the same"}.against(b.texts.applied, b.loaded, 1.05))
	}
	plan := line(mergePlan, b.planned, "; the whole check, and a sum over every row")
	if b.collide {
		found = append(found, row{what: mergeApart}.against(b.applied, b.apart.applied, 1.1))
		plan = plan.against(b.planned, b.read, 2)
		plan.note += "; the ratio is to reading"
	}
	found = append(found, b.peak())
	if b.collide {
		found = append(found, line(mergeRead, b.read, "; by the same driver"))
	}
	return append(found, plan,
		line(mergeVerify, b.verified, "; PASS"),
		row{what: mergeAll}.against(all, b.dumped, b.all),
		line(mergeUndo, b.undone, "; the ratio is to its apply").against(b.undone, b.applied, b.undo))
}
