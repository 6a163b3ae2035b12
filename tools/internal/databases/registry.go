package databases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"mergesafe/internal/config"
	"mergesafe/internal/fleet"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/tools/internal/cli"
)

// Registry is a fleet registry. The zero Registry is none.
type Registry struct {
	DSN config.Secret
	By  string // the program that records, such as "servermerge open"
}

// open opens the registry that knows the worlds of a plan. A file that is not there is one that is away.
func (r Registry) open() (*fleet.Fleet, error) {
	if path, file := strings.CutPrefix(r.DSN.Reveal(), string(sqldb.SQLite)+":"); file {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the fleet registry: %w: its file is missing: restore it, or correct [registry] in config.toml", sqldb.ErrUnavailable)
		}
	}
	return fleet.Open(r.DSN.Reveal())
}

// Move sets the place of a world to an address without user and password, if the registry has a place of
// it: if from is not empty, only if it is that.
func (r Registry) Move(ctx context.Context, world, from, to, why string) error {
	if r.DSN.IsZero() {
		return nil
	}
	registry, err := r.open()
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
	return registry.SetPlace(ctx, place, r.because(why))
}

func hasServers(plan *merge.Plan) bool {
	return slices.ContainsFunc(plan.Worlds[0].Servers, func(s catalog.Server) bool { return s.Own })
}

// Required is an error if the fleet registry cannot be read, or if there is none though the first world of a plan, which
// is in a database, is bound in one: that is a usage error.
func (r Registry) Required(ctx context.Context, plan *merge.Plan, database merge.Database) error {
	if !r.DSN.IsZero() {
		f, err := r.open()
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.Identity(ctx)
		return err
	}
	if !hasServers(plan) {
		return nil
	}
	registry, err := worldregistry.Dial(ctx, database.DSN, sqldb.ReadOnly)
	if err != nil {
		return err
	}
	defer registry.Close()
	servers, err := registry.Servers(ctx)
	if err != nil {
		return fmt.Errorf("database %q: its registry: %w", database.Name, database.Held(ctx, err))
	}
	bound := slices.IndexFunc(servers, func(s worldregistry.Server) bool { return s.Role == worldregistry.RoleOwn && s.Fleet != "" })
	if bound < 0 {
		return nil
	}
	return cli.Usage("server %s of %q is bound in the fleet registry with the identity %s, which must know where its world continues: "+
		"want -fleet and its DSN, or the section [registry] in the configuration; if that registry is lost: gameid servers leave", servers[bound].ID, database.Name, servers[bound].Fleet)
}

// Elsewhere returns what [merge.PlanOptions] and [merge.Options] want: it asks the fleet registry. One that does not answer
// is not asked again, and warn gets the reason: open asks it, too, and then waits.
func (r Registry) Elsewhere(warn func(text string)) func(ctx context.Context, d merge.Database) (why string, err error) {
	const patience = 5 * time.Second
	var away atomic.Bool // a night plans and carries out several merges at a time
	away.Store(r.DSN.IsZero())
	return func(ctx context.Context, d merge.Database) (string, error) {
		if away.Load() {
			return "", nil
		}
		asking, end := context.WithTimeout(ctx, patience)
		defer end()
		f, err := r.open()
		if err == nil {
			defer f.Close()
			err = r.on(asking, d, func(registry *worldregistry.Registry) error { return f.Elsewhere(asking, registry) })
		}
		if no, is := errors.AsType[*fleet.Error](err); is {
			return no.Error(), nil
		}
		if ctx.Err() == nil && (errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)) {
			away.Store(true)
			warn("whether worlds are elsewhere is not known until they are opened: " + err.Error())
			return "", nil
		}
		if err != nil {
			err = fmt.Errorf("asking the fleet registry: %w", err)
		}
		return "", err
	}
}

// on calls f with the registry of a world.
func (r Registry) on(ctx context.Context, d merge.Database, f func(*worldregistry.Registry) error) error {
	registry, err := worldregistry.Dial(ctx, d.DSN, sqldb.ReadOnly)
	if err != nil {
		return err
	}
	defer registry.Close()
	return f(registry)
}

// Opened records that the worlds of a plan are in the new database from now on: the first one continues there, so that
// copies of it from before are refused, and the others came to it. See [fleet.Fleet.Follow] and [fleet.Fleet.Gone].
// It returns a [*merge.RefusedError] if the fleet registry refuses that, such as while a copy of one of them runs. Its errors
// are those of [Registry.Required] as well.
func (r Registry) Opened(ctx context.Context, plan *merge.Plan, into merge.Database, worlds []merge.Database, why string) error {
	_, place := sqldb.SplitAccount(into.DSN)
	return refusal("open", r.moved(ctx, plan, into, worlds, "", place, why))
}

// Undone records that they are in their own databases again. Its errors are those of [Registry.Opened].
func (r Registry) Undone(ctx context.Context, plan *merge.Plan, into merge.Database, worlds []merge.Database, why string) error {
	_, made := sqldb.SplitAccount(into.DSN)
	return refusal("undo", r.moved(ctx, plan, worlds[0], worlds, made, "", why))
}

// MayUndo is the error of [Registry.Undone] as far as it can be known before an undo writes anything.
func (r Registry) MayUndo(ctx context.Context, plan *merge.Plan, worlds []merge.Database) error {
	f, err := r.ofPlan(ctx, plan, worlds)
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	if err := f.MayWrite(ctx); err != nil {
		return err
	}
	for i, w := range plan.Worlds {
		if !w.Fence {
			continue
		}
		if err := r.on(ctx, worlds[i], func(reg *worldregistry.Registry) error { return f.MayReturn(ctx, reg, i > 0) }); err != nil {
			return refusal("undo", err)
		}
	}
	return nil
}

// ofPlan opens the registry that knows the worlds of a plan; nil if none is given, and none needed.
func (r Registry) ofPlan(ctx context.Context, plan *merge.Plan, worlds []merge.Database) (*fleet.Fleet, error) {
	if err := r.Required(ctx, plan, worlds[0]); err != nil || r.DSN.IsZero() {
		return nil, err
	}
	return r.open()
}

// refusal is what the fleet registry refused, as a finding.
func refusal(doing string, err error) error {
	if no, is := errors.AsType[*fleet.Error](err); is {
		err = &merge.RefusedError{Doing: doing, Refusals: []merge.Refusal{{Reason: no.Error()}}}
	}
	return err
}

func (r Registry) moved(ctx context.Context, plan *merge.Plan, to merge.Database, worlds []merge.Database, from, gone, why string) error {
	f, err := r.ofPlan(ctx, plan, worlds)
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	note := r.because(why)
	if hasServers(plan) {
		if err := r.on(ctx, to, func(reg *worldregistry.Registry) error { return f.Follow(ctx, reg, note) }); err != nil {
			return err
		}
	}
	for i, w := range plan.Worlds {
		if i == 0 || !w.Fence {
			continue
		}
		if err := r.on(ctx, worlds[i], func(reg *worldregistry.Registry) error { return f.Gone(ctx, reg, gone, note) }); err != nil {
			return err
		}
	}
	_, now := sqldb.SplitAccount(to.DSN)
	return r.Move(ctx, plan.Worlds[0].Name, from, now, why)
}

// because is a note, cut to what the registry takes.
func (r Registry) because(why string) fleet.Note {
	const most = 1024
	text := []rune(printable.Text(why))
	return fleet.Note{By: r.By, Why: string(text[:min(most, len(text))])}
}
