package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	view "mergesafe/merge/report"
	"mergesafe/merge/sqlsource"
	"mergesafe/merge/verdict"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// Two servers live through some play at the same time. Their worlds can be
// merged.
func TestTwoServers(t *testing.T) {
	for _, tt := range []struct {
		name string
		dsn  func(*testing.T) string
	}{{"sqlite", sqliteDSN}, {"mariadb", mariadbDSN}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const players, items = 12, 100
			dsns := []string{tt.dsn(t), tt.dsn(t)}
			var programs []*program
			for i, dsn := range dsns {
				programs = append(programs, serving(t, nil, "-config", writeConfig(t, i+1, dsn)))
			}
			var wg sync.WaitGroup
			for i, p := range programs {
				for j := range players {
					wg.Go(func() {
						if err := playOne(p.client, fmt.Sprintf("p%d.s%d", j, i+1), items); err != nil {
							t.Error(err)
						}
					})
				}
			}
			wg.Wait()
			for _, p := range programs {
				p.terminate(t)
			}

			report := check(t, dsns)
			if report.Verdict != verdict.Pass {
				t.Errorf("the verdict is %s", report.Verdict)
			}
			want := map[string]int64{"players": players, "items": players * items, "guilds": players, "guild_members": players}
			for _, source := range report.Worlds {
				for _, table := range source.Tables {
					if table.Rows != want[table.Table] {
						t.Errorf("%s: %d %s, want %d", source.Name, table.Rows, table.Table, want[table.Table])
					}
				}
				if len(source.Servers) != 1 || source.Servers[0].Name != source.Name {
					t.Errorf("%s has the servers %+v", source.Name, source.Servers)
				}
			}
			if t.Failed() {
				var text strings.Builder
				view.NewCheck(report).WriteText(&text, view.TextOptions{})
				t.Log(text.String())
			}
		})
	}
}

// playOne is the life of one player.
func playOne(c client, name string, items int) error {
	var player publicPlayer
	if err := c.try("POST", "/players", map[string]any{"account": "acc", "name": name}, &player); err != nil {
		return err
	}
	for range items / 50 {
		if err := c.try("POST", "/players/"+string(player.ID)+"/items", loot(50), new(any)); err != nil {
			return err
		}
	}
	if err := c.try("POST", "/guilds", map[string]any{"name": "Friends of " + name, "leader_id": player.ID}, new(any)); err != nil {
		return err
	}
	var view playerView
	err := c.try("GET", "/players?name="+name, nil, &view)
	if err == nil && (view.ID != player.ID || len(view.Items) != items || view.Guild == nil) {
		err = fmt.Errorf("%s has %d items and the guild %v", name, len(view.Items), view.Guild)
	}
	return err
}

// check runs the merge check on databases, named s1, s2, ...
func check(t *testing.T, dsns []string) *verdict.Report {
	t.Helper()
	var sources []catalog.Source
	for i, dsn := range dsns {
		source, err := sqlsource.Open(t.Context(), fmt.Sprintf("s%d", i+1), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		sources = append(sources, source)
	}
	report, err := merge.Check(t.Context(), sources, declare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A second process with the same configuration does not start, and one line
// says who was first. When the first is gone, there is nothing to wait for.
func TestSecondProcess(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		config := writeConfig(t, 1, dsn)
		first := serving(t, nil, "-config", config)
		address := strings.TrimPrefix(first.base, "http://") // which is taken too, and does not matter
		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			second := launch(t, nil, "-config", config, "-listen", address)
			if code := second.wait(t); code != exitNotStarted {
				t.Fatalf("the second process ends with %d, want %d\n%s", code, exitNotStarted, second.log())
			}
			line := second.log()
			if strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "gameserver: ") {
				t.Errorf("want one line, got:\n%s", line)
			}
			for _, want := range []string{
				"server 1 is already running",
				filepath.Base(os.Args[0]),
				fmt.Sprintf("pid %d", first.cmd.Process.Pid),
				"on " + host,
				" since 2",
				"lease until 2",
			} {
				if !strings.Contains(line, want) {
					t.Errorf("the line does not say %q: %s", want, line)
				}
			}
		}
		first.ask("POST", "/players", `{"account":"a","name":"Aria"}`, new(any))
		first.terminate(t)
		serving(t, nil, "-config", config).terminate(t)
	})
}

