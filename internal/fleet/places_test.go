package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mergesafe/internal/fleet"
	"mergesafe/internal/printable"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		set := func(p fleet.Place) { t.Helper(); must(t, f.SetPlace(t.Context(), p, note)) }
		labels := map[string]string{"language": "de", "zone": "Europe/Berlin"}
		set(fleet.Place{World: "w2", DSN: "sqlite:worlds/w2.db"})
		set(fleet.Place{World: "w1", DSN: "mysql:tcp(db1:3306)/old", Labels: labels})
		set(fleet.Place{World: "w1", DSN: "mysql:tcp(db1:3306,db2)/game?tls=true"}) // moved, and has no labels any more
		set(fleet.Place{World: "W1", DSN: "mysql:unix(/run/m.sock)/game", Labels: labels})
		set(fleet.Place{World: "w3", DSN: "sqlite:w3.db"})
		must(t, f.ForgetPlace(t.Context(), "w3"))
		if err := f.ForgetPlace(t.Context(), "w3"); err == nil || !strings.Contains(err.Error(), `no place of "w3" is known`) {
			t.Errorf("forgotten twice: %v", err)
		}
		got, err := f.Places(t.Context())
		must(t, err)
		want := []fleet.Place{
			{World: "W1", DSN: "mysql:unix(/run/m.sock)/game", Labels: labels, By: note.By, Why: note.Why},
			{World: "w1", DSN: "mysql:tcp(db1:3306,db2)/game?tls=true", By: note.By, Why: note.Why},
			{World: "w2", DSN: "sqlite:worlds/w2.db", By: note.By, Why: note.Why},
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(fleet.Place{}, "SetAt"), cmpopts.EquateEmpty()); diff != "" || got[0].SetAt.IsZero() {
			t.Errorf("at %v (-want +got):\n%s", got[0].SetAt, diff)
		}
		if dsn := got[1].WithAccount("u:p@:/x"); dsn != "mysql:u:p@:/x@tcp(db1:3306,db2)/game?tls=true" {
			t.Errorf("with an account: %s", dsn)
		}
		if dsn := got[2].WithAccount("u:p"); dsn != "sqlite:worlds/w2.db" {
			t.Errorf("with an account: %s", dsn)
		}
	})
}

// No password comes into the fleet registry, nor into the message that says so.
func TestPlacesHoldNoSecrets(t *testing.T) {
	t.Parallel()
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		for dsn, want := range map[string]string{
			"mysql:game:hunter2@tcp(db)/w1":            "it has an account in it: want no user and no password",
			"mysql:game@tcp(db)/w1":                    "it has an account in it",
			"mysql:tcp(db)/w1?password=hunter2":        "a parameter with \"pass\" in its name",
			"mysql:hunter2":                            "missing the slash",
			"mysql:tcp(hunter2:x)/w1":                  "the address is not a host",
			"mysql:tcp(db)/game:hunter2":               "the password before the address",
			"sqlite:game:hunter2@tcp(db)/w1":           "it may have a password in it: want the path of a file, without a colon",
			"sqlite:w1.db?password=hunter2":            "it may have a password in it: want a path of letters, digits",
			"postgres://game:hunter2@db/w1":            "unknown kind of database",
			"sqlite:hunter2\n":                         "none of them a control character",
			"sqlite:" + strings.Repeat("hunter2", 200): "at most 1024 characters",
			"": "the DSN is empty",
		} {
			err := f.SetPlace(t.Context(), fleet.Place{World: "w1", DSN: dsn}, note)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q: %v, want %q", dsn, err, want)
			}
		}
		for _, p := range []fleet.Place{
			{World: "", DSN: "sqlite:a"}, {World: "w*", DSN: "sqlite:a"}, {World: "-w", DSN: "sqlite:a"}, {World: "a:b", DSN: "sqlite:a"},
			{World: "w1", DSN: "sqlite:a", Labels: map[string]string{"two words": "x"}},
			{World: "w1", DSN: "sqlite:a", Labels: map[string]string{"zone": ""}},
			{World: "w1", DSN: "sqlite:a", Labels: map[string]string{"zone": "game:hunter2@tcp(db)/w1"}},
		} {
			if err := f.SetPlace(t.Context(), p, note); err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%+v: %v", p, err)
			}
		}
		if all, err := f.Places(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("refused places are there: %+v, %v", all, err)
		}
		// What another program wrote is not shown either.
		exec(t, f.DB(), "INSERT INTO fleet_places VALUES ('w1', 'mysql:game:hunter2@tcp(db)/w1', '{}', 0, '', '')")
		all, err := f.Places(t.Context())
		must(t, err)
		if text := fmt.Sprintf("%+v", all); len(all) != 1 || !strings.Contains(text, "it has an account in it") ||
			strings.Contains(text, "hunter2") {
			t.Errorf("a place with a password: %s", text)
		}
	})
}

