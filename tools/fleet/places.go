package main

import (
	"context"
	"slices"

	"mergesafe/internal/config"
	"mergesafe/internal/printable"
	"mergesafe/store/fleet"
)

// places are those of worlds in a fleet registry.
type places struct {
	dsn config.Secret
}

// Move is for [campaign.Places].
func (p places) Move(ctx context.Context, world, from, to, why string) error {
	registry, err := fleet.Open(p.dsn.Reveal())
	if err != nil {
		return err
	}
	defer registry.Close()
	all, err := registry.Places(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(known fleet.Place) bool { return known.World == world && known.Err == nil })
	if i < 0 || all[i].DSN == to || from != "" && all[i].DSN != from {
		return nil
	}
	place := all[i]
	place.DSN = to
	const most = 1024
	note := []rune(printable.Text(why))
	return registry.SetPlace(ctx, place, fleet.Note{By: "fleet", Why: string(note[:min(most, len(note))])})
}
