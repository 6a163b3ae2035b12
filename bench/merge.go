package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"mergesafe/internal/servertest"
)

// Rows of the section.
const (
	mergeByDump = "mariadb-dump | mariadb, the same tables"
	mergeLoader = "mydumper and myloader, 4 threads"
	mergeApply  = "servermerge apply"
	mergeMemory = "  the most memory of its process"
	mergePlan   = "servermerge plan, once before"
	mergeVerify = "servermerge verify, after each apply"
	mergeAll    = "  plan, apply and verify ÷ the dump"
	mergeUndo   = "servermerge undo, after each verify"
)

const itemsOfPlayer = 4 // of each player, on average

// mariadbMerge measures the commands of an operator as they are: whole
// processes, on databases of one server that has room for all rows.
func mariadbMerge(ctx context.Context, o options) ([]section, error) {
	// All or nothing: each step needs the one before.
	names := []string{mergeByDump, mergeLoader, mergeApply, mergeMemory, mergePlan, mergeVerify, mergeAll, mergeUndo}
	return o.measureSection("Merge on MariaDB", "", names, func(m *measuring) {
		pipe, err := findPipe()
		m.must(err)
		server := startServer(ctx, m, servertest.MariaDB, "--innodb-buffer-pool-size=2G", "--innodb-log-file-size=512M")
		worlds := &mergeWorlds{measuring: m, server: server, players: o.mergePlayers}
		b := &mergeBench{measuring: m, pipe: pipe, loader: findLoader(), worlds: worlds}
		b.measure(ctx)
		m.intro = fmt.Sprintf("%s players and %s items come to a database that has %s and %s, on the same server; whole processes, the ratio is of their times. The server is %s, %s.",
			count(worlds.players), count(worlds.players*itemsOfPlayer), count(homePlayers), count(homePlayers*itemsOfPlayer), server.version, worlds.durability(ctx))
		m.rows = b.table()
	})
}

// mergeBench is what was measured, a value for each round, in seconds.
type mergeBench struct {
	*measuring
	pipe   pipe
	loader loader
	tool   tool
	worlds *mergeWorlds

	planned, dumped, loaded, applied, verified, undone []float64

	memory uint64 // bytes, the most of all rounds; 0 where the system does not tell
}

func (b *mergeBench) measure(ctx context.Context) {
	b.tool = buildTool(ctx, b.measuring)
	b.tool.configure(b.measuring, b.worlds.dsn, targetWorld, sourceWorld)
	b.pipe.configure(b.worlds)
	b.log("filling a world of %d rows", b.worlds.rowsToCome())
	b.worlds.fill(ctx)
	b.worlds.renew(ctx, targetWorld)
	b.step(ctx, &b.planned, "plan", "-o", b.tool.plan, targetWorld, sourceWorld)
	sides := []func(context.Context){b.dump, b.merge}
	if b.loader.missing == nil {
		sides = []func(context.Context){b.dump, b.load, b.merge}
	}
	if b.mergeRounds%2 == 0 {
		slices.Reverse(sides) // so that ours is last
	}
	for range b.mergeRounds {
		for _, side := range sides {
			side(ctx)
		}
		slices.Reverse(sides) // so that neither always comes first
	}
}

// dump measures the reference.
func (b *mergeBench) dump(ctx context.Context) {
	b.begin(ctx, loadedWorld)
	b.log("mariadb-dump | mariadb")
	began := time.Now()
	b.must(b.pipe.run(ctx, sourceWorld, loadedWorld))
	b.dumped = append(b.dumped, time.Since(began).Seconds())
	b.must(b.worlds.complete(ctx, loadedWorld, mergeTables[:]...))
}

// load measures the other way by hand.
func (b *mergeBench) load(ctx context.Context) {
	b.begin(ctx, loadedWorld)
	b.log("mydumper and myloader")
	began := time.Now()
	b.must(b.loader.run(ctx, b.pipe.account, sourceWorld, loadedWorld, b.worlds.dir))
	b.loaded = append(b.loaded, time.Since(began).Seconds())
	b.must(b.worlds.complete(ctx, loadedWorld, mergeTables[:]...))
}

// merge measures apply, proves what it did, and takes it back.
func (b *mergeBench) merge(ctx context.Context) {
	b.begin(ctx, targetWorld)
	applied := b.step(ctx, &b.applied, "apply", b.tool.plan)
	b.memory = max(b.memory, applied.peak)
	b.step(ctx, &b.verified, "verify", b.tool.plan)
	b.step(ctx, &b.undone, "undo", b.tool.plan)
}

// begin brings the server to where every measurement begins.
func (b *mergeBench) begin(ctx context.Context, world string) {
	b.worlds.renew(ctx, world)
	b.log("letting the server come to rest")
	b.worlds.rest(ctx)
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
func (b *mergeBench) peak(what string) row {
	if b.memory == 0 {
		return row{what: what, note: "this system does not tell"}
	}
	return row{what: what, note: "of all rounds"}.memory(b.memory, 150<<20)
}

func (b *mergeBench) table() []row {
	line := func(what string, seconds []float64, note string) row {
		t := median(seconds)
		return row{what: what, measured: fmt.Sprintf("%.1f s", t), note: fmt.Sprintf("%.0f k rows/s%s", float64(b.worlds.rowsToCome())/t/1000, note)}
	}
	dump := line(mergeByDump, b.dumped, "; --single-transaction --no-create-info")
	dump.ratio = "1.00"
	ratios := quotients(b.applied, b.dumped)
	found := []row{dump}
	besides := func(what string, a, b []float64, most float64) row {
		q := quotients(a, b)
		return row{what: what}.compared(q).judged(goal{most: most}, q)
	}
	var beside []row
	if b.loader.missing != nil {
		found = append(found, row{what: mergeLoader, measured: "not measured", note: b.loader.missing.Error()})
	} else {
		found = append(found, line(mergeLoader, b.loaded, "; rows only").compared(quotients(b.loaded, b.dumped)))
		beside = []row{besides("  ÷ "+mergeLoader, b.applied, b.loaded, 1)}
	}
	all := make([]float64, len(b.applied))
	for i := range all {
		all[i] = b.planned[0] + b.applied[i] + b.verified[i]
	}
	found = append(found, line(mergeApply, b.applied, "").compared(ratios).judged(goal{most: 0.55}, ratios))
	found = append(found, beside...)
	return append(found,
		b.peak(mergeMemory),
		line(mergePlan, b.planned, "; the whole check, and a sum over every row"),
		line(mergeVerify, b.verified, "; PASS"),
		besides(mergeAll, all, b.dumped, 1),
		line(mergeUndo, b.undone, ""),
		besides("  ÷ "+mergeApply, b.undone, b.applied, 1),
	)
}
