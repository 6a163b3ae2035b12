package inventory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/world"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

// now is the moment of the tests: the next day begins after 3 hours.
var now = time.Date(2026, 11, 21, 21, 0, 0, 0, time.UTC)

const characters = "CREATE TABLE characters (guid INTEGER NOT NULL PRIMARY KEY, name VARCHAR(24) NOT NULL, logout_time BIGINT)"

func at(name, dsn string) Database {
	return Database{Database: merge.Database{Name: name, DSN: dsn}}
}

// sqlite makes a world in a file.
func sqlite(t testing.TB, name string, statements ...string) Database {
	return made(t, at(name, "sqlite:"+filepath.Join(t.TempDir(), name+".db")), statements...)
}

func made(t testing.TB, d Database, statements ...string) Database {
	t.Helper()
	storetest.ExecAll(t, d.DSN, statements...)
	return d
}

// onEach runs a test with worlds of each engine.
func onEach(t *testing.T, test func(t *testing.T, world func(name string, statements ...string) Database)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, func(name string, statements ...string) Database { return sqlite(t, name, statements...) })
	})
	t.Run("mysql", func(t *testing.T) {
		test(t, func(name string, statements ...string) Database {
			return made(t, at(name, "mysql:"+servertest.DSN(t)), statements...)
		})
	})
}

// logins are rows that were active so many hours before now.
func logins(first int, hours ...int) string {
	var rows []string
	for i, h := range hours {
		rows = append(rows, fmt.Sprintf("(%d, 'p%[1]d', %d)", first+i, now.Add(-time.Duration(h)*time.Hour).Unix()))
	}
	return "INSERT INTO characters VALUES " + strings.Join(rows, ", ")
}

func problems(inv *Inventory) (all []string) {
	for _, w := range inv.Worlds {
		if w.Problem != "" {
			all = append(all, w.Name+": "+w.Problem)
		}
	}
	return all
}

// An inventory says of each world what is in it.
func TestRead(t *testing.T) {
	onEach(t, func(t *testing.T, world func(string, ...string) Database) {
		worlds := []Database{
			world("w1", characters, "CREATE TABLE items (id INTEGER NOT NULL PRIMARY KEY)", logins(1, 0, 1, 23, 25, 30, 47, 24*6, 24*7, 24*29, 24*31), "INSERT INTO items VALUES (1), (2)"),
			world("w2", characters, "CREATE TABLE items (id INTEGER NOT NULL PRIMARY KEY)"),
			world("w3", strings.ReplaceAll(characters, "VARCHAR(24)", "VARCHAR(30)"), "CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY)"),
		}
		worlds[0].Labels = map[string]string{"language": "de"}
		lost := Database{Database: merge.Database{Name: "w4"}, Lost: errors.New("its place is unknown")}
		if p := problems(Read(t.Context(), append(worlds, lost), Options{Now: now})); !slices.Equal(p,
			[]string{"w4: its place is unknown"}) {
			t.Error(p)
		}
		inv := Read(t.Context(), worlds, Options{Players: "characters", Active: "logout_time", Now: now})
		if p := problems(inv); p != nil {
			t.Fatal(p)
		}
		w1, w2, w3 := inv.Worlds[0], inv.Worlds[1], inv.Worlds[2]
		if w1.Name != "w1" || w1.Labels["language"] != "de" || w1.Tables != 2 || w1.Rows != 12 || w1.Estimated || w1.Bytes < 8192 || w1.State != Unknown || w1.Version == "" || w1.Server == "" {
			t.Errorf("got %+v", w1)
		}
		if want := (Players{Total: 10, Active1: 3, Active7: 7, Active30: 9, Peak: 3}); *w1.Players != want {
			t.Errorf("got %+v, want %+v", *w1.Players, want)
		}
		if (*w2.Players != Players{}) || w2.Rows != 0 || w2.Schema != w1.Schema || w1.Drift != nil || w2.Drift != nil {
			t.Errorf("got %+v", w2)
		}
		want := []string{"table items missing", "table mail added"}
		if len(w3.Drift) != 3 || !strings.HasPrefix(strings.ToLower(w3.Drift[0]), "table characters: column name is varchar(30) ") || !slices.Equal(w3.Drift[1:], want) {
			t.Errorf("got %q", w3.Drift)
		}
		if len(inv.Schemas) != 2 || inv.Schemas[0].Fingerprint != w1.Schema || inv.Schemas[0].Worlds != 2 || inv.Schemas[1].Fingerprint != w3.Schema || inv.Schemas[1].Worlds != 1 {
			t.Errorf("got %+v", inv.Schemas)
		}
	})
}

