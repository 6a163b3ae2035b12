package gameworlds

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"

	_ "mergesafe/internal/sqldb/mysql"
	_ "mergesafe/internal/sqldb/sqlite"
)

// game is the game of a fleet, and its rules of a merge.
//
//go:embed fleet
var game embed.FS

// FleetGame returns the game of a fleet.
func FleetGame() (*Schema, error) { return load(game, gameFile("game.sql"), "fleet/game.refs") }

// FleetRules returns the rules of a merge of its worlds, for config.toml.
func FleetRules() string { return gameFile("rules.toml") }

func gameFile(name string) string {
	text, err := game.ReadFile("fleet/" + name)
	if err != nil {
		panic(err) // it is in the program
	}
	return string(text)
}

// FleetOptions say what fleet to make. The same options make the same rows.
type FleetOptions struct {
	Dir    string // for the SQLite files and config.toml; made unless it is there
	Seed   uint64
	Worlds int // SQLite files w1, w2, ... Some are odd: see FleetWorld

	// Databases are worlds m1, m2, ... on the server that Server names, a DSN with the right to
	// make databases. Those are called Prefix and the name of the world; they are made anew.
	Databases int
	Server    string
	Prefix    string

	Now time.Time // players were active up to then
}

// Fleet is what was made.
type Fleet struct {
	Worlds []FleetWorld
	Config string // the path of config.toml, with the worlds and the rules of their merges
}

// FleetWorld is one world of a fleet. A fleet ends with one whose server does not answer.
type FleetWorld struct {
	Name, DSN string
	Odd       string // what is odd about it; "" of most

	seed   uint64
	server gameid.ServerID // 0 if it has no registry
}

// What may be odd about a world.
const (
	missingColumn = "guild_members has no note" // an older version of the game; w3, w23, ...
	otherType     = "items.amount is a text"    // changed by an operator; w5, w25, ...
	running       = "runs"                      // a process holds its lease; w4
	damaged       = "is a damaged file"         // w6
	away          = "does not answer"           // u1
)

// MakeFleet makes a fleet: worlds of SQLite, on a server, and one on a server that does not answer.
func MakeFleet(ctx context.Context, o FleetOptions) (*Fleet, error) {
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "worlds"), 0o777)
	}
	if err != nil {
		return nil, err
	}
	f := &Fleet{Config: filepath.Join(dir, "config.toml")}
	for n := 1; n <= o.Worlds; n++ {
		w := o.world("w", n)
		w.DSN = "sqlite:" + filepath.Join(dir, "worlds", w.Name+".db")
		w.Odd = cmp.Or(map[int]string{4: running, 6: damaged}[n], w.Odd)
		f.Worlds = append(f.Worlds, w)
	}
	for n := 1; n <= o.Databases; n++ {
		w := o.world("m", n)
		if w.DSN, err = withDatabase(o.Server, o.Prefix+w.Name); err != nil {
			return nil, err
		}
		f.Worlds = append(f.Worlds, w)
	}
	f.Worlds = append(f.Worlds, FleetWorld{Name: "u1", DSN: "mysql:nobody:x@tcp(127.0.0.1:1)/u1", Odd: away})
	if err := o.fill(ctx, f.Worlds); err != nil {
		return nil, err
	}
	config := "# A fleet of made-up worlds, to try the tools on. It is written by make-fleet.\n\n" + FleetRules()
	regions := []string{`language = "de", zone = "Europe/Berlin"`, `language = "en", zone = "Europe/London"`, `language = "en", zone = "America/New_York"`}
	for _, w := range f.Worlds {
		config += fmt.Sprintf("\n[[source]]\nname   = %q\ndsn    = %q\nlabels = { %s }\n", w.Name, w.DSN, regions[w.seed%uint64(len(regions))])
	}
	return f, os.WriteFile(f.Config, []byte(config), 0o600) // it may have a password in it
}

// world is the n-th world of a kind.
func (o FleetOptions) world(kind string, n int) FleetWorld {
	w := FleetWorld{Name: fmt.Sprint(kind, n), Odd: map[int]string{3: missingColumn, 5: otherType}[n%20]}
	w.seed = random(o.Seed, w.Name).Uint64()
	if n%20 != 8 {
		w.server = gameid.ServerID(int(kind[0])*1000 + n)
	}
	return w
}

