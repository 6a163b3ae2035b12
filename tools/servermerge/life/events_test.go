package life

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// What the world does to the databases of a merge, beside its commands.

// The kinds of games.
const (
	bare         = "no registry"
	registryKind = "registries"
	fleetKind    = "a fleet registry"
)

var allKinds = []string{bare, registryKind, fleetKind}

// game is a game server that runs.
type game struct {
	db    *store.DB
	node  *gameid.Node
	fleet *fleet.Fleet
	m     *fleet.Member
	world string // its identity
}

func (g *game) close() {
	if g.m != nil {
		g.m.Close()
	} else {
		g.node.Close()
	}
	if g.fleet != nil {
		g.fleet.Close()
	}
	g.db.Close()
}

func (l *life) running(at string) bool { return l.games[at] != nil }

// starts tries to start the game server of a database, which gives one ID.
func (l *life) starts(at string, server int64) error {
	ctx := context.Background()
	db, err := store.Open(ctx, l.places.dsn(at))
	if err != nil {
		return err
	}
	g := &game{db: db}
	if l.kind == fleetKind {
		if g.fleet, err = fleet.Open(l.fleetDSN()); err == nil {
			if g.m, err = g.fleet.Join(ctx, storetest.World(db), gameid.ServerID(server), worldregistry.NodeOptions(storetest.NodeOptions), fleet.Options{}); err == nil {
				g.node = g.m.Node
			}
		}
	} else {
		g.node, err = db.OpenNode(ctx, gameid.ServerID(server), storetest.NodeOptions)
	}
	if err != nil {
		if g.fleet != nil {
			g.fleet.Close()
		}
		db.Close()
		return err
	}
	l.games[at] = g
	id, err := gameid.NewGenerator[life](g.node).Next()
	if err != nil {
		return err
	}
	l.count.judged["3 IDs are given once"]++
	if by := l.given[id.String()]; by != "" && !l.copied {
		l.broken(3, "%s and %s gave the same ID", by, at)(id.String())
	}
	l.given[id.String()] = at
	return nil
}

// own is the server of a database that may start there, and its world.
func own(i *image) (server, bool) {
	at := slices.IndexFunc(i.servers, func(s server) bool { return s.role == "own" })
	if at < 0 {
		return server{}, false
	}
	return i.servers[at], true
}

// start starts a game server, and judges the third invariant: no two live registries give out the same server, and no copy
// of a world that came starts beside the merge.
func (l *life) start(at string) {
	before := l.look()
	s, has := own(before[at])
	if !has || l.running(at) {
		return
	}
	err := l.starts(at, s.id)
	if at == "copy" {
		l.count.judged["3 starts of copies"]++
	}
	l.said("the game starts on %s: %s", at, outcome(err))
	if err != nil {
		l.refusedStart(at, before, err)
		return
	}
	l.games[at].world = s.world
	l.count.judged["3 starts"]++
	for other, g := range l.games {
		if other != at && g.world == s.world && (l.kind == fleetKind && !l.fleetAway) {
			l.broken(3, "the world of %s runs on %s too", at, other)("")
		}
	}
	for _, m := range l.merges {
		if m.plan == nil {
			continue
		}
		new, state := l.config[m.into], l.state(m, before)
		if at == new && !m.odd {
			if _, ours := before[new].recorded()[m.plan.ID]; ours && state != opened {
				l.broken(3, "the game starts on %s, the new database of %s in %s", at, m.name, state)("")
			}
		}
		if at == new || state != opening && state != opened || l.wentOn(new, at, before) {
			continue
		}
		goesOn, _ := own(before[new])
		copyOfNew := goesOn.world == s.world && goesOn.epoch>>40 == s.epoch>>40 // of that generation, and so the new database restored
		for _, w := range m.worlds {
			told := l.kind == fleetKind && !l.fleetAway && state == opened && !copyOfNew // open tells the fleet registry before it lets the game in
			if came, _ := own(before[m.led[w]]); came.world == s.world && (at == m.led[w] && !l.copied && !m.odd || told) {
				l.broken(3, "the world of %s came to %s by %s in %s, and starts on %s", w, new, m.name, state, at)("")
			}
		}
	}
}

