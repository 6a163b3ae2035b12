package worldregistry_test

import (
	"context"
	"database/sql/driver"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/store"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
	"mergesafe/store/storetest/faulty"
)

var (
	flagTables = flag.Int("outage.tables", 2, "how many tables the game of TestOutageReadsNoTables has")
	flagOutage = flag.Duration("outage.lasts", 0, "how long its database is away; 0: until the lease ends. Else the node has to mint within 5 s after that")
)

// A node whose lease ended in an outage reads its row when the database is back, and no
// catalogue and no table of the game, however many there are. To see that it mints again soon:
//
//	go run ./internal/servertest/with-server mariadb -- go test ./internal/worldregistry -run OutageReadsNoTables -outage.tables 5000 -outage.lasts 60s
func TestOutageReadsNoTables(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		wire := new(recorder)
		dsn := newDSN()
		games := storetest.Open(t, dsn)
		must(t, games.CreateRegistry(t.Context()))
		defer func() { // to drop all at once would take longer than the clean-up may
			for i := range *flagTables {
				_, err := games.Exec(context.Background(), fmt.Sprintf("DROP TABLE game%d", i))
				must(t, err)
			}
		}()
		for i := range *flagTables {
			exec(t, games, fmt.Sprintf("CREATE TABLE game%d (id BINARY(10) NOT NULL PRIMARY KEY)", i))
			exec(t, games, fmt.Sprintf("INSERT INTO game%d VALUES (?)", i), storetest.ID[any](i))
		}
		ctx := sqldb.Through(func(_ string, c driver.Connector) driver.Connector {
			return &faulty.Wire{Connector: c, Fault: wire.fault}
		}).With(t.Context())
		db, err := sqldb.Dial(ctx, dsn, sqldb.ReadWrite)
		must(t, err)
		t.Cleanup(func() { db.Close() })
		r, err := registry.Open(ctx, db.Pool().DB, games.Dialect())
		must(t, err)
		window := time.Second
		if *flagOutage > 0 {
			window = 0 // the default
		}
		node := storetest.Node(t, func(o store.NodeOptions) (*gameid.Node, error) { return r.OpenNode(ctx, 7, o) }, window)
		t.Cleanup(func() { node.Close() })
		if wire.scans() == 0 {
			t.Fatal("the node was opened without a look at the tables")
		}

		wire.set(true)
		time.Sleep(*flagOutage)
		storetest.Await(t, "the lease ends", func() bool { return node.Stats().Lease == gameid.LeaseExpired })
		before := node.Stats()
		wire.set(false)
		back := time.Now()
		storetest.Await(t, "the node reserves", func() bool { return node.Stats().Renewals > before.Renewals })
		storetest.Await(t, "it mints", func() bool { _, err := gameid.NewGenerator[any](node).Next(); return err == nil })
		if took := time.Since(back); *flagOutage > 0 && took > 5*time.Second {
			t.Errorf("it minted again %s after the database was back", took)
		} else {
			t.Logf("it minted again after %s", took)
		}
		must(t, node.Close())
		if n := wire.scans(); n > 0 {
			t.Errorf("after the outage %d statements looked at the tables", n)
		}
	})
}

// recorder notes the statements that reach a database, which may be away.
type recorder struct {
	mu         sync.Mutex
	away       bool
	statements []string
}

func (r *recorder) fault(what string) (error, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements = append(r.statements, what)
	if r.away {
		return mysql.ErrInvalidConn, false
	}
	return nil, false
}

// set says whether the database is away, and forgets what was noted.
func (r *recorder) set(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away, r.statements = away, nil
}

// scans counts the statements that look for keys in the catalogue, or at tables of the game.
func (r *recorder) scans() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.statements {
		for _, word := range []string{"information_schema.columns", "pragma_table_info", "pg_index", "game0"} {
			if strings.Contains(s, word) {
				n++
				break
			}
		}
	}
	return n
}
