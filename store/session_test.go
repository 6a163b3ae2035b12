package store_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

func TestInTx(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		boom := errors.New("boom")
		n := 0
		insert := func(tx *store.Tx) {
			n++
			must(t, starter.Players.Insert(ctx, tx, player(n)))
			if _, err := starter.Players.Get(ctx, tx, storetest.ID[entity.Player](n)); err != nil {
				t.Errorf("a transaction does not see what it wrote: %v", err)
			}
		}
		count := func() int64 {
			n, err := starter.Players.Count(ctx, db, "TRUE")
			must(t, err)
			return n
		}
		must(t, db.InTx(ctx, func(tx *store.Tx) error { insert(tx); return nil }))
		if count() != 1 {
			t.Error("a commit is not there")
		}
		if err := db.InTx(ctx, func(tx *store.Tx) error { insert(tx); return boom }); err != boom {
			t.Errorf("InTx returned %v, want the error of f as it is", err)
		}
		func() {
			defer func() {
				if got := recover(); got != boom {
					t.Errorf("InTx panicked with %v, want what f did", got)
				}
			}()
			db.InTx(ctx, func(tx *store.Tx) error { insert(tx); panic(boom) })
		}()
		done := make(chan struct{})
		go func() {
			defer close(done)
			db.InTx(ctx, func(tx *store.Tx) error { insert(tx); runtime.Goexit(); return nil })
		}()
		<-done
		ended, cancel := context.WithCancel(ctx)
		err := db.InTx(ended, func(tx *store.Tx) error { insert(tx); cancel(); return nil })
		if !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("with a context that ended before the commit: %v", err)
		}
		if count() != 1 {
			t.Errorf("%d players, want only the one that was committed", count())
		}
		err = starter.Players.Insert(ended, db, player(50))
		if !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("an insert that never began: %v", err)
		}
		// More transactions than the pool has connections, all at once.
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				if err := db.InTx(ctx, func(tx *store.Tx) error { return starter.Players.Insert(ctx, tx, player(100+i)) }); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if count() != 101 {
			t.Errorf("%d players, want 101", count())
		}
	})
}

// No statement takes a transaction out of the hands of a DB or of InTx: what is acknowledged is there, what is not
// is not, and the connections of the pool stay as they are.
func TestNoTransactionByHand(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		dsn := newDSN()
		db := withTables(t, dsn)
		ctx := t.Context()
		statements := []string{"BEGIN", "-- now\nbegin", "SAVEPOINT one", "COMMIT", "/* now */ ROLLBACK"}
		switch db.Dialect() {
		case store.MySQL:
			statements = append(statements, "START TRANSACTION", "SET autocommit=0", "/*!50000 SET @@session.autocommit = 0 */", "LOCK TABLES players WRITE", "USE information_schema", "XA START 'one'")
		case store.SQLite:
			statements = append(statements, "SELECT 1; BEGIN", "END")
		case store.PostgreSQL:
			statements = append(statements, "START TRANSACTION", "ABORT", "SET search_path = pg_catalog", "SELECT 1; BEGIN")
		}
		n := 0
		add := func(s store.Session) error { n++; return starter.Players.Insert(ctx, s, player(n)) }
		var want []entity.Player
		for _, statement := range statements {
			for how, run := range map[string]func(store.Session) error{
				"Exec":   func(s store.Session) error { return storetest.Second(s.Exec(ctx, statement)) },
				"Get":    func(s store.Session) error { return s.Get(ctx, new(int), statement) },
				"Select": func(s store.Session) error { return s.Select(ctx, new([]int), statement) },
			} {
				refused := func(what string, err error) {
					if err == nil || !strings.Contains(err.Error(), "store: statement: ") {
						t.Errorf("%s %q by %s: %v", statement, what, how, err)
					}
				}
				refused("on the DB", run(db))
				must(t, add(db))
				want = append(want, player(n))
				if strings.HasPrefix(statement, "SAVEPOINT") {
					continue // within a transaction it is of use
				}
				failed := errors.New("it failed")
				is(t, db.InTx(ctx, func(tx *store.Tx) error {
					must(t, add(tx))
					refused("in a transaction that fails", run(tx))
					must(t, add(tx))
					return failed
				}), []error{failed})
				must(t, db.InTx(ctx, func(tx *store.Tx) error {
					must(t, add(tx))
					want = append(want, player(n))
					refused("in a transaction", run(tx))
					return nil
				}))
			}
		}
		must(t, db.InTx(ctx, func(tx *store.Tx) error {
			exec(t, tx, "SAVEPOINT one")
			must(t, add(tx))
			exec(t, tx, "ROLLBACK TO SAVEPOINT one")
			exec(t, tx, "RELEASE SAVEPOINT one")
			return nil
		}))
		if db.Dialect() == store.MySQL {
			must(t, db.InTx(ctx, func(tx *store.Tx) error {
				exec(t, tx, "CREATE TEMPORARY TABLE one (a INT)")
				if _, err := tx.Exec(ctx, "TRUNCATE items"); err == nil || !strings.Contains(err.Error(), "TRUNCATE commits the transaction") {
					t.Error(err)
				}
				return nil
			}))
		}
		must(t, db.Close())
		if got := collect(t, starter.Players.Each(ctx, open(t, dsn), "TRUE")); !slices.Equal(got, want) {
			t.Errorf("%d rows are there, want the %d that were acknowledged", len(got), len(want))
		}
	})
}

