package main

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/servertest"
)

// Rows of the section.
const (
	largeVast  = "  the same, with four times as many rows"
	largePlan  = mergePlan + ", of these"
	largeCheck = mergeVerify + ", of these"
)

const vastWorld = "vast" // the world that is larger than the memory

// mariadbLarge measures merges whose rows are and are not larger than the memory of the server. It takes many
// minutes, so it is measured only if it was asked for.
func mariadbLarge(ctx context.Context, o options) ([]section, error) {
	if !o.large {
		return nil, nil
	}
	names := []string{mergeApply, largeVast, mergeMemory, largePlan, largeCheck}
	return o.measureSection("Merge larger than the memory, on MariaDB", "", names, func(m *measuring) {
		server := startServer(ctx, m, servertest.MariaDB, "--innodb-buffer-pool-size=256M", "--innodb-log-file-size=512M", "--local-infile=ON", "--skip-log-bin")
		worlds := &mergeWorlds{measuring: m, server: server, players: o.mergePlayers, tables: mergeTables}
		b := &largeBench{mergeBench: mergeBench{measuring: m, worlds: worlds, complete: worlds.complete}}
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
	small took
}

// measure measures both merges, in turns.
func (b *largeBench) measure(ctx context.Context) {
	sides := []func(context.Context){
		func(ctx context.Context) { b.merge(ctx, sourceWorld, &b.small) },
		func(ctx context.Context) { b.merge(ctx, vastWorld, &b.took) },
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

func (b *largeBench) table() []row {
	rows := b.worlds.rowsToCome()
	small := timeOf(mergeApply, b.small.applied, rows, "")
	small.ratio = "1.00"
	return []row{
		small,
		timeOf(largeVast, b.applied, 4*rows, "").against(b.applied, b.small.applied, 5),
		b.peak(),
		timeOf(largePlan, b.planned, 4*rows, ""),
		timeOf(largeCheck, b.verified, 4*rows, "; PASS"),
	}
}
