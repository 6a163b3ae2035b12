package inventory

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/world"
)

// Database is where a world is. It prints as its name, never as its DSN.
type Database struct {
	merge.Database
	Labels map[string]string

	// Lost says why it is not known where the database is; nil if it is. Such a world is not
	// read, and is listed with this problem.
	Lost error
}

// Options configures [Read]. The zero value is the defaults.
type Options struct {
	Parallel  int // worlds that are read at a time, in all; 0 means 16
	PerServer int // of these, on one server of MariaDB or MySQL; 0 means 4

	// Timeout is how long one world may take; 0 means 2 minutes. Connect is how long its
	// database may take to answer at all; 0 means 10 seconds, or Timeout if that is less.
	Timeout, Connect time.Duration

	// Players is the table that has a row for each player, and Active its column that tells
	// when the player was there last, as [world.Source.Activity] reads it. Without
	// them it is not known who plays.
	Players, Active string

	// Since is an earlier inventory, to tell what changed; nil if there is none.
	Since *Inventory

	// Now is what the times of activity are compared with; zero means the clock.
	Now time.Time

	// Progress, if not nil, is called after each world, by one goroutine at a time.
	Progress func(done int)
}

func (o Options) withDefaults() Options {
	o.Parallel = cmp.Or(o.Parallel, 16)
	o.PerServer = cmp.Or(o.PerServer, 4)
	o.Timeout = cmp.Or(o.Timeout, 2*time.Minute)
	o.Connect = min(cmp.Or(o.Connect, 10*time.Second), o.Timeout)
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return o
}

// Read reads worlds, many at a time, and writes nothing: each database is opened read-only,
// and closed when its world was read. A world that cannot be read has a Problem, and so has
// one that takes longer than the limits; the others do not wait for it. If ctx ends, the
// worlds that were not read have a Problem that says so.
func Read(ctx context.Context, worlds []Database, o Options) *Inventory {
	began := time.Now()
	o = o.withDefaults()
	inv := &Inventory{Version: Version, Made: o.Now.UTC().Truncate(time.Millisecond), Worlds: make([]World, len(worlds))}
	var (
		gate = newGate(o.Parallel, o.PerServer)
		all  schemas
		mu   sync.Mutex // of all and of done
		done int
		wait sync.WaitGroup
	)
	for i, d := range worlds {
		wait.Go(func() {
			found := readWorld(ctx, d, o, gate)
			mu.Lock()
			defer mu.Unlock()
			all.add(i, &found)
			inv.Worlds[i] = found.World
			if done++; o.Progress != nil {
				o.Progress(done)
			}
		})
	}
	wait.Wait()
	inv.Schemas = all.compare(inv.Worlds)
	grow(inv, o.Since)
	inv.Took = time.Since(began).Round(time.Millisecond).Seconds()
	return inv
}

// found is a world together with what it takes to compare its schema with others.
type found struct {
	World
	outline *catalog.Outline // nil if it is not known
}

// readWorld reads one world, when it is its turn.
func readWorld(ctx context.Context, d Database, o Options, g *gate) found {
	w := found{World: World{Name: d.Name, Labels: d.Labels, Server: serverOf(d.DSN), State: Unknown}}
	read := w
	err := func() error {
		if d.Lost != nil {
			return d.Lost
		}
		place, err := g.enter(ctx, w.Server)
		if err != nil {
			return err
		}
		defer place.leave()
		ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, late(o.Timeout))
		defer cancel()
		source, err := open(ctx, d, o.Connect, place)
		if err != nil {
			return err
		}
		mine := w // the result, unless it comes too late
		read, err = within(ctx, func() (found, error) {
			defer source.Close()
			mine.Problem = problem(mine.read(ctx, d, source, o))
			return mine, nil
		}, func(found) {})
		return err
	}()
	if err != nil {
		w.Problem = problem(err)
		return w
	}
	return read
}

// open opens the database. While it does not answer, others have its place.
func open(ctx context.Context, d Database, limit time.Duration, p *place) (*world.Source, error) {
	connecting, cancel := context.WithTimeoutCause(ctx, limit, late(limit))
	defer cancel()
	keep := p.lend()
	source, err := within(connecting, func() (*world.Source, error) { return world.Open(connecting, d.Name, d.DSN) },
		func(source *world.Source) { source.Close() })
	keep()
	err = because(connecting, err)
	_, silent := errors.AsType[late](err)
	p.answered(d.Name, !silent)
	if err != nil {
		return nil, err
	}
	if err := p.back(ctx); err != nil {
		source.Close()
		return nil, because(ctx, err)
	}
	return source, nil
}