func TestSnapshot(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		owner := player(1)
		must(t, starter.Players.Insert(ctx, db, owner))
		before := items(300, owner)
		must(t, starter.Items.Insert(ctx, db, before...))
		must(t, db.Snapshot(ctx, func(tx *store.Tx) error {
			seen := collect(t, starter.Players.Each(ctx, tx, "TRUE"))
			// Another one writes meanwhile.
			must(t, starter.Players.Insert(ctx, db, player(2)))
			must(t, starter.Items.Insert(ctx, db, item(1000, owner)))
			must(t, starter.Items.Delete(ctx, db, before[0].ID))
			if again := collect(t, starter.Players.Each(ctx, tx, "TRUE")); !slices.Equal(again, seen) {
				t.Errorf("the snapshot has %d players after %d", len(again), len(seen))
			}
			if got := collect(t, starter.Items.Each(ctx, tx, "TRUE")); !slices.Equal(got, before) {
				t.Errorf("the snapshot has %d other items", len(got))
			}
			for what, err := range map[string]error{
				"insert": starter.Players.Insert(ctx, tx, player(3)),
				"update": starter.Players.Update(ctx, tx, owner, "gold"),
				"delete": starter.Items.Delete(ctx, tx, before[5].ID),
				"exec":   storetest.Second(tx.Exec(ctx, "DELETE FROM items")),
			} {
				if !errors.Is(err, store.ErrReadOnly) {
					t.Errorf("%s in a snapshot: %v", what, err)
				}
			}
			return nil
		}))
		must(t, starter.Items.Insert(ctx, db, before[0])) // the connection is as it was
	})
}