// One place that cannot be used is named with the way to remove it, and the others are as ever.
func TestUnusablePlaces(t *testing.T) {
	t.Parallel()
	onOneWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		good := fleet.Place{World: "w2", DSN: "sqlite:w2.db"}
		must(t, f.SetPlace(t.Context(), good, note))
		rows := [][]any{ // world, place, labels, set_ms
			{"", "sqlite:a.db", "{}", 0},
			{"a*", "sqlite:a.db", "{}", 0},
			{"a\nb", "sqlite:a.db", "{}", 0},
			{"-w", "sqlite:a.db", "{}", 0},
			{"w1", "", "{}", 0},
			{"w1", "mysql:u:hunter2@tcp(db)/w1", "{}", 0},
			{"w1", "postgres:hunter2", "{}", 0},
			{"w1", "sqlite:a.db", "", 0},
			{"w1", "sqlite:a.db", "[1]", 0},
			{"w1", "sqlite:a.db", `{"language": 1}`, 0},
			{"w1", "sqlite:a.db", `{"two words": "x"}`, 0},
			{"w1", "sqlite:a.db", "{}", int64(1) << 62}, // a year that JSON cannot write
			{"w1", "sqlite:a.db", "{}", -int64(1) << 62},
		}
		if f.DB().Dialect() == "sqlite" { // which takes any value in any column
			rows = append(rows, []any{[]byte("w1"), "", "{}", 0}, []any{[]byte("w\xff"), "sqlite:a.db", "{}", 0},
				[]any{"w1", []byte("\xff"), "{}", 0}, []any{"w1", "sqlite:a.db", "{}", "soon"}, []any{"w1", "sqlite:a.db", "{}",
					1.5})
		}
		for _, row := range rows {
			_, err := f.DB().Exec(t.Context(),
				"INSERT INTO fleet_places (world, place, labels, set_ms, who, why) VALUES (?, ?, ?, ?, '', '')", row...)
			must(t, err)
			all, err := f.Places(t.Context())
			must(t, err)
			var bad, usable []fleet.Place
			for _, p := range all {
				if p.Err != nil {
					bad = append(bad, p)
				} else {
					usable = append(usable, p)
				}
			}
			if len(bad) != 1 || !strings.Contains(bad[0].Err.Error(), "gameid servers places forget -- ") ||
				bad[0].DSN != "" || bad[0].Labels != nil || strings.Contains(fmt.Sprintf("%+v", bad), "hunter2") {
				t.Errorf("%q: %+v", row, bad)
			}
			if _, err := json.Marshal(all); err != nil {
				t.Errorf("%q: %v", row, err)
			}
			if len(usable) != 1 || usable[0].World != good.World || usable[0].DSN != good.DSN {
				t.Errorf("beside %q: %+v, want w2 alone", row, usable)
			}
			for _, p := range bad {
				must(t, f.ForgetPlace(t.Context(), printable.Text(p.World)))
			}
			if all, err := f.Places(t.Context()); err != nil || len(all) != 1 {
				t.Errorf("%q is not removed: %+v, %v", row, all, err)
			}
		}
	})
}

func TestSetPlaceAtOnce(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		const many = 8
		var all sync.WaitGroup
		errs := make([]error, many)
		for i := range many {
			all.Go(func() {
				errs[i] = f.SetPlace(t.Context(), fleet.Place{World: "w1", DSN: fmt.Sprintf("sqlite:w%d.db", i)}, note)
			})
		}
		all.Wait()
		for _, err := range errs {
			must(t, err)
		}
		if places, err := f.Places(t.Context()); err != nil || len(places) != 1 {
			t.Errorf("%+v, %v; want one place", places, err)
		}
	})
}

// A change that waits for a row until its time is over says who has the row locked.
func TestPlaceBesideALock(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		place := fleet.Place{World: "s7", DSN: "sqlite:s7.db"}
		must(t, f.SetPlace(t.Context(), place, note))
		frozen, err := f.Pool().BeginTx(t.Context(), nil)
		must(t, err)
		defer frozen.Rollback()
		_, err = frozen.Exec("UPDATE fleet_places SET why = 'frozen' WHERE world = 's7'")
		must(t, err)
		for wait := time.Second; ; wait *= 4 { // on a busy machine it takes longer to come to the lock
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			err = f.SetPlace(ctx, place, note)
			cancel()
			said := err != nil && strings.Contains(err.Error(), "locked by ")
			if !errors.Is(err, context.DeadlineExceeded) || !said && wait > time.Minute {
				t.Fatal(err)
			}
			if said {
				break
			}
		}
	})
}