// late is the error of what took longer than a limit.
type late time.Duration

func (l late) Error() string { return "it did not answer within " + time.Duration(l).String() }

// because is why something failed: if its context ended, for that reason.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// grace is how long something may take to notice that its context ended.
const grace = 2500 * time.Millisecond

// within returns what f returns, or the error of ctx if f does not return soon after ctx
// ended, as a file does on a disk of the network that is away. What f returns after that,
// without an error, goes to missed.
func within[T any](ctx context.Context, f func() (T, error), missed func(T)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := f()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-answers:
		return a.value, a.err
	case <-time.After(grace):
		go func() {
			if a := <-answers; a.err == nil {
				missed(a.value)
			}
		}()
		var none T
		return none, context.Cause(ctx)
	}
}

// read asks the database, and fills in what it says. What cannot be read does not keep the
// rest from being read.
func (w *found) read(ctx context.Context, d Database, source *world.Source, o Options) error {
	catalog, err := source.Catalog(ctx)
	if err != nil {
		return because(ctx, err)
	}
	w.Engine, w.Version, w.Tables = catalog.Engine, catalog.EngineVersion, len(catalog.Tables)
	w.outline = catalog.Outline()
	w.Schema = w.outline.Fingerprint()
	size, err := source.Size(ctx)
	if err != nil {
		return because(ctx, err)
	}
	w.Bytes = size.Bytes
	var failed []string
	try := func(what string, read func() error) {
		if ctx.Err() != nil && failed != nil {
			return // for the same reason
		}
		if err := because(ctx, read()); err != nil {
			failed = append(failed, what+": "+problem(err))
		}
	}
	try("registry", func() (err error) {
		var servers []worldregistry.Server
		if catalog.HasRegistry {
			servers, err = source.Registry().Servers(ctx)
		}
		w.State, w.Servers = stateOf(servers)
		return err
	})
	try("last merge", func() (err error) { w.Merged, err = lastMerge(ctx, d); return err })
	try("players", func() (err error) { w.Players, err = playersOf(ctx, source, o); return err })
	try("counting rows", func() error { return w.count(ctx, source, catalog, size) })
	if failed != nil {
		return errors.New(strings.Join(failed, "; "))
	}
	return nil
}

// count counts the rows. If that takes too long, the estimate of the server has to do.
func (w *found) count(ctx context.Context, source *world.Source, catalog *catalog.Catalog, size world.Size) error {
	estimates := size.Rows >= 0
	if estimates {
		w.Rows, w.Estimated = size.Rows, true
	}
	var rows int64
	for _, t := range catalog.Tables {
		n, err := source.Count(ctx, t.Name)
		if err != nil {
			if estimates && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil
			}
			return err
		}
		rows += n
	}
	w.Rows, w.Estimated = rows, false
	return nil
}

// stateOf tells from the registry whether a world is in use.
func stateOf(servers []worldregistry.Server) (State, []Server) {
	world := Unknown
	var all []Server
	rank := map[State]int{Unknown: 0, Stopped: 1, Fenced: 2, Running: 3}
	for _, s := range servers {
		is := Stopped
		if _, fenced := worldregistry.FenceOf(s.Holder); fenced && s.Leased {
			is = Fenced
		} else if s.Held() != nil {
			is = Running
		}
		own := s.Role == worldregistry.RoleOwn
		if own && rank[is] > rank[world] {
			world = is
		}
		all = append(all, Server{Server: int(s.ID), Name: s.Name, Own: own, Mark: s.Reserved, State: is})
	}
	return world, all
}

func lastMerge(ctx context.Context, d Database) (*LastMerge, error) {
	m, err := merge.LastMerge(ctx, d.Database)
	if err != nil || m == nil {
		return nil, err
	}
	return &LastMerge{ID: m.ID, Worlds: m.Worlds, At: m.Began, Open: m.State == merge.StateOpen}, nil
}

// Files is what Server of a world says whose database is a file of this machine.
const Files = "sqlite"

// serverOf names the database server that a DSN leads to. It is not secret.
func serverOf(dsn string) string {
	if dialect, _, err := sqldb.SplitDSN(dsn); err == nil && dialect == sqldb.SQLite {
		return Files
	}
	server, _ := sqldb.ParseServer(dsn)
	return server.Address
}

// packages begin messages, and say nothing to people.
var packages = strings.NewReplacer("sqlsource: ", "", "store: ", "", "\n", "; ")

// problem is an error in words.
func problem(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "interrupted before it was read"
	}
	return packages.Replace(err.Error())
}
