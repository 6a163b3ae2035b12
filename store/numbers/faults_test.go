package numbers_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/storetest/faulty"
)

// exhausted takes numbers until there are none, and returns them and why.
func exhausted(t testing.TB, n *numbers.Sequence) (got []number.Number, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		next, err := n.Next(ctx)
		if err != nil {
			return got, err
		}
		got = append(got, next)
	}
}

// recovered waits for numbers to come again, and returns the first.
func recovered(t testing.TB, n *numbers.Sequence) number.Number {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got, err := n.Next(t.Context()); err == nil {
			return got
		}
	}
	t.Fatalf("it does not recover: %v", n.Stats().Err)
	return 0
}

// numbersOutage takes the database away from a sequence, which has one block of 20 in
// memory, and gives it back.
func numbersOutage(t *testing.T, n *numbers.Sequence, cause error, take, back func()) {
	t.Helper()
	first := recovered(t, n) // a busy machine may take longer than Timeout for the first block
	take()
	got, err := exhausted(t, n)
	e, ok := errors.AsType[*numbers.Error](err)
	if !ok || e.Sequence != "player" || !errors.Is(err, cause) || !strings.Contains(err.Error(), `no number of the sequence "player" from`) {
		t.Errorf("without a database: %v", err)
	}
	same(t, "to the end of what it had", got, run(first+1, first+19))
	stats := n.Stats()
	if stats.Left != 0 || stats.Failures == 0 || !errors.Is(stats.Err, cause) {
		t.Errorf("stats %+v", stats)
	}
	// It says so at once, however often it is asked.
	start := time.Now()
	for range 1000 {
		if _, err := n.Next(t.Context()); !errors.Is(err, cause) {
			t.Fatalf("asked again: %v", err)
		}
	}
	if took := time.Since(start); took > time.Minute { // as many attempts take longer
		t.Errorf("1000 refusals took %s", took)
	}
	back()
	// What was asked for meanwhile may have been done.
	if again := recovered(t, n); again <= got[len(got)-1] {
		t.Errorf("after the outage %d comes again", again)
	}
	if stats := n.Stats(); stats.Err != nil {
		t.Errorf("stats after the outage: %+v", stats)
	}
}

var blocksOf20 = numbers.Options{MinBlock: 20, MaxBlock: 20, Timeout: time.Second}

func TestNumbersOutageMariaDB(t *testing.T) {
	server := servertest.Private(t)
	dsn, err := server.Database(t.Context())
	must(t, err)
	f := newFleet(t, "mysql:"+dsn)
	o := blocksOf20
	o.Start = 100 // no gaps there
	n := shared(t, f).open(t, o)
	numbersOutage(t, n, store.ErrUnavailable,
		func() { must(t, server.Kill()) },
		func() { must(t, server.Restart(t.Context())) })

	// Opened while it is away, too.
	must(t, server.Kill())
	late := shared(t, openFleet(t, "mysql:"+dsn)).open(t, blocksOf20)
	if got, err := late.Next(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("opened without a database: %d, %v", got, err)
	}
	must(t, server.Restart(t.Context()))
	if got := recovered(t, late); got < 140 { // there were blocks before
		t.Errorf("opened without a database, it then begins with %d", got)
	}
	must(t, late.Close())
	must(t, n.Close())
}

func TestNumbersOutageSQLite(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "game.db")
	db := withTables(t, dsn)
	ran(t, db, 7)
	n := share(t, db).open(t, blocksOf20)
	unlock, done := make(chan struct{}), make(chan error, 1)
	numbersOutage(t, n, context.DeadlineExceeded, // or of SQLite, where it gives up sooner
		func() {
			locked := make(chan struct{})
			other := open(t, dsn)
			go func() {
				done <- other.InTx(context.Background(), func(*store.Tx) error {
					close(locked)
					<-unlock
					return nil
				})
			}()
			<-locked
		},
		func() {
			close(unlock)
			must(t, <-done)
		})
}