// A snapshot of SQLite refuses a change in what reads, too, and leaves the
// connection as it was, however it ends.
func TestSnapshotOfSQLite(t *testing.T) {
	game := "file:" + filepath.Join(t.TempDir(), "game.db") + "?_pragma=journal_mode(WAL)&_txlock=immediate"
	for name, params := range map[string]string{"writes": "", "never writes": "&_pragma=query_only(1)"} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			pool, err := sql.Open("sqlite", game+params)
			must(t, err)
			defer pool.Close()
			second, err := sql.Open("sqlite", game)
			must(t, err)
			defer second.Close()
			must(t, storetest.Second(second.Exec("CREATE TABLE IF NOT EXISTS counts (n BIGINT); DELETE FROM counts; INSERT INTO counts VALUES (1)")))
			pool.SetMaxOpenConns(1) // so it is the same connection
			db, err := store.WrapTwo(ctx, pool, second, store.SQLite)
			must(t, err)
			var before, after int
			must(t, pool.QueryRow("PRAGMA query_only").Scan(&before))
			change := func(ctx context.Context, tx *store.Tx) {
				for _, err := range []error{
					tx.Get(ctx, new(int), "UPDATE counts SET n = n + 100 RETURNING n"),
					tx.Select(ctx, new([]int), "INSERT INTO counts VALUES (2) RETURNING n"),
				} {
					if !errors.Is(err, store.ErrReadOnly) {
						t.Errorf("a change in a snapshot: %v", err)
					}
				}
			}
			must(t, db.Snapshot(ctx, func(tx *store.Tx) error { change(ctx, tx); return nil }))
			is(t, db.Snapshot(ctx, func(tx *store.Tx) error { change(ctx, tx); return store.ErrInvalid }), []error{store.ErrInvalid})
			func() {
				defer func() { recover() }()
				db.Snapshot(ctx, func(tx *store.Tx) error { panic("a bug") })
			}()
			ended, cancel := context.WithCancel(ctx)
			db.Snapshot(ended, func(tx *store.Tx) error { change(ended, tx); cancel(); return nil })
			must(t, pool.QueryRow("PRAGMA query_only").Scan(&after))
			if after != before {
				t.Errorf("query_only is %d, was %d", after, before)
			}
			var all []int
			if must(t, db.Select(ctx, &all, "SELECT n FROM counts")); !slices.Equal(all, []int{1}) {
				t.Errorf("the rows are %v, want 1", all)
			}
		})
	}
}

