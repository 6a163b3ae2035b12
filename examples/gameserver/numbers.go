package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/number"
	"mergesafe/store"
)

// openNumbers opens the sequence of the players' numbers: that of the fleet,
// where there is one, else the share of this server.
func (p *process) openNumbers(ctx context.Context, server gameid.ServerID) (err error) {
	const sequence = "player"
	options := store.NumbersOptions{
		CheckDigit: true,
		Reserved:   number.Pretty,
		InUse:      store.Players.NumbersIn(p.db),
	}
	if p.fleet == nil {
		p.numbers, err = p.db.OpenNumbers(ctx, server, sequence, options)
		return err
	}
	options.Start = 10_000_000 // of eight digits from the first on, the check digit among them
	p.numbers, err = p.fleet.OpenNumbers(ctx, sequence, options)
	return err
}

// playerByNumber answers GET /players?number=.
func (s *server) playerByNumber(r *http.Request, text string) (reply, error) {
	n, err := s.numbers.Parse(text)
	if err != nil {
		return reply{}, newProblem(http.StatusBadRequest, "number", "%v", err)
	}
	return s.view(r, func(tx *store.Tx) (entity.Player, error) {
		player, err := store.Players.ByNumber(r.Context(), tx, n)
		if errors.Is(err, store.ErrNotFound) {
			err = newProblem(http.StatusNotFound, "number", "no player of this world has the number %s", n)
		}
		return player, err
	})
}

// registerNumbers shows the state of a sequence of numbers.
func registerNumbers(registry *prometheus.Registry, stats func() store.NumbersStats) {
	counter := func(name, help string, value func(store.NumbersStats) uint64) {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(value(stats())) }))
	}
	gauge := func(name, help string, value func(store.NumbersStats) float64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return value(stats()) }))
	}
	counter("player_numbers_issued_total", "Numbers given to players since the start.",
		func(s store.NumbersStats) uint64 { return s.Issued })
	counter("player_numbers_kept_back_total", "Numbers that nobody gets because they are too pretty.",
		func(s store.NumbersStats) uint64 { return s.Reserved })
	counter("player_numbers_blocks_total", "Blocks of numbers that were taken from the database.",
		func(s store.NumbersStats) uint64 { return s.Blocks })
	counter("player_numbers_failures_total", "Attempts to take a block of numbers that failed; each is repeated.",
		func(s store.NumbersStats) uint64 { return s.Failures })
	gauge("player_numbers_left", "Numbers in memory: so many players can still join if the database of the numbers is away.",
		func(s store.NumbersStats) float64 { return float64(s.Left) })
	gauge("player_numbers_block_size", "Size of the block of numbers that was taken last.",
		func(s store.NumbersStats) float64 { return float64(s.Block) })
	gauge("player_numbers_failing", "1 if the last attempt to take a block of numbers failed.",
		func(s store.NumbersStats) float64 { return boolean(s.Err != nil) })
}
