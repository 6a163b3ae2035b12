package main

import (
	"context"
	"fmt"
	"sync"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge"
	"mergesafe/merge/inventory"
	"mergesafe/merge/suggest"
	"mergesafe/tools/internal/rulefile"
)

// counted are the columns whose values the worlds of a merge may share: names, and then the
// accounts, if it is known where they are.
type counted struct {
	columns  []inventory.Column
	accounts bool
}

func columnsOf(who rulefile.Fleet) (c counted, err error) {
	texts := who.Names
	if c.accounts = who.Accounts != ""; c.accounts {
		texts = append(texts[:len(texts):len(texts)], who.Accounts)
	}
	for _, text := range texts {
		column, err := inventory.ParseColumn(text)
		if err != nil {
			return c, fmt.Errorf("[fleet] of the configuration: %w", err)
		}
		c.columns = append(c.columns, column)
	}
	return c, nil
}

// merges that are read at a time: each may take up to 40 MB.
const mergesAtATime = 2

// count fills in what the worlds of each merge share.
func (c counted) count(ctx context.Context, cmd *cliv3.Command, s *suggest.Suggestion, find func(name string) (merge.Database, error)) error {
	if len(c.columns) == 0 || len(s.Merges) == 0 {
		return nil
	}
	show, stop := counter(cmd, "names of %d of %d merges read", len(s.Merges))
	defer stop()
	var mu sync.Mutex
	done := 0
	// Worlds are found one after the other: the configuration may ask the fleet registry.
	worlds, problems := make([][]merge.Database, len(s.Merges)), make([]error, len(s.Merges))
	for i, m := range s.Merges {
		for _, name := range m.Worlds {
			d, err := find(name)
			if err != nil {
				problems[i] = err
				break
			}
			worlds[i] = append(worlds[i], d)
		}
	}
	var wait sync.WaitGroup
	places := make(chan bool, mergesAtATime)
	for i := range s.Merges {
		wait.Go(func() {
			places <- true
			defer func() { <-places }()
			c.fill(ctx, &s.Merges[i], worlds[i], problems[i])
			mu.Lock()
			defer mu.Unlock()
			done++
			show(done)
		})
	}
	wait.Wait()
	return ctx.Err()
}

func (c counted) fill(ctx context.Context, m *suggest.Merge, worlds []merge.Database, err error) {
	var all []inventory.Overlap
	if err == nil {
		all, err = inventory.Count(ctx, worlds, c.columns)
	}
	if err != nil {
		all = nil
		for _, column := range c.columns {
			all = append(all, inventory.Overlap{Column: column.String(), Problem: err.Error()})
		}
	}
	if c.accounts {
		m.Accounts, all = &all[len(all)-1], all[:len(all)-1]
	}
	m.Names = all
}