// A world with a registry runs or not, and says which servers were there.
func TestState(t *testing.T) {
	onEach(t, func(t *testing.T, world func(string, ...string) Database) {
		opened := func(name string, use func(r *worldregistry.Registry)) Database {
			d := world(name, characters)
			db, err := sqldb.Dial(t.Context(), d.DSN, sqldb.ReadWrite)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			r := worldregistry.New(db)
			if err := r.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			use(r)
			return d
		}
		node := func(r *worldregistry.Registry, server gameid.ServerID) *gameid.Node {
			options := storetest.NodeOptions
			options.AcceptLossyDatabase = true
			n, err := (*registry.Registry)(r).OpenNode(t.Context(), server, options)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		worlds := []Database{
			opened("running", func(r *worldregistry.Registry) {
				n := node(r, 7)
				t.Cleanup(func() { n.Close() })
				if err := r.SetName(t.Context(), 7, "north"); err != nil {
					t.Fatal(err)
				}
			}),
			opened("stopped", func(r *worldregistry.Registry) { node(r, 8).Close() }),
			opened("fenced", func(r *worldregistry.Registry) {
				node(r, 9).Close()
				if err := r.Fence(t.Context(), 9, worldregistry.FenceTo("m1", "w1", time.Now())); err != nil {
					t.Fatal(err)
				}
			}),
			opened("unused", func(*worldregistry.Registry) {}),
		}
		inv := Read(t.Context(), worlds, Options{})
		if p := problems(inv); p != nil {
			t.Fatal(p)
		}
		for i, want := range []struct {
			state State
			is    Server
		}{
			{Running, Server{Server: 7, Name: "north", Own: true, State: Running}},
			{Stopped, Server{Server: 8, Own: true, State: Stopped}},
			{Fenced, Server{Server: 9, Own: true, State: Fenced}},
			{Unknown, Server{}},
		} {
			w := inv.Worlds[i]
			var is Server
			if len(w.Servers) == 1 {
				is = w.Servers[0]
				if is.Mark <= 0 {
					t.Errorf("%s: no mark", w.Name)
				}
				is.Mark = 0
			}
			if w.State != want.state || is != want.is {
				t.Errorf("%s: got %q, %+v", w.Name, w.State, w.Servers)
			}
		}
	})
}

// silent accepts connections and never answers. It counts them.
func silent(t *testing.T) (address string, accepted *atomic.Int64) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted = new(atomic.Int64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var all []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			accepted.Add(1)
			all = append(all, c)
		}
		for _, c := range all {
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), accepted
}