// wentOn reports whether a merge that is open took a database on to another one: then its world goes on there.
func (l *life) wentOn(from, to string, now images) bool {
	return slices.ContainsFunc(l.merges, func(m *aMerge) bool {
		return m.plan != nil && m.led[m.into] == to && l.state(m, now) == opened &&
			slices.ContainsFunc(m.worlds, func(w string) bool { return m.led[w] == from })
	})
}

// refusedStart judges the fourth invariant: an open database can be played.
func (l *life) refusedStart(at string, before images, err error) {
	for _, m := range l.merges {
		s, _ := own(before[at])
		fence, _ := fenceOf(s.holder)
		// Two plans of the same worlds are one merge, and an undo by either closes its gate.
		interrupted := slices.ContainsFunc(l.merges, func(o *aMerge) bool { return o.interrupted && o.plan != nil && m.plan != nil && o.plan.ID == m.plan.ID })
		if l.config[m.into] == at && l.state(m, before) == opened && (fence == "" || fence == m.plan.ID) && !m.odd && !l.fleetAway && !interrupted {
			l.broken(4, "%s is open by %s, and no game starts there", at, m.name)(err.Error())
		}
	}
}

func (l *life) stop(at string) {
	if g := l.games[at]; g != nil {
		g.close()
		delete(l.games, at)
		l.said("the game stops on %s", at)
	}
}

// play has players enter, write, and leave. Where there is no registry, nothing keeps them from it.
func (l *life) play(at string) {
	if !l.look()[at].has("pl") {
		return
	}
	ran := l.running(at)
	if l.kind != bare {
		if !ran {
			l.start(at)
		}
		if !l.running(at) {
			return
		}
	}
	l.said("players write to %s", at)
	l.write(at, "INSERT INTO pl (name, gold) VALUES ('n"+fmt.Sprint(len(l.steps))+"', 5)", "UPDATE pl SET gold = gold + 1")
	if at == l.config["new"] || at == l.config["other"] {
		l.count.reached["played"]++
	}
	if !ran {
		l.stop(at)
	}
}

// write writes past fences, as a shop or a person does.
func (l *life) write(at string, statements ...string) {
	db, err := l.places.open(at)
	if err != nil {
		l.t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			l.said("%s: %v", s, err)
		}
	}
	for _, m := range l.merges { // which apply cannot complete any more
		m.odd = m.odd || l.config[m.into] == at && l.state(m, l.look()) == copying
	}
}

var changesOfRows = []string{
	"UPDATE pl SET gold = gold + 1000 WHERE id = 2",
	"INSERT INTO item (owner, n) VALUES (1, 77)",
	"DELETE FROM item WHERE n = 1",
	"INSERT INTO mail (owner, n) VALUES (2, 78)",
	"DELETE FROM mail",
	"UPDATE seq SET next = next + 1",
	"UPDATE kind SET what = 'c' WHERE id = 1",
	"INSERT INTO kind VALUES (3, 'c')",
	"UPDATE pl SET gold = gold + 1000 WHERE id > 1000",
}

func (l *life) changeRows(at string, n int) {
	if now := l.look()[at]; !now.has("pl") || !now.has("item") || !now.has("seq") {
		return
	}
	s := changesOfRows[n%len(changesOfRows)]
	l.said("on %s: %s", at, s)
	l.write(at, s)
}

var alterations = []string{
	"DROP INDEX gold", "CREATE TRIGGER extra AFTER UPDATE ON pl FOR EACH ROW BEGIN DELETE FROM item WHERE id = 0; END",
	"UPDATE sqlite_sequence SET seq = (SELECT COALESCE(MAX(id), 0) FROM mail) WHERE name = 'mail'",
	"DELETE FROM gameid_servers WHERE role = 'merged'", "UPDATE gameid_servers SET holder = '', lease_until_ms = 0 WHERE role = 'own'", "DROP VIEW mergesafe_moved",
}