// fill makes worlds, as many at a time as there are processors.
func (o FleetOptions) fill(ctx context.Context, worlds []FleetWorld) error {
	var all sync.WaitGroup
	slots, errs := make(chan struct{}, runtime.GOMAXPROCS(0)), make([]error, len(worlds))
	for i, w := range worlds {
		if w.Odd == away {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := w.fill(ctx, o.Now); err != nil {
				errs[i] = fmt.Errorf("world %s: %w", w.Name, err)
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

func (w FleetWorld) fill(ctx context.Context, now time.Time) error {
	tables := gameFile("game.sql")
	switch w.Odd {
	case missingColumn:
		tables = strings.Replace(tables, ", note VARCHAR(80) NOT NULL", "", 1)
	case otherType:
		tables = strings.Replace(tables, "amount INT", "amount VARCHAR(12)", 1)
	}
	schema, err := load(game, tables, "fleet/game.refs")
	if err != nil {
		return err
	}
	dialect, rest, err := sqldb.SplitDSN(w.DSN)
	if err != nil {
		return err
	}
	db, err := w.newDatabase(ctx, dialect, rest)
	if err != nil {
		return err
	}
	defer db.Close()
	// Most worlds are small.
	size := random(w.seed, "size").Float64()
	opts := Typical(w.seed)
	opts.Characters = 50 + int(2950*size*size*size)
	opts.Items, opts.Today = 4*opts.Characters, now
	if _, err := schema.Fill(ctx, db, dialect, opts); err != nil {
		return err
	}
	statements := []string{"UPDATE counters SET next = (SELECT MAX(id) + 1 FROM items)"}
	if w.server != 0 {
		registry, err := w.registry(dialect, now)
		if err != nil {
			return err
		}
		statements = append(statements, registry...)
	}
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	if err := db.Close(); err != nil || w.Odd != damaged {
		return err
	}
	return damage(rest)
}

// newDatabase makes the database anew, and opens it.
func (w FleetWorld) newDatabase(ctx context.Context, dialect sqldb.Dialect, rest string) (*sql.DB, error) {
	if dialect == sqldb.SQLite {
		for _, old := range []string{rest, rest + "-wal", rest + "-shm"} {
			if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
		return sql.Open("sqlite", "file:"+rest+"?_pragma=synchronous(0)&_pragma=journal_mode(memory)")
	}
	server, _ := sqldb.ParseServer(w.DSN)
	without, err := withDatabase(w.DSN, "")
	if err != nil {
		return nil, err
	}
	admin, err := sql.Open("mysql", strings.TrimPrefix(without, "mysql:"))
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	for _, s := range []string{"DROP DATABASE IF EXISTS ", "CREATE DATABASE "} {
		if _, err := admin.ExecContext(ctx, s+sqldb.MySQL.Quote(server.Database)); err != nil {
			return nil, err
		}
	}
	return sql.Open("mysql", rest)
}

// withDatabase returns the DSN of another database of the same server; "" is none.
func withDatabase(dsn, name string) (string, error) {
	_, ok := sqldb.ParseServer(dsn)
	slash := strings.LastIndex(dsn, ")/") + 2 // behind the address
	if !ok || !strings.HasPrefix(dsn, "mysql:") || slash < 2 {
		return "", errors.New(`the DSN of the server: want "mysql:" and user:password@tcp(host:port)/`)
	}
	if params := strings.IndexByte(dsn[slash:], '?'); params >= 0 {
		name += dsn[slash+params:]
	}
	return dsn[:slash] + name, nil
}

// registry returns the statements that make the registry of a world, with the one server that
// it has. If it runs, a process of another machine holds the lease for years.
func (w FleetWorld) registry(d sqldb.Dialect, now time.Time) (statements []string, err error) {
	for statement := range strings.SplitSeq(worldregistry.SchemaText(d), ";\n") {
		if strings.TrimSpace(statement) != "" {
			statements = append(statements, statement)
		}
	}
	rng := random(w.seed, "registry")
	seen := now.Add(-time.Duration(1+rng.IntN(72)) * time.Hour)
	holder, until := []byte{}, seen
	if w.Odd == running {
		seen, until = now, now.AddDate(10, 0, 0)
		holder, err = json.Marshal(gameid.Holder{Token: token(rng), Host: "game-7.example", PID: 4711, Program: "gameserver", Since: now.Add(-26 * time.Hour).UTC()})
		if err != nil {
			return nil, err
		}
	}
	mark, err := gameid.MillisOf(seen)
	return append(statements, fmt.Sprintf(
		"INSERT INTO gameid_servers (server_id, name, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms, window_ms) VALUES (%d, '%s', '%s', 'own', 2, %d, '%s', %d, %d, %d, 10000)",
		w.server, w.Name, token(rng), mark, holder, until.UnixMilli(), now.AddDate(-2, 0, 0).UnixMilli(), seen.UnixMilli())), err
}

// token is an identity: 32 hexadecimal digits.
func token(rng *rand.Rand) string { return fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64()) }

// damage writes over the middle of a file, as a bad disk does.
func damage(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		const page = 4096
		_, err = f.WriteAt([]byte(strings.Repeat("damaged ", page)), info.Size()/page/3*page)
	}
	return errors.Join(err, f.Close())
}
