package fleetworlds

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/fleetworlds/madeup"
	"mergesafe/internal/inserts"
	"mergesafe/internal/sqldb"

	_ "mergesafe/internal/sqldb/mysql"
	_ "mergesafe/internal/sqldb/sqlite"
)

// Options say what fleet to make. The same options make the same rows.
type Options struct {
	Dir    string // for the SQLite files and config.toml; made unless it is there
	Seed   uint64
	Worlds int // SQLite files w1, w2, ... of which w3, w5, w23, w25, ... have other tables

	// Databases are worlds m1, m2, ... on the server that Server names, a DSN with the right to
	// make databases. Those are called Prefix and the name of the world; they are made anew.
	Databases int
	Server    string
	Prefix    string // the default is DefaultPrefix

	Now time.Time // what counts as the present: players were active up to then
}

// DefaultPrefix begins the names of databases.
const DefaultPrefix = "fleet_"

// Fleet is what was made.
type Fleet struct {
	Worlds []World
	Config string // the path of config.toml
}

// World is one world of a fleet.
type World struct {
	Name, DSN string
	Language  string
	Zone      string

	// Its peculiarities.
	Drift       madeup.Drift
	Running     bool // a process holds its lease
	Corrupt     bool // the file is damaged
	Unreachable bool // its server does not answer

	shape  madeup.Shape
	server gameid.ServerID // 0 if it has no registry
}

// The worlds that are odd, if there are so many.
const (
	runningWorld = 4
	corruptWorld = 6
)

// Make makes a fleet: at least two SQLite worlds, or none; and one world on a server that does not
// answer, if there are any databases of a server.
func Make(ctx context.Context, o Options) (*Fleet, error) {
	o.Prefix = cmp.Or(o.Prefix, DefaultPrefix)
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "worlds"), 0o777); err != nil {
		return nil, err
	}
	f := &Fleet{Config: filepath.Join(dir, "config.toml")}
	for n := 1; n <= o.Worlds; n++ {
		w := o.world("w", n)
		w.DSN = "sqlite:" + filepath.Join(dir, "worlds", w.Name+".db")
		w.Running, w.Corrupt = n == runningWorld, n == corruptWorld
		f.Worlds = append(f.Worlds, w)
	}
	for n := 1; n <= o.Databases; n++ {
		w := o.world("m", n)
		if w.DSN, err = withDatabase(o.Server, o.Prefix+w.Name); err != nil {
			return nil, err
		}
		f.Worlds = append(f.Worlds, w)
	}
	w := o.world("u", 1)
	w.DSN, w.Unreachable = "mysql:nobody:x@tcp(127.0.0.1:1)/"+o.Prefix+w.Name, true
	f.Worlds = append(f.Worlds, w)
	if err := makeAll(ctx, f.Worlds); err != nil {
		return nil, err
	}
	return f, os.WriteFile(f.Config, []byte(f.config()), 0o600) // it may have a password in it
}

var regions = []struct{ language, zone string }{
	{"de", "Europe/Berlin"}, {"en", "Europe/London"}, {"en", "America/New_York"}, {"fr", "Europe/Paris"}, {"pt", "America/Sao_Paulo"}, {"ko", "Asia/Seoul"},
}

// world is the n-th world of a kind.
func (o Options) world(kind string, n int) World {
	w := World{Name: fmt.Sprint(kind, n)}
	w.shape = madeup.ShapeOf(o.Seed, uint64(kind[0]), n, w.Name, o.Now)
	w.Drift = w.shape.Drift
	region := regions[w.shape.Region%len(regions)]
	w.Language, w.Zone = region.language, region.zone
	if n%20 != 8 {
		w.server = gameid.ServerID(int(kind[0])*1000 + n)
	}
	return w
}

// withDatabase returns the DSN of another database of the same server; "" is none.
func withDatabase(dsn, name string) (string, error) {
	_, ok := sqldb.ParseServer(dsn)
	slash := strings.LastIndex(dsn, ")/") + 2 // behind the address
	if !ok || !strings.HasPrefix(dsn, "mysql:") || slash < 2 {
		return "", errors.New(`the DSN of the server: want "mysql:" and user:password@tcp(host:port)/`)
	}
	_, params, any := strings.Cut(dsn[slash:], "?")
	if any {
		params = "?" + params
	}
	return dsn[:slash] + name + params, nil
}

// makeAll makes worlds, as many at a time as there are processors.
func makeAll(ctx context.Context, worlds []World) error {
	var all sync.WaitGroup
	slots, errs := make(chan struct{}, runtime.GOMAXPROCS(0)), make([]error, len(worlds))
	for i, w := range worlds {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := w.make(ctx); err != nil {
				errs[i] = fmt.Errorf("world %s: %w", w.Name, err)
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

func (w World) make(ctx context.Context) error {
	if w.Unreachable {
		return nil
	}
	dialect, rest, err := sqldb.SplitDSN(w.DSN)
	if err != nil {
		return err
	}
	var db *sql.DB
	if dialect == sqldb.SQLite {
		for _, old := range []string{rest, rest + "-wal", rest + "-shm"} {
			if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		db, err = sql.Open("sqlite", "file:"+rest+"?_pragma=synchronous(0)&_pragma=journal_mode(memory)")
	} else {
		db, err = newDatabase(ctx, w.DSN)
	}
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	statements := madeup.Tables(dialect, w.Drift)
	if w.server != 0 {
		more, err := registryOf(dialect, w.shape, w.server, w.Running)
		if err != nil {
			return err
		}
		statements = append(statements, more...)
	}
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	in := &inserts.Inserter{Backslash: dialect == sqldb.MySQL, Exec: func(statement string) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	}}
	if err := errors.Join(w.shape.Fill(in), in.Flush()); err != nil {
		return err
	}
	if err := errors.Join(tx.Commit(), db.Close()); err != nil || !w.Corrupt {
		return err
	}
	return damage(rest)
}

// newDatabase makes the database of a DSN anew, and opens it.
func newDatabase(ctx context.Context, dsn string) (*sql.DB, error) {
	server, _ := sqldb.ParseServer(dsn)
	without, err := withDatabase(dsn, "")
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
	return sql.Open("mysql", strings.TrimPrefix(dsn, "mysql:"))
}

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

// Odd says what is odd about a world; nothing of most.
func (w World) Odd() string {
	switch {
	case w.Unreachable:
		return "does not answer"
	case w.Corrupt:
		return "is a damaged file"
	case w.Running:
		return "runs"
	case w.Drift != madeup.NoDrift:
		return "differs: " + string(w.Drift)
	default:
		return ""
	}
}