// A request that is under way when the server is told to stop gets its answer,
// and afterwards the lease is free.
func TestShutdown(t *testing.T) {
	dsn := sqliteDSN(t)
	p := serving(t, nil, "-config", writeConfig(t, 1, dsn))
	address := strings.TrimPrefix(p.base, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const body = `{"account":"a","name":"Aria"}`
	fmt.Fprintf(conn, "POST /players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	// The server says "continue" when the handler begins to read the body.
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := answers.ReadString('\n'); err != nil { // the end of its header
		t.Fatal(err)
	}

	p.cmd.Process.Signal(syscall.SIGTERM)
	storetest.Await(t, "no new connections", func() bool {
		other, err := net.Dial("tcp", address)
		if err == nil {
			other.Close()
		}
		return err != nil
	})
	io.WriteString(conn, body)
	resp, err := http.ReadResponse(answers, nil)
	if err != nil || resp.StatusCode != http.StatusCreated {
		t.Errorf("the request under way: %v, %v", resp, err)
	}
	if code := p.wait(t); code != exitOK {
		t.Errorf("exit code %d, want %d", code, exitOK)
	}

	db := openStore(t, dsn)
	servers, err := storetest.World(db).Servers(t.Context())
	if err != nil || len(servers) != 1 {
		t.Fatalf("%+v, %v", servers, err)
	}
	if s := servers[0]; s.Leased || !s.Holder.IsZero() || s.Name != "s1" {
		t.Errorf("the lease was not given back: %+v", s)
	}
	if aria, err := starter.Players.ByName(t.Context(), db, "Aria"); err != nil || aria.ID.Millis() > servers[0].Reserved {
		t.Errorf("%+v, %v; the mark is %d", aria, err, servers[0].Reserved)
	}
}

func openStore(t *testing.T, dsn string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// When another process has taken the number over, the server stops by itself
// and says who it was.
func TestLeaseLost(t *testing.T) {
	servertest.NotShort(t)
	t.Parallel()
	dsn := sqliteDSN(t)
	p := serving(t, nil, "-config", writeConfig(t, 1, dsn))
	registry := storetest.World(openStore(t, dsn))
	thief := gameid.Holder{Token: "another", Host: "host-b", PID: 4711, Program: "thief", Since: time.Now()}
	storetest.Await(t, "the lease is taken away", func() bool { // a renewal may come between
		rec, err := registry.Load(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := registry.CompareAndSet(t.Context(), 1, rec, gameid.Claim{Reserved: rec.Reserved, Holder: thief, Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return ok
	})
	if code := p.wait(t); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	if log := p.log(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "thief (pid 4711) on host-b") {
		t.Errorf("the log does not tell:\n%s", log)
	}
	if rec, err := registry.Load(t.Context(), 1); err != nil || rec.Holder.Token != thief.Token {
		t.Errorf("the new holder was disturbed: %+v, %v", rec, err)
	}
}

// The server is killed under load, again and again, and restarted with a clock
// that is right or an hour slow. No ID comes twice, and order holds.
func TestKill(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		const rounds, answers = 6, 60 // in each round
		config := writeConfig(t, 1, dsn)
		var all []gameid.ID // in the order of the rounds, each sorted
		for round := range rounds {
			var env []string
			args := []string{"-config", config}
			if slow := round%2 == 1; slow {
				env = append(env, envClock+"=-1h")
				refused(t, env, args)
				args = append(args, "-max-clock-skew", "2h")
			}
			p := serving(t, env, args...)
			got := load(p, round, answers)
			slices.SortFunc(got, gameid.ID.Compare)
			if len(all) > 0 && got[0].Compare(all[len(all)-1]) <= 0 {
				t.Errorf("round %d begins with %s, the one before went up to %s", round, got[0], all[len(all)-1])
			}
			all = append(all, got...)
		}
		if !slices.IsSortedFunc(all, gameid.ID.Compare) || len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Error("an ID came twice or out of order")
		}
		stored := storedIDs(t, openStore(t, dsn))
		for _, id := range all {
			if _, ok := stored[id]; !ok {
				t.Errorf("%s was answered and is not in the database", id)
			}
		}
		t.Logf("%d IDs answered over %d kills, %d stored", len(all), rounds, len(stored))
	})
}

// refused starts a server whose clock disagrees with the database's.
func refused(t *testing.T, env, args []string) {
	t.Helper()
	p := launch(t, env, args...)
	if code := p.wait(t); code != exitNotStarted {
		t.Fatalf("with a wrong clock it ends with %d, want %d\n%s", code, exitNotStarted, p.log())
	}
	// An hour, less what the database took to answer.
	want := regexp.MustCompile(`^gameserver: .* disagree by (1h0m0|59m[45]\d)s, at most 5m0s is allowed.*\n$`)
	if line := p.log(); !want.MatchString(line) {
		t.Errorf("with a wrong clock:\n%s", line)
	}
}

// load lets several clients play until they have that many answers together,
// kills the server, and returns all IDs that came back.
func load(p *program, round, answers int) (all []gameid.ID) {
	const clients, perCall = 4, 20
	public := testPublicIDs(p.t)
	var mu sync.Mutex
	var wg sync.WaitGroup
	enough := make(chan struct{})
	left := answers
	answered := func(ids ...gameid.ID) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, ids...)
		if left--; left == 0 {
			close(enough)
		}
	}
	for c := range clients {
		wg.Go(func() {
			var last gameid.ID
			rising := func(id gameid.ID) gameid.ID {
				if id.Compare(last) <= 0 {
					p.t.Errorf("%s came after %s", id, last)
				}
				last = id
				return id
			}
			for n := 0; ; n++ {
				var player publicPlayer
				var loots lootGiven
				name := fmt.Sprintf("r%d.c%d.n%d", round, c, n)
				err := p.try("POST", "/players", map[string]any{"account": "a", "name": name}, &player)
				if err == nil {
					answered(rising(opened(p.t, public.players, player.ID).ID()))
					err = p.try("POST", "/players/"+string(player.ID)+"/items", loot(perCall), &loots)
				}
				if err == nil {
					var ids []gameid.ID
					for _, item := range loots.Items {
						ids = append(ids, rising(opened(p.t, public.items, item.ID).ID()))
					}
					answered(ids...)
				}
				if statusOf(err) != 0 {
					p.t.Error(err)
				}
				if err != nil {
					return // killed
				}
			}
		})
	}
	select {
	case <-enough:
	case <-p.ended:
		p.t.Error("the server ended by itself")
	}
	p.kill()
	wg.Wait()
	return all
}

// storedIDs returns the IDs of all players, items and guilds.
func storedIDs(t *testing.T, db *store.DB) map[gameid.ID]string {
	t.Helper()
	ids := make(map[gameid.ID]string)
	add := func(id gameid.ID, table string) {
		if other, twice := ids[id]; twice {
			t.Errorf("%s is in %s and in %s", id, other, table)
		}
		ids[id] = table
	}
	for player, err := range starter.Players.Each(t.Context(), db, "TRUE") {
		if err != nil {
			t.Fatal(err)
		}
		add(player.ID.ID(), "players")
	}
	for item, err := range starter.Items.Each(t.Context(), db, "TRUE") {
		if err != nil {
			t.Fatal(err)
		}
		add(item.ID.ID(), "items")
	}
	for guild, err := range starter.Guilds.Each(t.Context(), db, "TRUE") {
		if err != nil {
			t.Fatal(err)
		}
		add(guild.ID.ID(), "guilds")
	}
	return ids
}

// The injected clock is what the test believes it to be: times an hour slow,
// IDs that rise nevertheless.
func TestSlowClock(t *testing.T) {
	dsn := sqliteDSN(t)
	config := writeConfig(t, 1, dsn)
	p := serving(t, nil, "-config", config)
	p.ask("POST", "/players", `{"account":"a","name":"before"}`, new(any))
	p.terminate(t)
	p = serving(t, []string{envClock + "=-1h"}, "-config", config, "-max-clock-skew", "61m")
	p.ask("POST", "/players", `{"account":"a","name":"after"}`, new(any))
	p.terminate(t)
	db := openStore(t, dsn)
	before, err := starter.Players.ByName(t.Context(), db, "before")
	if err != nil {
		t.Fatal(err)
	}
	after, err := starter.Players.ByName(t.Context(), db, "after")
	if err != nil {
		t.Fatal(err)
	}
	if slow := before.CreatedAt.Sub(after.CreatedAt); slow < 55*time.Minute || slow > time.Hour {
		t.Errorf("the clock was slow by %s, want an hour", slow)
	}
	if after.ID.Compare(before.ID) <= 0 {
		t.Errorf("%s came after %s", after.ID, before.ID)
	}
}

// Without its database the server answers 503, and goes on when it is back.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	database := servertest.Private(t)
	dsn, err := database.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := serving(t, nil, "-config", writeConfig(t, 1, "mysql:"+dsn))
	var aria publicPlayer
	p.ask("POST", "/players", `{"account":"a","name":"Aria"}`, &aria)
	var health map[string]string
	p.ask("GET", "/healthz", nil, &health)

	if err := database.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, request := range []struct{ method, path, body string }{
		{"GET", "/players/" + string(aria.ID), ""},
		{"GET", "/players?name=Aria", ""},
		{"POST", "/players", `{"account":"b","name":"Bo"}`},
		{"POST", "/players/" + string(aria.ID) + "/items", `{"items":[{"template":1,"count":1}]}`},
		{"POST", "/guilds", `{"name":"Owls","leader_id":"` + string(aria.ID) + `"}`},
		{"GET", "/healthz", ""},
	} {
		var body any
		if request.body != "" {
			body = request.body
		}
		status, answer, err := p.send(request.method, request.path, body)
		if status != http.StatusServiceUnavailable || err != nil {
			t.Errorf("%s %s without a database: %d %s, %v", request.method, request.path, status, answer, err)
		}
		if strings.Contains(string(answer), "127.0.0.1") {
			t.Errorf("the client learns where the database is: %s", answer)
		}
	}
	if status, _, _ := p.send("GET", "/metrics", nil); status != http.StatusOK {
		t.Errorf("/metrics without a database: %d", status)
	}

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := database.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	var bo publicPlayer
	storetest.Await(t, "the server recovers", func() bool {
		err := p.try("POST", "/players", `{"account":"b","name":"Bo"}`, &bo)
		if err != nil && statusOf(err) != http.StatusServiceUnavailable {
			t.Fatal(err)
		}
		return err == nil
	})
	players := testPublicIDs(t).players
	if before, after := opened(t, players, aria.ID), opened(t, players, bo.ID); after.Compare(before) <= 0 {
		t.Errorf("%s came after %s", after, before)
	}
	storetest.Await(t, "/healthz says so", func() bool { return p.try("GET", "/healthz", nil, &health) == nil })
	p.terminate(t)
}

