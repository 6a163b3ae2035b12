package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// A server that takes connections and says nothing any more does not hold up
// the end of a transaction beyond its context, and no connection is kept.
func TestServerHangs(t *testing.T) {
	t.Run("mysql", func(t *testing.T) {
		server := servertest.Private(t)
		dsn, err := server.Database(t.Context())
		must(t, err)
		serverHangs(t, server, "mysql:"+dsn)
	})
	t.Run("postgres", func(t *testing.T) {
		server := servertest.PrivatePostgres(t)
		serverHangs(t, server, server.DSN())
	})
}

// lateContext is a context whose deadline passes when the channel is closed.
type lateContext struct {
	context.Context
	passed chan struct{}
}

func (c lateContext) Done() <-chan struct{} { return c.passed }

func (c lateContext) Err() error {
	select {
	case <-c.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func serverHangs(t *testing.T, server interface {
	Freeze() error
	Thaw() error
}, dsn string) {
	db := withTables(t, dsn)
	boom := errors.New("boom")
	for n, test := range []struct {
		name string
		late bool // the context has a deadline, which passes when a server that hangs was asked
		end  func(cancel func()) error
		run  func(context.Context, func(*store.Tx) error) error // instead of InTx
		want []error
		not  []error
	}{
		{name: "at the commit", late: true, end: func(func()) error { return nil },
			want: []error{context.DeadlineExceeded, store.ErrOutcomeUnknown}},
		{name: "at the rollback", late: true, end: func(func()) error { return boom },
			want: []error{boom}, not: []error{store.ErrOutcomeUnknown}},
		{name: "at the rollback, without a deadline", end: func(func()) error { return boom },
			want: []error{boom}, not: []error{store.ErrOutcomeUnknown}},
		{name: "the context ends before the commit", end: func(cancel func()) error { cancel(); return nil },
			want: []error{context.Canceled}, not: []error{store.ErrOutcomeUnknown}},
		{name: "the context ends before the rollback", end: func(cancel func()) error { cancel(); return boom },
			want: []error{boom}, not: []error{store.ErrOutcomeUnknown}},
		{name: "a snapshot", late: true, end: func(func()) error { return nil }, run: db.Snapshot},
	} {
		t.Run(test.name, func(t *testing.T) {
			thaw := func() { server.Thaw() }
			defer thaw()
			passed := make(chan struct{})
			freeze := func() {
				if err := server.Freeze(); err != nil {
					t.Error(err)
				}
				if test.late { // what precedes takes as long as it does
					go func() {
						defer close(passed)
						for !unread(t, dsn) && t.Context().Err() == nil {
							time.Sleep(10 * time.Millisecond)
						}
					}()
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.late {
				ctx = lateContext{ctx, passed}
			}
			done := make(chan error, 1)
			go func() {
				if test.run != nil {
					done <- test.run(ctx, func(tx *store.Tx) error {
						if _, err := starter.Players.Count(ctx, tx, "TRUE"); err != nil {
							return err
						}
						freeze()
						return test.end(cancel)
					})
					return
				}
				done <- db.InTx(ctx, func(tx *store.Tx) error {
					if err := starter.Players.Insert(ctx, tx, player(n)); err != nil {
						return err
					}
					freeze()
					return test.end(cancel)
				})
			}()
			var err error
			select {
			case err = <-done:
			case <-time.After(time.Minute):
				t.Fatal("the call waits for the server")
			}
			is(t, err, test.want, test.not...)
			await(t, "no connection is in use", func() bool { return db.Pool().Stats().InUse == 0 })
			thaw()

			// The server learns that the connection is gone: the row is not
			// locked any more, and it is there only if it may be.
			wait, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			again := starter.Players.Insert(wait, db, player(n))
			if unknown := len(test.want) > 1; again != nil && !(unknown && errors.Is(again, store.ErrDuplicate)) {
				t.Errorf("the same row again: %v", again)
			}
		})
	}
}

// unread reports whether a request has reached the server of a DSN, which has not read it: see proc_net_tcp(5).
func unread(t *testing.T, dsn string) bool {
	at, err := netip.ParseAddrPort(regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(dsn))
	table, failed := os.ReadFile("/proc/net/tcp")
	if err := errors.Join(err, failed); err != nil {
		t.Error(err)
		return true
	}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line) // sl local_address rem_address st tx_queue:rx_queue
		const established = "01"
		if strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", at.Port())) && fields[3] == established && !strings.HasSuffix(fields[4], ":00000000") {
			return true
		}
	}
	return false
}