// A world that cannot be read has a problem that says why; the others are read.
func TestUnreadable(t *testing.T) {
	nobody, _ := silent(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	corrupt := sqlite(t, "corrupt", characters, logins(1, make([]int, 5000)...))
	path := strings.TrimPrefix(corrupt.DSN, "sqlite:")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(content); i++ {
		content[i] = 0x5a
	}
	noDatabase := filepath.Join(t.TempDir(), "text.db")
	if err := cmp.Or(os.WriteFile(path, content, 0o600), os.WriteFile(noDatabase, []byte("this is a text, and no database"), 0o600)); err != nil {
		t.Fatal(err)
	}
	worlds := []Database{
		sqlite(t, "first", characters),
		at("closed", "mysql:u:hunter2@tcp("+closed.Addr().String()+")/w"),
		corrupt,
		at("text", "sqlite:"+noDatabase),
		at("missing", "sqlite:"+filepath.Join(t.TempDir(), "missing.db")),
		at("wrong", "oracle:u:hunter2@host"),
		sqlite(t, "last", characters),
	}
	inv := Read(t.Context(), worlds, Options{Connect: time.Minute})
	// This one alone has a short limit: a busy machine may reach it anywhere.
	silent := at("silent", "mysql:u:hunter2@tcp("+nobody+")/w")
	worlds = append(worlds, silent)
	inv.Worlds = append(inv.Worlds, Read(t.Context(), []Database{silent}, Options{Connect: 100 * time.Millisecond}).Worlds...)
	for i, want := range []string{"", "refused", "malformed", "not an SQLite database", "no such file", "unknown kind of database", "", "it did not answer within 100ms"} {
		w := inv.Worlds[i]
		if (w.Problem == "") != (want == "") || !strings.Contains(w.Problem, want) || strings.Contains(fmt.Sprintf("%+v %#v %v", w, worlds, worlds), "hunter2") {
			t.Errorf("%s: got %q, want %q", w.Name, w.Problem, want)
		}
		if reached := w.Name == "first" || w.Name == "last"; w.Reached() != reached && w.Name != "corrupt" {
			t.Errorf("%s: reached: %v", w.Name, w.Reached())
		}
	}
	if w := inv.Worlds[len(worlds)-1]; w.State != Unknown || w.Server != nobody {
		t.Errorf("got %+v", w)
	}
}

func TestWrongPassword(t *testing.T) {
	dsn := servertest.DSN(t)
	account := servertest.Grant(t, "SELECT", dsn)
	good := made(t, at("good", "mysql:"+dsn), characters)
	user, rest, _ := strings.Cut(account, ":")
	wrong := at("wrong", "mysql:"+user+":hunter2@"+rest[strings.LastIndex(rest, "@")+1:])
	inv := Read(t.Context(), []Database{good, wrong, at("reader", "mysql:"+account)}, Options{})
	if w := inv.Worlds; w[0].Problem != "" || w[2].Problem != "" || !strings.Contains(w[1].Problem, "Access denied") || strings.Contains(w[1].Problem, "hunter2") {
		t.Errorf("got %q", problems(inv))
	}
}

// While one world waits for an answer, which may take for ever, all others are read, even if
// only one may be at a time.
func TestSilentCostsNothing(t *testing.T) {
	nobody, accepted := silent(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g, o := newGate(1, 1), Options{Timeout: time.Hour, Connect: time.Hour}.withDefaults()
	waits := make(chan found)
	go func() { waits <- readWorld(ctx, at("silent", "mysql:u@tcp("+nobody+")/w"), o, g) }()
	for accepted.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for i := range 3 {
		if w := readWorld(ctx, sqlite(t, fmt.Sprintf("w%d", i), characters), o, g); w.Problem != "" {
			t.Error(w.Problem)
		}
	}
	cancel()
	if w := <-waits; w.Problem != "interrupted before it was read" || len(g.all) != 0 {
		t.Errorf("got %q; %d places taken", w.Problem, len(g.all))
	}
}

// A server that did not answer twice is not asked for its other worlds, and not by more at a
// time than the limit says.
func TestSilentServer(t *testing.T) {
	nobody, accepted := silent(t)
	var worlds []Database
	for i := range 6 {
		worlds = append(worlds, at(fmt.Sprintf("w%d", i), "mysql:u@tcp("+nobody+")/w"))
	}
	inv := Read(t.Context(), worlds, Options{PerServer: 1, Connect: 50 * time.Millisecond})
	asked := 0
	for _, w := range inv.Worlds {
		switch {
		case w.Problem == "it did not answer within 50ms":
			asked++
		case !strings.Contains(w.Problem, "did not answer for w") || !strings.Contains(w.Problem, "was not asked again"):
			t.Errorf("%s: got %q", w.Name, w.Problem)
		}
	}
	if asked != silences || accepted.Load() > silences { // on a busy machine the limit may come before the connection
		t.Errorf("asked for %d worlds over %d connections, want %d", asked, accepted.Load(), silences)
	}
}

// No more worlds are let in than the limits say, in all and of one server.
func TestLimit(t *testing.T) {
	g := newGate(3, 2)
	enter := func(server string) *place {
		t.Helper()
		p, err := g.enter(t.Context(), server)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	waits := func(server string) {
		t.Helper()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 50 { // if there were a place, it would be taken half of the times
			if p, err := g.enter(ended, server); err == nil {
				p.leave()
				t.Fatalf("%s: let in", server)
			}
		}
	}
	inside := []*place{enter("a"), enter("a")}
	waits("a")
	inside = append(inside, enter("b"))
	waits("b")
	waits(Files)
	inside[0].leave()
	inside[0] = enter(Files)
	for _, p := range inside {
		p.leave()
	}
	for range 3 {
		enter(Files) // which do not wait for each other
	}
	if n := len(g.servers["a"].places) + len(g.servers["b"].places); n != 0 || len(g.all) != 3 {
		t.Errorf("%d places on servers are taken, and %d in all", n, len(g.all))
	}
}

// Growth is the difference to an earlier inventory, if both could read the world.
func TestGrowth(t *testing.T) {
	w := sqlite(t, "w1", characters, logins(1, 1, 2))
	o := Options{Players: "characters", Active: "logout_time", Now: now}
	o.Since = Read(t.Context(), []Database{w}, o)
	o.Since.Worlds = append(o.Since.Worlds, World{Name: "w2", Problem: "away", Engine: "sqlite"})
	if o.Since.Worlds[0].Growth != nil {
		t.Error("growth without an earlier inventory")
	}
	made(t, w, logins(3, make([]int, 1000)...))
	inv := Read(t.Context(), []Database{w, sqlite(t, "w2", characters), sqlite(t, "w3", characters)}, o)
	g := inv.Worlds[0].Growth
	if g == nil || g.Rows != 1000 || g.Active7 != 1000 || g.Bytes <= 0 || !g.Since.Equal(o.Since.Made) || inv.Worlds[1].Growth != nil || inv.Worlds[2].Growth != nil {
		t.Errorf("got %+v, %+v, %+v", g, inv.Worlds[1].Growth, inv.Worlds[2].Growth)
	}
}

// Nothing is written: neither into the files, nor beside them.
func TestReadsOnly(t *testing.T) {
	d := sqlite(t, "w1", characters, logins(1, 1, 2, 3))
	dir := filepath.Dir(strings.TrimPrefix(d.DSN, "sqlite:"))
	state := func() string {
		sum := sha256.New()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			content, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(sum, "%s %x\n", e.Name(), content)
		}
		return fmt.Sprintf("%x", sum.Sum(nil))
	}
	before := state()
	inv := Read(t.Context(), []Database{d}, Options{Players: "characters", Active: "logout_time"})
	if problems(inv) != nil || state() != before {
		t.Errorf("the files changed: %q", problems(inv))
	}
}

// A count that takes too long leaves the estimate of the server, which is called so. SQLite has none: there it is a problem.
func TestCountTakesTooLong(t *testing.T) {
	onEach(t, func(t *testing.T, create func(string, ...string) Database) {
		d := create("w1", characters, logins(1, 1, 2, 3))
		source, err := world.Open(t.Context(), d.Name, d.DSN)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		catalog, err := source.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		size, err := source.Size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Hour))
		defer cancel()
		var w found
		err = w.count(late, source, catalog, size)
		if sqlite := catalog.Engine == "sqlite"; (err != nil) != sqlite || w.Estimated == sqlite || w.Rows != max(size.Rows, 0) {
			t.Errorf("got %+v, %v", w.World, err)
		}
	})
}

