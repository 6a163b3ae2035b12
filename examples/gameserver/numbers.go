package main

import (
	"context"
	"net/http"

	"mergesafe/entity"
	"mergesafe/gameid"
	nodemetrics "mergesafe/gameid/metrics"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
)

// openNumbers opens the sequence of the players' numbers: that of the fleet,
// where there is one, else the share of this server.
func (p *process) openNumbers(ctx context.Context, server gameid.ServerID) (err error) {
	const sequence = "player"
	options := numbers.Options{
		CheckDigit: true,
		Reserved:   number.Pretty,
		InUse:      starter.Players.NumbersIn(p.db),
	}
	if p.fleet == nil {
		p.numbers, err = numbers.Open(ctx, p.db.Registry(), server, sequence, options)
		return err
	}
	options.Start = 10_000_000 // of eight digits from the first on, the check digit among them
	p.numbers, err = numbers.OpenShared(ctx, p.fleet, sequence, options)
	return err
}

// playerByNumber answers GET /players?number=.
func (s *server) playerByNumber(r *http.Request, text string) (reply, error) {
	n, err := s.numbers.Parse(text)
	if err != nil {
		return reply{}, newProblem(http.StatusBadRequest, "number", "%v", err)
	}
	absent := newProblem(http.StatusNotFound, "number", "no player of this world has the number %s", n)
	return s.view(r, absent, func(tx *store.Tx) (entity.Player, error) {
		return starter.Players.ByNumber(r.Context(), tx, n)
	})
}

// numbersMetrics shows the state of a sequence of numbers.
func numbersMetrics(s numbers.Stats) []nodemetrics.Metric {
	return []nodemetrics.Metric{
		counter("player_numbers_issued_total", "Numbers given to players since the start.", s.Issued),
		counter("player_numbers_kept_back_total", "Numbers that no player gets because they are too pretty.", s.Reserved),
		counter("player_numbers_blocks_total", "Blocks of numbers that were taken from the database.", s.Blocks),
		counter("player_numbers_failures_total",
			"Attempts to take a block of numbers that failed; each is repeated.", s.Failures),
		gauge("player_numbers_left",
			"Numbers in memory: so many players can still join if the database of the numbers cannot be reached.", s.Left),
		gauge("player_numbers_block_size", "Size of the block of numbers that was taken last.", s.Block),
		gauge("player_numbers_failing", "1 if the last attempt to take a block of numbers failed.", boolean(s.Err != nil)),
	}
}
