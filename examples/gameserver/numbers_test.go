package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/number"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// join lets players join, several at once, and returns their numbers, sorted.
func join(c client, names string, players int) []number.Number {
	c.t.Helper()
	const clients = 4
	got := make([]number.Number, players)
	var wg sync.WaitGroup
	for first := range clients {
		wg.Go(func() {
			for i := first; i < players; i += clients {
				var player publicPlayer
				if err := c.try("POST", "/players", map[string]any{"account": "a", "name": fmt.Sprintf("%s%d", names, i)}, &player); err != nil {
					c.t.Error(err)
				}
				got[i] = player.Number
			}
		})
	}
	wg.Wait()
	slices.Sort(got)
	return got
}

// Every player has a number of his own, through kills and restarts. They are
// dense: what was taken and not given away by a process that was killed is all
// that is missing.
func TestNumbers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		config := writeConfig(t, 7, dsn)
		const rounds, players = 4, 30
		var all []number.Number
		for round := range rounds {
			p := serving(t, nil, "-config", config)
			got := join(p.client, fmt.Sprintf("r%d.", round), players)
			if last := len(all) - 1; last >= 0 && got[0] <= all[last] {
				t.Errorf("round %d begins with %s, the one before ended with %s", round, got[0], all[last])
			}
			all = append(all, got...)
			if round%2 == 0 {
				p.kill()
			} else {
				p.terminate(t)
			}
		}
		for i, n := range all {
			if !n.Checked() || number.Pretty(n) || !strings.HasPrefix(n.String(), "917") || i > 0 && n == all[i-1] {
				t.Errorf("number %s, after %s", n, all[max(0, i-1)])
			}
		}
		// Two kills, at each of which at most two blocks of some hundreds.
		if spread := (all[len(all)-1] - all[0]) / 10; spread > 2000 {
			t.Errorf("%d players have numbers from %s to %s", len(all), all[0], all[len(all)-1])
		}
	})
}

// A number that is mistyped finds nobody, and never somebody else: with one
// digit wrong, or two neighbours swapped.
func TestMistypedNumber(t *testing.T) {
	s := newTestServer(t, sqliteDSN(t), nil, time.Minute)
	numbers := join(s.client, "p", 30)
	try := func(text string) {
		t.Helper()
		status, answer, err := s.send("GET", "/players?number="+text, nil)
		if status != http.StatusBadRequest || err != nil || !strings.Contains(string(answer), `"field":"number"`) {
			t.Errorf("%s: %d %s, %v", text, status, answer, err)
		}
	}
	for _, n := range numbers[:3] {
		var found publicPlayer
		s.ask("GET", "/players?number="+n.String(), nil, &found)
		if found.Number != n {
			t.Errorf("%s finds %+v", n, found)
		}
		digits := []byte(n.String())
		for i, digit := range digits {
			for wrong := byte('0'); wrong <= '9'; wrong++ {
				if digits[i] = wrong; wrong != digit {
					try(string(digits))
				}
			}
			digits[i] = digit
			if i > 0 && digits[i-1] != digit {
				digits[i-1], digits[i] = digits[i], digits[i-1]
				try(string(digits))
				digits[i-1], digits[i] = digits[i], digits[i-1]
			}
		}
	}
}

// Who was here before there were numbers has none, and is found by name.
func TestPlayerWithoutNumber(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		s := newTestServer(t, dsn, nil, time.Minute)
		for _, name := range []string{"Old", "Older"} {
			id, err := s.players.Next()
			if err != nil {
				t.Fatal(err)
			}
			now := entity.Time(s.now())
			if err := starter.Players.Insert(t.Context(), s.db, entity.Player{ID: id, Account: "a", Name: name, Level: 1, CreatedAt: now, UpdatedAt: now}); err != nil {
				t.Fatal(err)
			}
			var raw map[string]json.RawMessage
			s.ask("GET", "/players?name="+name, nil, &raw)
			if _, found := raw["number"]; found || raw["id"] == nil {
				t.Errorf("%s: %s", name, raw)
			}
		}
	})
}

// Numbers go on after those that the players have, also where the database was
// made anew from them, and leave out what people would fight over.
func TestNextNumber(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		bare := number.Number(9_110_001)
		for !number.Pretty(bare.WithCheck()) {
			bare++
		}
		db := openStore(t, dsn)
		if err := storetest.Create(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		id, err := gameid.Make(time.Now().Add(-time.Hour), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		now := entity.Time(time.Now())
		err = starter.Players.Insert(t.Context(), db, entity.Player{ID: gameid.As[entity.Player](id), Account: "a", Name: "Last", Level: 1,
			CreatedAt: now, UpdatedAt: now, Number: (bare - 1).WithCheck()})
		if err != nil {
			t.Fatal(err)
		}
		p := serving(t, nil, "-config", writeConfig(t, 1, dsn))
		if got, want := join(p.client, "p", 1)[0], (bare + 1).WithCheck(); got != want {
			t.Errorf("the number %s, want %s, after %s and without %s", got, want, (bare - 1).WithCheck(), bare.WithCheck())
		}
		p.terminate(t)
	})
}

// Without numbers nobody can join, and everything else goes on.
func TestNoMoreNumbers(t *testing.T) {
	s := newTestServer(t, sqliteDSN(t), nil, time.Minute)
	join(s.client, "p", 1)
	if err := s.numbers.Close(); err != nil {
		t.Fatal(err)
	}
	status, answer, err := s.send("POST", "/players", `{"account":"a","name":"late"}`)
	if status != http.StatusServiceUnavailable || err != nil || !strings.Contains(string(answer), "no player numbers are left for now, and nothing was changed") {
		t.Errorf("%d %s, %v", status, answer, err)
	}
	if n := rows(t, s.db)["players"]; n != 1 {
		t.Errorf("%d players, want 1", n)
	}
	s.ask("GET", "/players?name=p0", nil, new(any))
}