// What was locked stays true until the commit, and transactions that lock the same rows in another order do not deadlock.
func TestLock(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		must(t, starter.Players.Insert(ctx, db, player(0), player(1)))
		var wg sync.WaitGroup
		for i := range 8 {
			from, to := player(i%2).ID, player(1-i%2).ID
			wg.Go(func() {
				for range 10 {
					if err := db.InTxOnce(ctx, func(tx *store.Tx) error {
						both, err := starter.Players.Lock(ctx, tx, from, to)
						if err != nil {
							return err
						}
						if both[0].ID != from || both[1].ID != to {
							t.Errorf("got %s and %s, want %s and %s", both[0].ID, both[1].ID, from, to)
						}
						for _, p := range both {
							p.Gold++
							if err := starter.Players.Update(ctx, tx, p, "gold"); err != nil {
								return err
							}
						}
						return nil
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for i := range 2 {
			if p, err := starter.Players.Get(ctx, db, player(i).ID); err != nil || p.Gold != int64(80+i) {
				t.Errorf("80 times one gold and %d made %d, %v", i, p.Gold, err)
			}
		}
		is(t, db.InTx(ctx, func(tx *store.Tx) error {
			return storetest.Second(starter.Players.Lock(ctx, tx, player(0).ID, player(7).ID))
		}), []error{store.ErrNotFound})
	})
}

// A real deadlock ends one of the two, and InTx calls that one again.
func TestDeadlock(t *testing.T) {
	t.Run("mysql", func(t *testing.T) {
		db := withTables(t, "mysql:"+servertest.DSN(t))
		ctx := t.Context()
		must(t, starter.Players.Insert(ctx, db, player(1), player(2)))
		ids := []gameid.Of[entity.Player]{storetest.ID[entity.Player](1), storetest.ID[entity.Player](2)}
		var wg, both sync.WaitGroup
		both.Add(2)
		var calls atomic.Int32
		for i := range 2 {
			first := true
			wg.Go(func() {
				if err := db.InTx(ctx, func(tx *store.Tx) error {
					calls.Add(1)
					if _, err := starter.Players.Lock(ctx, tx, ids[i]); err != nil {
						return err
					}
					if first { // each holds one row and wants the other
						first = false
						both.Done()
						both.Wait()
					}
					return storetest.Second(starter.Players.Lock(ctx, tx, ids[1-i]))
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := calls.Load(); n < 3 {
			t.Errorf("%d calls of two transactions, want one more", n)
		}
	})
}

func TestRetry(t *testing.T) {
	boom := errors.New("boom")
	for _, test := range []struct {
		name   string
		errs   []error // of the calls; the last goes on
		calls  int
		want   error
		cancel bool
		once   bool
	}{
		{name: "success", errs: []error{nil}, calls: 1},
		{name: "another error", errs: []error{boom}, calls: 1, want: boom},
		{name: "success later", errs: []error{store.ErrRetryable, store.ErrRetryable, nil}, calls: 3},
		{name: "another error later", errs: []error{store.ErrRetryable, boom}, calls: 2, want: boom},
		{name: "never", errs: []error{store.ErrRetryable}, calls: 10, want: store.ErrRetryable},
		{name: "context ended", errs: []error{store.ErrRetryable}, calls: 1, want: store.ErrRetryable, cancel: true},
		{name: "once", errs: []error{store.ErrRetryable}, calls: 1, want: store.ErrRetryable, once: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				db, m := mock(t)
				for i := range test.calls {
					m.ExpectBegin()
					if i == test.calls-1 && test.want == nil {
						m.ExpectCommit()
					} else {
						m.ExpectRollback()
					}
				}
				inTx := db.InTx
				if test.once {
					inTx = db.InTxOnce
				}
				calls, start := 0, time.Now()
				err := inTx(ctx, func(*store.Tx) error {
					calls++
					if test.cancel {
						cancel()
					}
					return test.errs[min(calls, len(test.errs))-1]
				})
				synctest.Wait()
				if calls != test.calls || !errors.Is(err, test.want) {
					t.Errorf("%d calls and %v, want %d and %v", calls, err, test.calls, test.want)
				}
				if waited := time.Since(start); waited > 511*time.Millisecond {
					t.Errorf("waited %s, want less than 1+2+4+...+256 ms", waited)
				}
			})
		})
	}
}

// Minting goes on while the game has all connections in transactions.
func TestRegistryHasItsOwnConnections(t *testing.T) {
	db := withTables(t, "mysql:"+servertest.DSN(t))
	n := db.Pool().Stats().MaxOpenConnections
	var wg, all sync.WaitGroup
	all.Add(n)
	release := make(chan struct{})
	for range n {
		wg.Go(func() {
			if err := db.InTx(t.Context(), func(tx *store.Tx) error { all.Done(); <-release; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if ok, err := storetest.World(db).CompareAndSet(t.Context(), 7, gameid.Record{}, claim); !ok || err != nil {
		t.Errorf("with %d transactions open: %v, %v", n, ok, err)
	}
	close(release)
	wg.Wait()
}

// Wherever a context is cancelled: what is refused is not there, unless the outcome is called unknown, and what is
// confirmed is there.
func TestCancelledAnywhere(t *testing.T) {
	type row struct {
		ID   int64 `db:"id"`
		Gold int64 `db:"gold"`
	}
	rows := store.MustTable[int64, row]("cancelled")
	onEach(t, func(t *testing.T, newDSN func() string) {
		db := storetest.Open(t, newDSN())
		exec(t, db, "CREATE TABLE cancelled (id BIGINT NOT NULL PRIMARY KEY, gold BIGINT NOT NULL)")
		for id := range int64(servertest.Scale(100, 400)) {
			ctx, cancel := context.WithCancel(t.Context())
			timer := time.AfterFunc(rand.N(2*time.Millisecond), cancel)
			err := db.InTx(ctx, func(tx *store.Tx) error { return rows.Insert(ctx, tx, row{id, 1}) })
			timer.Stop()
			cancel()
			if errors.Is(err, store.ErrOutcomeUnknown) {
				continue
			}
			there, failed := rows.Exists(t.Context(), db, "id = ?", id)
			must(t, failed)
			if there != (err == nil) {
				t.Fatalf("%v, and the row is there: %t", err, there)
			}
		}
	})
}
