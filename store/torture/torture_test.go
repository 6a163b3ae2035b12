//go:build linux

package torture

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
)

var long = flag.Bool("torture.long", servertest.Scale(0, 1) == 1, "inject hundreds of faults instead of a few")

func TestMain(m *testing.M) {
	actAsMinter()
	flag.Set("test.parallel", "6") // most of the time they wait; the command line can say otherwise
	os.Exit(m.Run())
}

// times is how often something is done.
func times(short, many int) int {
	if *long {
		return many
	}
	return short
}

// A scenario tortures the processes of a world and ends with all of them gone.
// It returns the database, whose rows are compared with the logs.
type scenario struct {
	name, engine string
	run          func(t *testing.T, w *World) (dsn string)
}

func scenarios() []scenario {
	var all []scenario
	onEach := func(name string, run func(t *testing.T, w *World, dsn string)) {
		for engine, newDSN := range map[string]func(*testing.T) string{"sqlite": sqliteDSN, "mariadb": mariadbDSN, "postgres": postgresDSN} {
			all = append(all, scenario{name, engine, func(t *testing.T, w *World) string {
				dsn := newDSN(t)
				run(t, w, dsn)
				return dsn
			}})
		}
	}
	onServers := func(name string, run func(t *testing.T, w *World, server victim, dsn string)) {
		for engine, private := range map[string]func(*testing.T) (victim, string){"mariadb": privateMariaDB, "postgres": privatePostgres} {
			all = append(all, scenario{name, engine, func(t *testing.T, w *World) string {
				server, dsn := private(t)
				run(t, w, server, dsn)
				return dsn
			}})
		}
	}
	onEach("kill -9 in a loop, clock stepped", killLoop)
	onEach("clock refused at start", wrongClock)
	onEach("frozen beyond the lease", frozen)
	onEach("two started at once", twoAtOnce)
	onServers("database killed, then frozen, then killed with the process", func(t *testing.T, w *World, server victim, dsn string) {
		databaseKilled(t, w, server, dsn)
		databaseFrozen(t, w, server, dsn)
		machineKilled(t, w, server, dsn)
	})
	return append(all,
		scenario{"free servers", "sqlite", func(t *testing.T, w *World) string { dsn := sqliteDSN(t); crowd(t, w, dsn); return dsn }},
		scenario{"free servers", "mariadb", func(t *testing.T, w *World) string { dsn := crowdedServer(t); crowd(t, w, dsn); return dsn }},
		scenario{"free servers", "postgres", func(t *testing.T, w *World) string { dsn := crowdedPostgres(t); crowd(t, w, dsn); return dsn }},
		scenario{"database locked", "sqlite", databaseLocked},
		scenario{"disk full", "sqlite", diskFullSQLite},
		scenario{"disk full", "mariadb", diskFullMariaDB},
		scenario{"disk full", "postgres", diskFullPostgres},
	)
}

func TestTorture(t *testing.T) {
	servertest.NotShort(t)
	var mu sync.Mutex
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "scenario\tengine\tprocesses\tfaults\tIDs\tduplicates\torder violations\ttime")
	t.Run("scenario", func(t *testing.T) {
		for _, s := range scenarios() {
			t.Run(strings.ReplaceAll(s.name, " ", "-")+"/"+s.engine, func(t *testing.T) {
				t.Parallel()
				start := time.Now()
				w := NewWorld(t)
				db := open(t, s.run(t, w))
				tally := w.Check(db)
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", s.name, s.engine,
					tally.Processes, tally.Faults, tally.IDs, tally.Duplicates, tally.Disorder, time.Since(start).Round(time.Second))
			})
		}
	})
	out.Flush()
	t.Log("\n" + table.String())
}

// config is that of a process that waits long for its database, because the
// machine may be busy.
func config(dsn string) Config { return windowed(dsn, 10*time.Second) }

// windowed is for what has to wait for the end of a reservation or a lease.
func windowed(dsn string, window time.Duration) Config {
	return Config{
		DSN: dsn, Server: 7, Rows: true,
		Options: gameid.Options{Window: window},
	}
}

func sqliteDSN(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "game.db") }

func mariadbDSN(t *testing.T) string { return "mysql:" + servertest.DSN(t) }

func postgresDSN(t *testing.T) string { return servertest.PostgresDSN(t) }
