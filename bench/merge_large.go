package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"mergesafe/internal/servertest"
)

// Rows of the section.
const (
	largeSmall = "servermerge apply, plan -into"
	largeVast  = "  the same, with four times as many rows"
	largePlan  = "servermerge plan -into, of these"
	largeCheck = "servermerge verify, of these"
)

const vastWorld = "vast" // the world that is larger than the memory

// mariadbLarge measures merges into a new database whose rows are and are not larger than the memory of the server. It
// takes many minutes, so it is measured only if it was asked for.
func mariadbLarge(ctx context.Context, o options) ([]section, error) {
	if !o.large {
		return nil, nil
	}
	names := []string{largeSmall, largeVast, largePlan, largeCheck, intoMemory}
	return o.measureSection("Merge into a new database larger than the memory, on MariaDB", "", names, func(m *measuring) {
		server := startServer(ctx, m, servertest.MariaDB, "--innodb-buffer-pool-size=256M", "--innodb-log-file-size=512M", "--local-infile=ON", "--skip-log-bin")
		b := &largeBench{mergeBench: mergeBench{measuring: m, worlds: &mergeWorlds{measuring: m, server: server, players: o.mergePlayers}}}
		b.tool = buildTool(ctx, m)
		b.tool.configure(m, b.worlds.dsn, homeWorld, sourceWorld, vastWorld, freshWorld)
		m.log("filling worlds of %d and %d rows", b.worlds.rowsToCome(), 4*b.worlds.rowsToCome())
		b.worlds.fill(ctx)
		b.worlds.world(ctx, vastWorld, 4, 4*b.worlds.players) // names go by whether the number is even
		b.measure(ctx)
		m.intro = fmt.Sprintf("A world of %s rows and one of %s or %s rows become a new database on the same server, tables of package store; whole processes, the ratio is of their times. The server is %s, %s.",
			count(homePlayers*(1+itemsOfPlayer)), count(b.worlds.rowsToCome()), count(4*b.worlds.rowsToCome()), server.version, b.worlds.durability(ctx))
		m.rows = b.table()
	})
}

// largeBench is what was measured, a value for each round, in seconds. What is not said to be small is of the larger world.
type largeBench struct {
	mergeBench
	small []float64 // apply
}

// measure measures both merges, in turns.
func (b *largeBench) measure(ctx context.Context) {
	var other []float64 // what is not of interest
	sides := []func(context.Context){
		func(ctx context.Context) { b.into(ctx, sourceWorld, &other, &b.small, &other) },
		func(ctx context.Context) { b.into(ctx, vastWorld, &b.planned, &b.applied, &b.verified) },
	}
	for range b.mergeRounds {
		for _, side := range sides {
			b.log("letting the server come to rest")
			b.worlds.rest(ctx)
			side(ctx)
		}
		slices.Reverse(sides)
	}
}

// into measures the merge of one of the worlds, proves it, and takes it back.
func (b *largeBench) into(ctx context.Context, from string, planned, applied, verified *[]float64) {
	var undone []float64
	b.must(os.RemoveAll(b.tool.plan))
	b.step(ctx, planned, "plan", "-into", freshWorld, "-o", b.tool.plan, homeWorld, from)
	used := b.step(ctx, applied, "apply", b.tool.plan)
	b.memory = max(b.memory, used.peak)
	b.step(ctx, verified, "verify", b.tool.plan)
	b.step(ctx, &undone, "undo", b.tool.plan)
}

func (b *largeBench) table() []row {
	line := func(what string, seconds []float64, rows int, note string) row {
		t := median(seconds)
		return row{what: what, measured: fmt.Sprintf("%.1f s", t), note: fmt.Sprintf("%.0f k rows/s%s", float64(rows)/t/1000, note)}
	}
	rows := b.worlds.rowsToCome()
	small, ratios := line(largeSmall, b.small, rows, ""), quotients(b.applied, b.small)
	small.ratio = "1.00"
	return []row{
		small,
		line(largeVast, b.applied, 4*rows, "").compared(ratios).judged(goal{most: 5}, ratios),
		b.peak(intoMemory),
		line(largePlan, b.planned, 4*rows, ""),
		line(largeCheck, b.verified, 4*rows, "; PASS"),
	}
}
