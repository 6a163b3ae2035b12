package world

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// openWith opens the world with options.
func (w *world) openWith(t *testing.T, options Options) *Source {
	t.Helper()
	s, err := OpenWith(t.Context(), "w", w.dsn, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Without a snapshot every scan sees what is there when it begins, and nothing
// keeps the server from cleaning up.
func TestNoSnapshot(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		fill(t, e, w, 10)
		s := w.openWith(t, Options{NoSnapshot: true})
		for want := 10; want > 7; want-- {
			if rows := mustCollect(t, s.Scan(t.Context(), by("many", "id"))); len(rows) != want {
				t.Errorf("got %d rows, want %d", len(rows), want)
			}
			if n, err := s.Count(t.Context(), "many"); n != int64(want) || err != nil {
				t.Errorf("counted %d, %v", n, err)
			}
			w.exec(t, fmt.Sprintf("DELETE FROM many WHERE id = x'%020x'", want-1))
		}
		if e.name != "sqlite" {
			if _, err := s.conn.ExecContext(t.Context(), "SET TRANSACTION READ ONLY"); err != nil { // as it is in a transaction
				t.Error(err)
			}
			if _, err := s.conn.ExecContext(t.Context(), "DELETE FROM many"); err == nil {
				t.Error("a write was carried out")
			}
		}
	})
}

// A pause is made before every batch, and its error ends the scan.
func TestPause(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		fill(t, e, w, 3*batchRows)
		calls, stop := 0, errors.New("enough")
		var end error
		s := w.openWith(t, Options{Pause: func(ctx context.Context) error {
			if calls++; calls > 2 {
				return end
			}
			return ctx.Err()
		}})
		if rows := mustCollect(t, s.Scan(t.Context(), by("many", "id"))); len(rows) != 3*batchRows || calls < 3 {
			t.Errorf("got %d rows after %d pauses", len(rows), calls)
		}
		calls, end = 0, stop
		if rows, err := collect(s.Scan(t.Context(), by("many", "id"))); !errors.Is(err, stop) || len(rows) != 2*batchRows {
			t.Errorf("got %d rows and %v", len(rows), err)
		}
		end = nil
		mustCollect(t, s.Scan(t.Context(), by("many", "id")))
	})
}

// How busy the server is can be asked while a scan is open.
func TestLoad(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, w *world) {
		fill(t, e, w, 2*batchRows)
		s := w.open(t)
		for _, err := range s.Scan(t.Context(), by("many", "id")) {
			if err != nil {
				t.Fatal(err)
			}
			n, err := s.Load(t.Context())
			if err != nil || (n > 0) != (e.name != "sqlite") {
				t.Errorf("the load is %d, %v", n, err)
			}
		}
	})
}

// Twenty SQLite databases together stay small in memory: each keeps few pages.
func TestSQLiteKeepsFewPages(t *testing.T) {
	t.Parallel()
	var kib int
	w := newSQLiteWorld(t)
	w.exec(t, "CREATE TABLE t (id INT)")
	s := w.open(t)
	if err := s.conn.QueryRowContext(t.Context(), "PRAGMA cache_size").Scan(&kib); err != nil || kib != -512 {
		t.Errorf("the cache is %d, %v", kib, err)
	}
}