// After a merge players are found as before: by their links and by their
// numbers, of which no two are the same.
func TestMerge(t *testing.T) {
	for _, dsn := range []func(*testing.T) string{sqliteDSN, mariadbDSN} {
		t.Run("", func(t *testing.T) {
			from, to := dsn(t), dsn(t)
			known := make(map[publicID[entity.Player]]publicPlayer)
			for i, dsn := range []string{from, to} {
				p := serving(t, nil, "-config", writeConfig(t, i+1, dsn))
				for j := range 30 {
					var player publicPlayer
					p.ask("POST", "/players", map[string]any{"account": "a", "name": fmt.Sprintf("p%d.s%d", j, i+1)}, &player)
					known[player.ID] = player
				}
				p.terminate(t)
			}
			target := openStore(t, to)
			for player, err := range starter.Players.Each(t.Context(), openStore(t, from), "TRUE") {
				if err == nil {
					err = starter.Players.Insert(t.Context(), target, player)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if len(known) != 60 {
				t.Errorf("%d players are known, want 60", len(known))
			}
			p := serving(t, nil, "-config", writeConfig(t, 2, to))
			for id, want := range known {
				for _, path := range []string{"/players/" + string(id), "/players?number=" + want.Number.String()} {
					var got publicPlayer
					if p.ask("GET", path, nil, &got); got != want {
						t.Errorf("%s is %+v, was %+v", path, got, want)
					}
				}
			}
			p.terminate(t)
		})
	}
}

// While the fleet registry is away players join as long as there are numbers
// in memory, then nobody joins and the rest of the game goes on, also through
// a restart. When it is back, so are the numbers.
func TestFleetAway(t *testing.T) {
	t.Parallel()
	database := servertest.Private(t)
	dsn, err := database.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shared, err := fleet.Open("mysql:" + dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	if err := shared.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.Claim(t.Context(), "s7", 7, fleet.Note{By: "test"}); err != nil {
		t.Fatal(err)
	}
	config := writeConfigWithKeys(t, 7, sqliteDSN(t), publicKeySection(1, testKey)+fmt.Sprintf("[registry]\ndsn = %q\n", "mysql:"+dsn))
	p := serving(t, nil, "-config", config)
	all := join(p.client, "before", 5)
	if err := database.Kill(); err != nil {
		t.Fatal(err)
	}
	late := 0
	tryJoin := func() (status int) {
		t.Helper()
		var player publicPlayer
		err := p.try("POST", "/players", map[string]any{"account": "a", "name": fmt.Sprintf("late%d", late)}, &player)
		late++
		if err == nil {
			all = append(all, player.Number)
			return http.StatusCreated
		}
		return statusOf(err)
	}
	status := tryJoin()
	if status != http.StatusCreated {
		t.Errorf("with numbers in memory: %d", status)
	}
	for status == http.StatusCreated && late < 10_000 {
		status = tryJoin()
	}
	if status != http.StatusServiceUnavailable {
		t.Errorf("without numbers: %d", status)
	}
	p.ask("GET", "/players?name=before0", nil, new(any))
	p.kill()

	p = serving(t, nil, "-config", config)
	if status := tryJoin(); status != http.StatusServiceUnavailable {
		t.Errorf("after a restart: %d", status)
	}
	p.ask("GET", "/players?name=before0", nil, new(any))
	if status, metrics, err := p.send("GET", "/metrics", nil); status != http.StatusOK || err != nil || !strings.Contains(string(metrics), "\nplayer_numbers_failing 1\n") {
		t.Errorf("metrics: %d, %v\n%s", status, err, metrics)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := database.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	storetest.Await(t, "players join again", func() bool { return tryJoin() == http.StatusCreated })
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) != len(all) || all[0] < 10_000_000 {
		t.Errorf("a number came twice, or not from the fleet: %v", all)
	}
	p.terminate(t)
}

// With a fleet registry all worlds share one sequence. A world that was alone
// before keeps the numbers that it has.
func TestFleetNumbers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, fleetDSN string) {
		shared, err := fleet.Open(fleetDSN)
		if err != nil {
			t.Fatal(err)
		}
		defer shared.Close()
		if err := shared.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		dsn := sqliteDSN(t)
		alone := serving(t, nil, "-config", writeConfig(t, 1, dsn))
		early := join(alone.client, "early", 3)
		alone.terminate(t)

		registry := publicKeySection(1, testKey) + fmt.Sprintf("[registry]\ndsn = %q\n", fleetDSN)
		var all []number.Number
		for i, dsn := range []string{dsn, sqliteDSN(t)} {
			server := gameid.ServerID(i + 1)
			if _, err := shared.Claim(t.Context(), fmt.Sprintf("s%d", server), server, fleet.Note{By: "test"}); err != nil {
				t.Fatal(err)
			}
			p := serving(t, nil, "-config", writeConfigWithKeys(t, int(server), dsn, registry))
			all = append(all, join(p.client, "late", 30)...)
			if i == 0 {
				for _, n := range early {
					p.ask("GET", "/players?number="+n.String(), nil, new(any))
				}
			}
			defer p.terminate(t) // both run at once
		}
		slices.Sort(all)
		for i, n := range all {
			if n < 10_000_000 || n > 10_100_000 || !n.Checked() || i > 0 && n == all[i-1] {
				t.Errorf("number %s, after %s", n, all[max(0, i-1)])
			}
		}
		for _, n := range early {
			if !strings.HasPrefix(n.String(), "911") {
				t.Errorf("a world without a fleet gave the number %s", n)
			}
		}
	})
}
