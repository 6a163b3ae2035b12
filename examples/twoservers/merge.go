package main

import (
	"context"
	"fmt"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/transfer"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// merge makes a new database of two worlds, and shows how it went. The new one is the first
// world from then on.
func (s *story) merge(ctx context.Context, first, second, merged *world) error {
	into, worlds := merged.database(), []transfer.Database{first.database(), second.database()}
	plan, err := transfer.NewPlan(ctx, into, worlds, transfer.PlanOptions{})
	if err != nil {
		return err
	}
	if len(plan.Refusals) > 0 {
		return fmt.Errorf("the merge of %s and %s into %s is refused: %s", first.name, second.name, merged.name, plan.Refusals[0])
	}
	s.say("   plan    %s rows in %d tables, %d renames; nothing blocks it", printable.Number(plan.Rows()), len(plan.Tables), len(plan.Renames))
	began := time.Now()
	if _, err := transfer.Apply(ctx, plan, into, worlds, transfer.Options{}); err != nil {
		return err
	}
	s.say("   apply   %s is made, in %.1f s", merged.path(), time.Since(began).Seconds())
	opened, err := transfer.Open(ctx, plan, into, worlds, transfer.OpenOptions{})
	if err != nil {
		return err
	}
	var rows int64
	for _, t := range opened.Proof.Tables {
		rows += t.Rows
	}
	s.say("   open    %s: %s rows, all those of %s and of %s, each as it was; its server may start", opened.Proof.Verdict, printable.Number(rows), first.name, second.name)
	return release(ctx, plan, worlds)
}

func (w *world) database() transfer.Database { return transfer.Database{Name: w.name, DSN: w.dsn()} }

// nothingChanged shows that what a player of the merged-in world had is found
// as before.
func (s *story) nothingChanged(ctx context.Context, from, merged *world) error {
	db, err := store.OpenReadOnly(ctx, merged.dsn())
	if err != nil {
		return err
	}
	defer db.Close()
	player, err := starter.Players.ByNumber(ctx, db, from.lastNumber)
	if err != nil {
		return fmt.Errorf("the player with the number %s: %w", from.lastNumber.Spaced(), err)
	}
	s.say("   number  %s is still %s, of level %d with %s gold", from.lastNumber.Spaced(), player.Name, player.Level, printable.Number(player.Gold))
	link := s.items.Seal(from.lastItem) // as players have seen it on s2
	id, err := s.items.Open(link)
	if err != nil {
		return err
	}
	item, err := starter.Items.Get(ctx, db, id)
	if err != nil {
		return fmt.Errorf("the item behind %s: %w", link, err)
	}
	owner, err := starter.Players.Get(ctx, db, item.Owner)
	if err != nil {
		return err
	}
	s.say("   link    %s still leads to an item, which %s owns", link, owner.Name)
	return nil
}

// together shows what players of both worlds have come to.
func (s *story) together(ctx context.Context, merged *world) error {
	db, err := store.OpenReadOnly(ctx, merged.dsn())
	if err != nil {
		return err
	}
	defer db.Close()
	// The digits of an ID tell which server made it.
	var loot, guilds int64
	err = db.Get(ctx, &loot, "SELECT COUNT(*) FROM items WHERE substr(hex(id), 12, 5) = '00001' AND substr(hex(owner_id), 12, 5) = '00002'")
	if err == nil {
		err = db.Get(ctx, &guilds, "SELECT COUNT(*) FROM (SELECT guild_id FROM guild_members GROUP BY guild_id HAVING COUNT(DISTINCT substr(hex(player_id), 12, 5)) = 2)")
	}
	if err != nil {
		return err
	}
	s.say("\n   Players who joined on s2 own %s items that server 1 made, and %s guilds have members", printable.Number(loot), printable.Number(guilds))
	s.say("   from both worlds.")
	return nil
}

// release lifts the fences of the worlds, which no real merge does: they are there for the reader to try.
func release(ctx context.Context, plan *transfer.Plan, worlds []transfer.Database) error {
	for i, w := range plan.Worlds {
		registry, err := worldregistry.Dial(ctx, worlds[i].DSN, sqldb.ReadWrite)
		if err != nil {
			return err
		}
		for _, server := range w.Servers {
			if err == nil {
				err = registry.LiftFence(ctx, server.Server, plan.ID)
			}
		}
		if registry.Close(); err != nil {
			return err
		}
	}
	return nil
}