// Where numbers are used up and a block is on its way, Next waits for it: as
// long as its context lets it, and until Close.
func TestNumbersWait(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "game.db")
	db := withTables(t, dsn)
	ran(t, db, 7)
	o := numbers.Options{MinBlock: 1, MaxBlock: 1, Timeout: time.Minute}
	n := share(t, db).open(t, o)
	closed := make(chan error, 1)
	must(t, open(t, dsn).InTx(t.Context(), func(*store.Tx) error {
		take(t, n, 1)
		short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if got, err := n.Next(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while it waits: %d, %v", got, err)
		}
		waiting := make(chan error, 1)
		go func() {
			_, err := n.Next(context.Background())
			waiting <- err
		}()
		go func() { closed <- n.Close() }()
		if err := <-waiting; !errors.Is(err, numbers.ErrClosed) {
			t.Errorf("while it is closed: %v", err)
		}
		return nil
	}))
	must(t, <-closed)
}

// Close waits for a block that is being taken: broken off it would be lost.
func TestNumbersCloseWhileTaking(t *testing.T) {
	plain := servertest.DSN(t)
	dsn := "mysql:" + plain
	db := withTables(t, dsn)
	ran(t, db, 7)
	s := share(t, db)
	n := s.open(t, numbers.Options{Timeout: time.Minute})
	closed := make(chan error, 1)
	used := 17 // of 20: the next block is being asked for
	must(t, open(t, dsn).InTx(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), "UPDATE gameid_numbers SET updated_ms = updated_ms + 1"); err != nil {
			return err
		}
		take(t, n, used)
		servertest.AwaitRunning(t, plain, "LAST_INSERT_ID", true)
		go func() { closed <- n.Close() }()
		for {
			_, err := n.Next(t.Context())
			if errors.Is(err, numbers.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			used++
		}
	}))
	must(t, <-closed)
	next := number.Number(9170000 + used)
	same(t, "after Close", take(t, s.open(t, numbers.Options{}), 1), run(next, next))
}

// An answer that is lost loses a block, whether the statement was done or not,
// and no number comes twice.
func TestNumbersLostAnswers(t *testing.T) {
	for name, lost := range map[string]error{"connection": mysql.ErrInvalidConn, "end of file": io.ErrUnexpectedEOF, "bad connection": driver.ErrBadConn, "conflict": deadlock} {
		for _, done := range []bool{false, true} {
			if done && lost != mysql.ErrInvalidConn && lost != io.ErrUnexpectedEOF {
				continue // these say that it was not done
			}
			t.Run(name, func(t *testing.T) {
				dsn := "mysql:" + servertest.DSN(t)
				newFleet(t, dsn)
				var statements atomic.Int64
				connector, err := sqldb.NewConnector(dsn, sqldb.ReadWrite)
				must(t, err)
				pool := sql.OpenDB(&faulty.Wire{Connector: connector, Fault: func(what string) (error, bool) {
					if strings.Contains(what, "LAST_INSERT_ID") && statements.Add(1)%3 == 0 {
						return lost, done
					}
					return nil, false
				}})
				t.Cleanup(func() { pool.Close() })
				n := sequence(func(o numbers.Options) (*numbers.Sequence, error) {
					return numbers.OpenSharedVia(t.Context(), pool, sqldb.MySQL, "player", o)
				}).open(t, numbers.Options{MinBlock: 2, MaxBlock: 2})
				other := shared(t, openFleet(t, dsn)).open(t, numbers.Options{MinBlock: 2, MaxBlock: 2})
				seen := make(map[number.Number]bool)
				for range 60 {
					for _, n := range []*numbers.Sequence{n, other} {
						got := recovered(t, n)
						if seen[got] {
							t.Fatalf("%d came twice", got)
						}
						seen[got] = true
					}
				}
			})
		}
	}
}