// alter changes a new database in what hangs on its rows.
func (l *life) alter(at string, n int) {
	if !l.look()[at].has("pl") {
		return
	}
	s := alterations[n%len(alterations)]
	switch {
	case l.kind == bare && strings.Contains(s, "gameid_servers"):
		return
	case s == "DROP INDEX gold" && l.server:
		s += " ON pl"
	case strings.Contains(s, "sqlite_sequence") && l.server:
		s = "ALTER TABLE mail AUTO_INCREMENT = 1"
	}
	l.said("on %s: %s", at, s)
	l.write(at, s)
	for _, m := range l.merges { // that make it, or that it is a world of
		if l.config[m.into] == at || m.plan != nil && slices.ContainsFunc(m.worlds, func(w string) bool { return l.config[w] == at }) {
			m.odd = true
		}
	}
}

// spend has a world give numbers to rows that are gone again, or get a table more.
func (l *life) spend(at string, n int) {
	table := []string{"", "item", "mail"}[n%3]
	if !l.look()[at].has(cmp.Or(table, "item")) {
		return
	}
	s := "UPDATE sqlite_sequence SET seq = seq + 100 WHERE name = '" + table + "'"
	switch {
	case table == "":
		s = "CREATE TABLE more (id INT NOT NULL PRIMARY KEY)"
	case l.server:
		s = fmt.Sprint("ALTER TABLE ", table, " AUTO_INCREMENT = ", l.look()[at].counts[table]+100)
	}
	l.said("on %s: %s", at, s)
	l.write(at, s)
}

// unfence lifts the fences of a world by hand.
func (l *life) unfence(at string) {
	if s, has := own(l.look()[at]); !has || s.holder == "" || l.running(at) {
		return
	}
	l.said("the fence of %s is lifted by hand", at)
	l.touch(at)
	l.write(at, "UPDATE gameid_servers SET holder = '', lease_until_ms = 0 WHERE role = 'own'")
}

// touch marks the merges that have to do with a database: something happened to it that need not work any more.
func (l *life) touch(all ...string) {
	for _, m := range l.merges {
		for _, name := range append([]string{m.into}, m.worlds...) {
			if slices.Contains(all, l.config[name]) {
				m.odd = true
			}
		}
	}
}

// createDatabase makes a database that is empty, or has a table of others.
func (l *life) createDatabase(at string, empty bool) {
	if l.there(at) {
		return
	}
	l.said("%s is created, empty: %t", at, empty)
	l.must(l.places.create(at))
	if !empty {
		l.write(at, "CREATE TABLE others (id INT PRIMARY KEY)", "INSERT INTO others VALUES (1)")
	}
}

func (l *life) there(at string) bool {
	i, err := l.places.look(at)
	l.must(err)
	return i.there
}

func (l *life) dropDatabase(at string) {
	if !l.there(at) || l.running(at) {
		return
	}
	l.said("%s is dropped", at)
	l.touch(at)
	l.must(l.places.drop(at))
}

// backUp copies a database, and restore puts the copy in its place, or beside it.
func (l *life) backUp(at string) {
	if !l.there(at) || l.running(at) {
		return
	}
	l.said("%s is copied to copy", at)
	l.stop("copy")
	l.must(l.places.copy(at, "copy"))
	l.copyOf = at
}

func (l *life) restore() {
	if l.copyOf == "" || l.running(l.copyOf) || l.running("copy") {
		return
	}
	l.said("%s is restored from copy", l.copyOf)
	l.touch(l.copyOf)
	l.copied = true
	l.must(l.places.copy("copy", l.copyOf))
}

// configure has a name of config.toml lead to another database, or to the same by another of its names.
func (l *life) configure(name, at string, alias bool) {
	if l.config[name] == at && l.aliased[name] == alias {
		return
	}
	l.said("config.toml: %s is %s, by a second name: %t", name, at, alias)
	if l.config[name] != at {
		l.touch(l.config[name], at)
	}
	l.config[name], l.aliased[name] = at, alias
	if name != at {
		l.copied = true
		l.touch(at)
	}
}

// moveFleet takes the fleet registry away, and brings it back.
func (l *life) moveFleet(away bool) {
	if l.kind != fleetKind || l.fleetAway == away || len(l.games) > 0 {
		return
	}
	path := filepath.Join(l.dir, "fleet.db")
	from, to := path, path+".away"
	if !away {
		from, to = to, from
	}
	l.said("the fleet registry is away: %t", away)
	if err := os.Rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
		l.must(err)
	}
	l.fleetAway = away
}

func outcome(err error) string {
	if err != nil {
		return "refused"
	}
	return "it runs"
}