// What is missing for the players is a problem, and the rest is read.
func TestNoPlayers(t *testing.T) {
	for _, tt := range []struct{ players, active, want string }{
		{"heroes", "logout_time", `players: activity: there is no table "heroes"`},
		{"characters", "seen", `players: activity: table "characters" has no column "seen"`},
		{"characters", "guid", "players: characters.guid does not hold times: none of its 2 values is between 1990 and now"},
	} {
		inv := Read(t.Context(), []Database{sqlite(t, "w1", characters, logins(1, 1, 2))}, Options{Players: tt.players, Active: tt.active, Now: now})
		if w := inv.Worlds[0]; w.Problem != tt.want || w.Players != nil || w.Rows != 2 || w.Bytes == 0 {
			t.Errorf("got %+v", w)
		}
	}
}

// Of two schemas that are as frequent, the first world's is the one to compare with, and worlds
// of two engines are not compared.
func TestSchemas(t *testing.T) {
	outline := func(engine string, tables ...string) *catalog.Outline {
		c := &catalog.Catalog{Engine: engine}
		for _, name := range tables {
			c.Tables = append(c.Tables, catalog.Table{Name: name})
		}
		return c.Outline()
	}
	outlines := []*catalog.Outline{outline("mysql", "x"), nil, outline("sqlite", "a"), outline("sqlite", "a", "b"), outline("sqlite", "a", "b"), outline("sqlite", "a"), outline("mysql", "x")}
	var all schemas
	worlds := make([]World, len(outlines))
	for _, i := range []int{6, 4, 3, 1, 5, 2, 0} { // as they were read
		w := found{outline: outlines[i]}
		if w.outline != nil {
			w.Engine, w.Schema = w.outline.Engine(), w.outline.Fingerprint()
		}
		worlds[i] = w.World
		all.add(i, &w)
	}
	got := all.compare(worlds)
	want := []Schema{
		{Fingerprint: outlines[0].Fingerprint(), Engine: "mysql", Worlds: 2},
		{Fingerprint: outlines[2].Fingerprint(), Engine: "sqlite", Worlds: 2},
		{Fingerprint: outlines[3].Fingerprint(), Engine: "sqlite", Worlds: 2, Drift: []string{"table b added"}},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, w := range worlds {
		if drifts := i == 3 || i == 4; drifts != (w.Drift != nil) {
			t.Errorf("world %d: %q", i, w.Drift)
		}
	}
}
