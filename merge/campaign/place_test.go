package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"

	"mergesafe/merge"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// place is where the worlds of a test and their campaign are.
type place struct {
	testing.TB
	dir    string
	server func(world string) string // the DSN of a world
	into   string                    // the pattern of new databases, if it is not the default
}

// newPlace makes worlds w1, w2, ... with so many players each, in SQLite files.
func newPlace(t testing.TB, players ...int) *place {
	p := &place{TB: t, dir: t.TempDir()}
	p.server = func(world string) string { return "sqlite:" + filepath.Join(p.dir, world+".db") }
	p.fill(players)
	return p
}

// newServerPlace makes them in databases of the server of the tests.
func newServerPlace(t testing.TB, players ...int) *place {
	p := &place{TB: t, dir: t.TempDir()}
	dsns := make(map[string]string)
	p.server = func(world string) string {
		if dsns[world] == "" {
			dsns[world] = "mysql:" + servertest.DSN(t)
		}
		return dsns[world]
	}
	at, _ := sqldb.ParseServer(p.server("w1"))
	p.into = at.Database + "_{first}_m{n}"
	t.Cleanup(func() {
		db, err := sqldb.Dial(context.Background(), p.server("w1"), sqldb.ReadWrite)
		must(t, err)
		defer db.Close()
		var left []string
		must(t, db.Select(context.Background(), &left, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE ?", strings.ReplaceAll(at.Database, "_", `\_`)+`\_%`))
		for _, name := range left {
			_, err := db.Exec(context.Background(), "DROP DATABASE "+db.Dialect().Quote(name))
			must(t, err)
		}
	})
	p.fill(players)
	return p
}

func (p *place) fill(players []int) {
	for i, n := range players {
		p.world(i+1, n)
	}
}

// onEach runs a test with such worlds in SQLite and on the server of the tests.
func onEach(t *testing.T, players []int, test func(t *testing.T, p *place)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newPlace(t, players...)) })
	t.Run("server", func(t *testing.T) { test(t, newServerPlace(t, players...)) })
}

// database is the database of a world.
func (p *place) database(world string) merge.Database {
	return merge.Database{Name: world, DSN: p.server(world)}
}

// newDatabase is where a merge that begins with a world makes its new database.
func (p *place) newDatabase(world string) merge.Database {
	account, now := sqldb.SplitAccount(p.server(world))
	to := New(cmp.Or(p.into, DefaultInto), world, now)
	_, name, _ := aroundName(to)
	return merge.Database{Name: name, DSN: WithAccount(to, account)}
}

// made is a place whose only world is the new database of a merge.
func (p *place) made(world string) *place {
	return &place{TB: p.TB, dir: p.dir, server: func(string) string { return p.newDatabase(world).DSN }}
}

// planFor is a merge of two worlds, planned.
func (p *place) planFor(first, second string) *job {
	p.Helper()
	j := p.jobOf(p.database(first), p.database(second))
	plan, err := merge.NewPlan(context.Background(), j.into, j.databases, merge.PlanOptions{})
	must(p, err)
	j.plan = plan
	return j
}

func (p *place) jobOf(first, second merge.Database) *job {
	m := Merge{Worlds: []string{first.Name, second.Name}}
	j := &job{Merge: m, databases: []merge.Database{first, second}, into: p.newDatabase(first.Name)}
	_, j.to = sqldb.SplitAccount(j.into.DSN)
	return j
}

// starts tells whether the game server of a world starts. If it does, it runs until stop is called.
func (p *place) starts(world string, server gameid.ServerID) (stop func(), err error) {
	p.Helper()
	db, err := store.Open(context.Background(), p.server(world))
	must(p, err)
	node, err := db.OpenNode(context.Background(), server, storetest.NodeOptions)
	if err != nil {
		db.Close()
		return func() {}, err
	}
	return func() { node.Close(); db.Close() }, nil
}

// world makes the world of a server with some players, who have an item each.
func (p *place) world(server, players int) {
	p.Helper()
	must(p, storetest.MakeWorld(context.Background(), p.server(fmt.Sprint("w", server)), gameid.ServerID(server), players, fmt.Sprintf("n%d-", server)))
}

