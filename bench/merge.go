package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"mergesafe/internal/mariadbtest"
)

// Rows of the section. The goals are those of mergeApply.
const (
	mergeByDump = "mariadb-dump | mariadb, the same tables"
	mergeApply  = "servermerge apply"
	mergeMemory = "  the most memory of its process"
	mergePlan   = "servermerge plan, once before"
	mergeVerify = "servermerge verify, after each apply"
	mergeUndo   = "servermerge undo, once after"
)

// Goals of a merge.
const (
	mergeTime   = 1.0       // of the time of the dump
	mergeMemMax = 150 << 20 // bytes
)

const itemsOfPlayer = 4 // of each player, on average

// mariadbMerge measures the commands of an operator as they are: whole
// processes, on databases of one server that has room for all rows.
func mariadbMerge(ctx context.Context, o options) ([]section, error) {
	s := section{title: "Merge on MariaDB"}
	// All or nothing: each step needs the one before.
	if !slices.ContainsFunc([]string{mergeByDump, mergeApply, mergeMemory, mergePlan, mergeVerify, mergeUndo},
		func(name string) bool { return o.wants(s.title, name) }) {
		return nil, nil
	}
	notMeasured := func(err error) ([]section, error) {
		s.rows = []row{{what: "not measured", note: err.Error()}}
		return []section{s}, nil
	}
	pipe, err := findPipe()
	if err != nil {
		return notMeasured(err)
	}
	server, err := startMariaDB(ctx, o, s.title, "--innodb-buffer-pool-size=2G", "--innodb-log-file-size=512M")
	if errors.Is(err, mariadbtest.ErrNoProgram) {
		return notMeasured(err)
	}
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	dir, err := os.MkdirTemp("", "mergesafe-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)

	b := &mergeBench{pipe: pipe, players: o.mergePlayers, log: func(format string, args ...any) { o.log(s.title+": "+format, args...) }}
	if b.worlds, err = openMergeWorlds(server, b.players); err != nil {
		return nil, err
	}
	defer b.worlds.close()
	if err := b.prepare(ctx, dir); err != nil {
		return nil, err
	}
	for round := range o.mergeRounds {
		sides := []func(context.Context) error{b.dump, b.merge}
		if (o.mergeRounds-round)%2 == 0 {
			slices.Reverse(sides) // so that neither always comes first; ours is last
		}
		for _, side := range sides {
			if err := side(ctx); err != nil {
				return nil, err
			}
		}
	}
	b.log("undo")
	if b.undone, err = b.tool.run(ctx, "undo", b.tool.plan); err != nil {
		return nil, err
	}
	durable, err := b.worlds.durability(ctx)
	if err != nil {
		return nil, err
	}
	s.intro = fmt.Sprintf("%s players and %s items come to a database that has %s and %s, on the same server; whole processes, the ratio is of their times. The server is %s, %s.",
		count(b.players), count(b.players*itemsOfPlayer), count(homePlayers), count(homePlayers*itemsOfPlayer), server.version, durable)
	s.rows = b.rows()
	return []section{s}, nil
}

// mergeBench is what was measured, a value for each round.
type mergeBench struct {
	pipe    pipe
	tool    tool
	worlds  *mergeWorlds
	players int // that come
	log     func(format string, args ...any)

	planned, undone           usage
	dumped, applied, verified []time.Duration
	memory                    []int64 // bytes; none where the system does not tell
}

// prepare makes the worlds, the command and its plan.
func (b *mergeBench) prepare(ctx context.Context, dir string) (err error) {
	b.log("building servermerge")
	if b.tool, err = buildTool(ctx, dir, b.worlds); err != nil {
		return err
	}
	if err := b.pipe.configure(dir, b.worlds); err != nil {
		return err
	}
	b.log("filling a world of %d rows", b.rowsToCome())
	if err := b.worlds.fill(ctx); err != nil {
		return err
	}
	if err := b.worlds.renew(ctx, targetWorld); err != nil {
		return err
	}
	b.log("plan")
	b.planned, err = b.tool.run(ctx, "plan", "-o", b.tool.plan, targetWorld, sourceWorld)
	return err
}

// dump measures the reference.
func (b *mergeBench) dump(ctx context.Context) error {
	if err := b.begin(ctx, loadedWorld); err != nil {
		return err
	}
	b.log("mariadb-dump | mariadb")
	began := time.Now()
	if err := b.pipe.run(ctx, sourceWorld, loadedWorld); err != nil {
		return err
	}
	b.dumped = append(b.dumped, time.Since(began))
	return b.worlds.complete(ctx, loadedWorld)
}

// merge measures apply, and proves what it did.
func (b *mergeBench) merge(ctx context.Context) error {
	if err := b.begin(ctx, targetWorld); err != nil {
		return err
	}
	b.log("apply")
	applied, err := b.tool.run(ctx, "apply", b.tool.plan)
	if err != nil {
		return err
	}
	b.applied = append(b.applied, applied.time)
	if applied.peak > 0 {
		b.memory = append(b.memory, applied.peak)
	}
	return b.prove(ctx)
}

func (b *mergeBench) prove(ctx context.Context) error {
	b.log("verify")
	verified, err := b.tool.run(ctx, "verify", b.tool.plan)
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == 1 {
		return &wrong{"a merge is not what was planned: " + err.Error()}
	}
	b.verified = append(b.verified, verified.time)
	return err
}

// begin brings the server to where every measurement begins.
func (b *mergeBench) begin(ctx context.Context, world string) error {
	if err := b.worlds.renew(ctx, world); err != nil {
		return err
	}
	b.log("letting the server come to rest")
	return b.worlds.rest(ctx)
}

func (b *mergeBench) rowsToCome() int { return b.players * (1 + itemsOfPlayer) }

func (b *mergeBench) rows() []row {
	line := func(what, note string, times ...time.Duration) row {
		t := median(nanoseconds(times)) / 1e9
		return row{what: what, measured: fmt.Sprintf("%.1f s", t), note: fmt.Sprintf("%.0f k rows/s%s", float64(b.rowsToCome())/t/1000, note)}
	}
	apply := line(mergeApply, "", b.applied...)
	ratios := quotients(nanoseconds(b.applied), nanoseconds(b.dumped))
	apply.ratio, apply.spread = ratioText(ratios), spreadText(ratios)
	apply.goal, apply.holds = fmt.Sprintf("≤ %.2f", mergeTime), verdict(median(ratios) <= mergeTime)
	dump := line(mergeByDump, "; --single-transaction --no-create-info", b.dumped...)
	dump.ratio = "1.00"
	table := []row{
		dump,
		apply,
		{what: mergeMemory, note: "this system does not tell"},
		line(mergePlan, "; the whole check, and a sum over every row", b.planned.time),
		line(mergeVerify, "; PASS", b.verified...),
		line(mergeUndo, "", b.undone.time),
	}
	if len(b.memory) > 0 {
		most := slices.Max(b.memory)
		table[2] = row{
			what: mergeMemory, measured: fmt.Sprintf("%.0f MiB", float64(most)/(1<<20)),
			goal: fmt.Sprintf("≤ %d MiB", mergeMemMax>>20), holds: verdict(most <= mergeMemMax), note: "of all rounds",
		}
	}
	return table
}

func nanoseconds(times []time.Duration) []float64 {
	ns := make([]float64, len(times))
	for i, t := range times {
		ns[i] = float64(t)
	}
	return ns
}