// What keeps a server from starting is one clear line, and exit code 2.
func TestDoesNotStart(t *testing.T) {
	config := func(text string) string {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dsn := sqliteDSN(t)
	good := writeConfig(t, 1, dsn)
	foreign := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-config", "nowhere.toml"}, "nowhere.toml"},
		{[]string{"-config", config("[server]\nnumber = 1\n")}, "database is missing"},
		{[]string{"-config", config("[database]\ndsn = \"sqlite:x.db\"\n")}, "server.number is missing"},
		{[]string{"-config", config("[server]\nnumber = 1\nnmae = \"s1\"\n[database]\ndsn = \"sqlite:x.db\"\n")}, `did you mean "name"?`},
		{[]string{"-config", writeConfig(t, 1, "sqlite:/no/such/directory/x.db")}, "no directory"},
		{[]string{"-config", writeConfig(t, 1, "sqlite:"+foreign+"/x/y.db")}, "text.db"},
		{[]string{"-config", writeConfigWithKeys(t, 1, dsn, publicKeySection(1, "hunter2"))}, "public_id.key is not a key"},
		{[]string{"-config", writeConfigWithKeys(t, 1, dsn, "[[public_id]]\nversion = 1\nkey_env = \"NO_KEY\"\n")}, "NO_KEY, which is not set"},
		{[]string{"-config", writeConfig(t, 1, "sqlite:"+foreign)}, "not an SQLite database"},
		{[]string{"-config", writeConfig(t, 1, "mysql:game:hunter2@tcp(127.0.0.1:1)/s1")}, "nothing answers at 127.0.0.1:1"},
		{[]string{"-config", good, "-listen", taken.Addr().String()}, "address already in use"},
		{[]string{"-config", good, "-max-clock-skew", "-1s"}, "MaxSkew is -1s"},
	} {
		p := launch(t, nil, tt.args...)
		line := p.log()
		if code := p.wait(t); code != exitNotStarted || !strings.Contains(line, tt.want) || strings.Count(line, "\n") != 1 {
			t.Errorf("%v: exit code %d, want %d, with one line that says %q:\n%s", tt.args, code, exitNotStarted, tt.want, line)
		}
		if strings.Contains(line, "hunter2") {
			t.Errorf("the password is in the message: %s", line)
		}
	}
	for _, args := range [][]string{{"-nonsense"}, {"s1"}} {
		p := launch(t, nil, args...)
		if code := p.wait(t); code != exitNotStarted || !strings.Contains(p.log(), "For help: gameserver -h") {
			t.Errorf("%v: exit code %d\n%s", args, code, p.log())
		}
	}
	// A start that failed late has given the lease back.
	servers, err := openStore(t, dsn).Registry().Servers(t.Context())
	if err != nil || len(servers) != 1 || servers[0].Leased {
		t.Errorf("after all that: %+v, %v", servers, err)
	}
}

// The help names every flag and every route.
func TestHelp(t *testing.T) {
	var out, errs strings.Builder
	none := func(string) (string, bool) { return "", false }
	if code := run(t.Context(), []string{"-h"}, none, &out, &errs, nil); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, &errs)
	}
	for _, want := range []string{"\n  -config ", "\n  -listen ", "\n  -max-clock-skew ", "\n  -v ", "POST /players/{id}/items", "POST /guilds/{id}/members", "GET  /metrics", "Exit codes"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help does not mention %q", want)
		}
	}
}

// A server that cannot give its lease back says so.
func TestShutdownWithoutDatabase(t *testing.T) {
	t.Parallel()
	database := servertest.Private(t)
	dsn, err := database.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := serving(t, nil, "-config", writeConfig(t, 1, "mysql:"+dsn))
	if err := database.Kill(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.wait(t); code != exitFailed || !strings.Contains(p.log(), "giving back the lease of server 1") {
		t.Errorf("exit code %d, want %d\n%s", code, exitFailed, p.log())
	}
}