// file writes the campaign file: head are lines of [campaign], a merge is "w1 w2 w3".
func (p *place) file(head string, merges ...string) string {
	p.Helper()
	text := "[campaign]\nname = 'night'\nstopped = 'by hand'\nbackup = 'by hand'\n" + head + "\n"
	if p.into != "" {
		text += "into = '" + p.into + "'\n"
	}
	for _, m := range merges {
		text += fmt.Sprintf("[[merge]]\nworlds = ['%s']\n", strings.Join(strings.Fields(m), "', '"))
	}
	file := filepath.Join(p.dir, "night.toml")
	must(p, os.WriteFile(file, []byte(text), 0o644))
	return file
}

// book writes the campaign file and opens its book.
func (p *place) book(head string, merges ...string) *Book {
	p.Helper()
	return opened(p, p.file(head, merges...))
}

func (p *place) options() Options {
	return Options{
		Databases: func(world string) (merge.Database, error) { return p.database(world), nil },
		Work:      merge.Options{RetryFor: -1, Grace: time.Second},
		Command: func(name string, merges ...string) string {
			return strings.Join(append([]string{"fleet", name, filepath.Join(p.dir, "night.toml")}, merges...), " ")
		},
		Warn: func(text string) { p.Log("warning: ", text) },
		tick: 50 * time.Millisecond, retryAfter: time.Millisecond, // each tick writes the state
	}
}

// exec changes a world.
func (p *place) exec(world, statement string) {
	p.Helper()
	db, err := sqldb.Dial(context.Background(), p.server(world), sqldb.ReadWrite)
	must(p, err)
	defer db.Close()
	_, err = db.Exec(context.Background(), statement)
	must(p, err)
}

// dump is everything in the tables of the game in a world, and its registry.
func (p *place) dump(world string) string {
	p.Helper()
	db, err := sqldb.Dial(context.Background(), p.server(world), sqldb.ReadWrite)
	must(p, err)
	defer db.Close()
	var b strings.Builder
	for _, query := range []string{
		"SELECT CONCAT(HEX(id), ' ', name, ' ', account, ' ', gold, ' ', level) FROM players ORDER BY id",
		"SELECT CONCAT(HEX(id), ' ', HEX(owner_id), ' ', template, ' ', count) FROM items ORDER BY id",
		"SELECT CONCAT(server_id, ' ', world, ' ', role, ' ', reserved_ms, ' ', COALESCE(holder, '')) FROM gameid_servers ORDER BY server_id",
	} {
		var lines []string
		must(p, db.Select(context.Background(), &lines, query))
		b.WriteString(strings.Join(lines, "\n") + "\n\n")
	}
	return b.String()
}

// content is every row of a world, without its registry: a game that runs has a lease there, and an undo
// raises marks.
func (p *place) content(world string) string {
	p.Helper()
	text := p.dump(world)
	return text[:strings.LastIndex(strings.TrimSpace(text), "\n\n")]
}

func (p *place) players(world string) (n int) {
	p.Helper()
	db, err := sqldb.Dial(context.Background(), p.server(world), sqldb.ReadWrite)
	must(p, err)
	defer db.Close()
	must(p, db.Get(context.Background(), &n, "SELECT COUNT(*) FROM players"))
	return n
}

// planned plans a campaign, all of which can be carried out.
func planned(t testing.TB, b *Book, o Options) {
	t.Helper()
	s, err := Plan(t.Context(), b, o)
	must(t, err)
	for _, m := range s.Merges {
		if m.Phase == Refused {
			t.Fatalf("%s: %s", m.Name(), m.Problem)
		}
	}
}

// interrupted carries out a campaign until the first batch of rows, where it is interrupted.
func interrupted(t testing.TB, b *Book, o Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Work.Pause = func(context.Context) error { cancel(); return nil }
	if _, err := Apply(ctx, b, o); !errors.Is(err, merge.ErrStopped) {
		t.Fatalf("got %v", err)
	}
}

func (p *place) all(worlds ...string) (dumps []string) {
	for _, w := range worlds {
		dumps = append(dumps, p.dump(w))
	}
	return dumps
}

func second[T any](_ T, err error) error { return err }
