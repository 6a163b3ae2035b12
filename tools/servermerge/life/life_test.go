// Package life goes through lives of merges: generated sequences of commands and of what the world does meanwhile. After
// every step SQL and a reference that shares no code with the product judge five invariants, those of the design.
//
// life_test.go draws sequences, and counts_test.go makes sure that they reach enough. commands_test.go has the commands as
// a library, program_test.go as the program, and faults_test.go how they are killed. events_test.go has what the world
// does, invariants_test.go the invariants, reference_test.go what a merge has to be, places_test.go databases as SQL shows
// them. adapter_test.go is all that knows tables of the product. mutate puts faults into the product, and shows that each
// is found.
package life

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/merge"
	"mergesafe/store"
	_ "mergesafe/store/mysql"
	_ "mergesafe/store/sqlite"
)

var (
	sequences = flag.Int("life.sequences", 0, "how many sequences are generated on each engine; 0: those that take seconds")
	survey    = flag.Bool("life.survey", false, "list what breaks an invariant, each once, and go on")
	seed      = flag.Uint64("life.seed", 1, "the number of the first sequence; 0: another one each time")
)

// The databases of a sequence. copy is one that a person made of another one.
var locations = []string{"s1", "s2", "s3", "new", "other", "copy"}

type images map[string]*image

// life is one sequence.
type life struct {
	t      rapid.TB
	places places
	tools  tools
	count  *counts
	dir    string
	server bool // on a server
	kind   string

	config  map[string]string // where the names of config.toml lead
	aliased map[string]bool   // those that do so by a second name of the database
	merges  []*aMerge
	current *aMerge // of the command that runs
	was     string  // its state before
	games   map[string]*game
	given   map[string]string // IDs, and where they were made
	steps   []string

	planFiles int
	copyOf    string           // the database of which there is a copy
	copied    bool             // a copy took the place of a database
	newest    map[string]int64 // the latest generation that was seen of each world

	fleetAway, diskFull bool
	beside              bool            // another process is frozen in the middle of a command
	has, died           map[string]bool // commands of this sequence, and those that were killed
}

func (l *life) said(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if l.beside {
		text = "  meanwhile: " + text
	}
	l.steps = append(l.steps, text)
}

// broken ends the sequence: an invariant does not hold. Its text is the same each time that the same happens.
func (l *life) broken(invariant int, format string, args ...any) func(details string) {
	text := fmt.Sprintf(format, args...)
	return func(details string) {
		l.t.Helper()
		text, details := l.masked(text), l.masked(details)
		if *survey {
			text = fmt.Sprintf("%d %s", invariant, text)
			if l.count.found[text]++; l.count.found[text] == 1 {
				fmt.Printf("== %s: %s\n  %s\n%.600s\n", text, l.kind, strings.Join(l.steps, "\n  "), details)
			}
			panic(over{})
		}
		for i, s := range l.steps {
			l.t.Logf("%2d  %s", i+1, s)
		}
		l.t.Logf("%s", details)
		l.t.Fatalf("invariant %d: %s", invariant, text)
	}
}

// over ends a sequence of a survey.
type over struct{}

// masked takes out of a text what is another one each time.
func (l *life) masked(text string) string {
	for i, m := range l.merges {
		if m.plan != nil {
			text = strings.ReplaceAll(text, m.plan.ID, fmt.Sprint("ID", i))
		}
	}
	return text
}

func (l *life) must(err error) {
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) fleetDSN() string { return "sqlite:" + filepath.Join(l.dir, "fleet.db") }

func (l *life) look() images {
	all := make(images)
	for _, at := range locations {
		i, err := l.places.look(at)
		l.must(err)
		all[at] = i
		if s, has := own(i); has {
			l.newest[s.world] = max(l.newest[s.world], s.epoch>>40)
		}
	}
	return all
}

// dsn is what config.toml says of a name.
func (l *life) dsn(name string) string {
	if l.aliased[name] {
		return l.places.alias(l.config[name])
	}
	return l.places.dsn(l.config[name])
}

// calm reports whether a command has nothing to wait for: then it may wait, for a lock of SQLite.
func (l *life) calm(f *fault) bool { return f.kind == "" && !l.beside && !l.diskFull && !l.fleetAway }

// databases are those of a merge as config.toml has them now.
func (l *life) databases(m *aMerge) (into merge.Database, worlds []merge.Database) {
	for _, w := range m.worlds {
		worlds = append(worlds, merge.Database{Name: w, DSN: l.dsn(w)})
	}
	return merge.Database{Name: m.into, DSN: l.dsn(m.into)}, worlds
}

// do runs a command of a merge, and judges it.
func (l *life) do(m *aMerge, command string, f *fault) answer {
	if m.plan == nil && command != "plan" || m.plan != nil && len(m.plan.Refusals) > 0 && command != "plan" {
		return answer{}
	}
	before := l.look()
	elsewhere := l.elsewhere(m, before)
	l.current, l.was = m, l.state(m, before)
	for _, other := range l.merges {
		other.given = other.given || command == "apply" && other != m && l.kind == fleetKind
	}
	var a answer
	if command == "plan" {
		a = l.tools.plan(l, m, f)
	} else {
		a = l.tools.run(l, m, command, f)
	}
	if f.ends != nil {
		panic(f.ends)
	}
	after := l.look()
	why := ""
	if a.word == refused || a.word == changed || a.word == stopped || a.word == failed {
		why = fmt.Sprintf(": %.300s", strings.TrimPrefix(a.reason, "merge: "))
	}
	l.said("%s %s (%s into %s)%s: %s%s", command, m.name, strings.Join(m.worlds, " + "), m.into, f, a.word, why)
	l.has[command] = true
	if a.word == killed {
		l.died[command] = true
	}
	if elsewhere != "" && (command == "plan" || command == "apply" && (l.was == none || l.was == planAgain)) {
		l.count.judged["5 begins: "+command+" of a world that is elsewhere"]++
		if a.word == ready || a.word == done {
			l.broken(5, "%s of %s said %s, and the fleet registry knows that %s continues elsewhere", command, m.name, a.word, elsewhere)("")
		}
	}
	if command == "plan" {
		if a.word == ready && f.kind != meanwhile {
			l.planned(m, a, before, after)
		} else {
			m.plan = nil
		}
		return a
	}
	if a.word == killed || a.word == stopped || a.word == failed {
		m.interrupted = true
	}
	if strings.HasPrefix(command, "undo") {
		m.raised = m.raised || l.raised(m, before, after)
	}
	if f.kind != meanwhile {
		l.untouched(m, command, a, before, after)
		l.truthful(m, command, a, before, after)
	}
	concludes := command == "open" || strings.HasPrefix(command, "undo") // of the others not every finding has a type
	if calm := f.kind == "" && !l.beside && !l.diskFull && !l.fleetAway; calm && a.word == failed && concludes && !m.odd {
		l.broken(5, "%s of %s in %s ended with an error, and said nothing of what it found", command, m.name, l.was)(a.reason)
	}
	l.works(m, command, a, f, before)
	if a.word == done {
		l.count.reached[command]++
		m.interrupted = false
	}
	return a
}

func (l *life) planned(m *aMerge, a answer, before, after images) {
	m.chosen, m.planned, m.tables, m.given, m.led = chosenOf(m.plan), nil, nil, false, maps.Clone(l.config)
	for _, w := range m.worlds {
		m.planned = append(m.planned, contentOf(before[l.config[w]]))
		for o := range before[l.config[w]].objects {
			m.tables = append(m.tables, w+" "+o)
		}
	}
	l.count.reached["plan"]++
	l.untouched(m, "plan", a, before, after)
	l.count.judged["5 word: plan READY"]++
	var all []string
	for _, name := range append([]string{m.into}, m.worlds...) {
		if slices.Contains(all, l.config[name]) {
			l.broken(5, "plan of %s said READY, and %s is there twice", m.name, l.config[name])("")
		}
		all = append(all, l.config[name])
	}
}

// chosenOf is what of a plan the reference may know.
func chosenOf(p *merge.Plan) chosen {
	c := chosen{offsets: make(map[string]map[string]int64), names: make(map[string]string)}
	for _, s := range p.Rekey.Spaces {
		c.offsets[s.Keys[0]] = make(map[string]int64)
		for _, w := range s.Worlds {
			c.offsets[s.Keys[0]][w.World] = int64(w.Offset)
		}
	}
	for _, r := range p.Renames {
		key := strings.Trim(r.Key, `["i]`)
		c.names[r.Source+" "+r.Table+" "+key] = r.New
	}
	for _, r := range p.Counters {
		c.counter = int64(r.After)
	}
	return c
}

// ---------------------------------------------------------------- sequences

// op is a step as it is drawn: what it does depends on where the sequence is.
type op struct {
	kind  int // of kinds
	a, b  int
	fault int
	at    int
}

type kind struct {
	name   string
	weight int
	do     func(l *life, o op)
}

var kinds = []kind{
	{"onward", 14, func(l *life, o op) { l.onward(l.pick(o.a), o) }},
	{"undo", 3, func(l *life, o op) { l.do(l.pick(o.a), "undo", l.fault(o)) }},
	{"verify", 2, func(l *life, o op) { l.do(l.pick(o.a), "verify", l.fault(o)) }},
	{"open", 2, func(l *life, o op) { l.do(l.pick(o.a), "open", l.fault(o)) }},
	{"apply", 2, func(l *life, o op) { l.do(l.pick(o.a), "apply", l.fault(o)) }},
	{"undo -force", 2, func(l *life, o op) { l.do(l.pick(o.a), "undo -force", l.fault(o)) }},
	{"try", 2, func(l *life, o op) { l.do(l.pick(o.a), "try", l.fault(o)) }},
	{"second plan", 3, func(l *life, o op) { l.second(o) }},
	{"two applies", 2, func(l *life, o op) { l.twoApplies(o) }},
	{"one world twice", 1, func(l *life, o op) { l.oneWorldTwice(o) }},
	{"rows", 3, func(l *life, o op) { l.changeRows(locations[o.a%5], o.b) }},
	{"play", 2, func(l *life, o op) { l.play(locations[o.a%len(locations)]) }},
	{"start", 2, func(l *life, o op) { l.start(locations[o.a%len(locations)]) }},
	{"stop", 1, func(l *life, o op) { l.stop(locations[o.a%len(locations)]) }},
	{"alter", 1, func(l *life, o op) { l.alter("new", o.b) }},
	{"count", 2, func(l *life, o op) { l.spend(locations[o.a%3], o.b) }},
	{"unfence", 1, func(l *life, o op) { l.unfence(locations[o.a%3]) }},
	{"create", 1, func(l *life, o op) { l.createDatabase(locations[3+o.a%2], o.b%3 > 0) }},
	{"drop", 1, func(l *life, o op) { l.dropDatabase(locations[o.a%5]) }},
	{"copy", 1, func(l *life, o op) { l.backUp(locations[o.a%5]) }},
	{"restore", 1, func(l *life, o op) { l.restore() }},
	{"config", 2, func(l *life, o op) { l.configure(locations[o.a%5], locations[o.b%len(locations)], o.at%2 == 1) }},
	{"fleet", 1, func(l *life, o op) { l.moveFleet(o.a%2 == 0) }},
	{"disk", 1, func(l *life, o op) { l.fillDisk(o.a%2 == 0) }},
}

func (l *life) fillDisk(full bool) {
	if _, inProcess := l.tools.(*library); l.server || !inProcess || l.diskFull == full {
		return
	}
	l.said("the disk is full: %t", full)
	l.diskFull = full
}

// accidents are the faults of a step, as often as they come.
var accidents = []string{"", "", "", "", "", "", "", killBefore, killBefore, killAfter, killAfter, cut, meanwhile}

// fault is what happens to the command of a step: the process is killed, a connection is cut, or another process works at
// its side. Two thirds come at a request that changes something.
func (l *life) fault(o op) *fault {
	spread := 7*o.at + 13*o.b // small numbers are drawn more often
	f := &fault{kind: accidents[o.fault], at: spread % 1000, writes: o.b%3 > 0}
	if f.kind == meanwhile {
		f.do = func() {
			l.beside = true
			defer func() { l.beside = false }()
			command := []string{"apply", "open", "undo", "undo -force", "apply", "open"}[o.b%6]
			l.do(l.merges[(o.a+o.b)%len(l.merges)], command, &fault{})
		}
	}
	return f
}

// pick is a merge, most often the first.
func (l *life) pick(n int) *aMerge {
	if n < 4 || len(l.merges) == 1 {
		return l.merges[0]
	}
	return l.merges[n%len(l.merges)]
}

// second plans another merge, of worlds in common or into the same name, or the first one again.
func (l *life) second(o op) {
	if o.a == 0 && l.merges[0].plan != nil && l.state(l.merges[0], l.look()) != none {
		return
	}
	m := &aMerge{name: string(rune('a' + len(l.merges))), worlds: [][]string{{"s1", "s2"}, {"s1", "s3"}, {"s3", "s1"}, {"s2", "s3"}, {"new", "s3"}}[o.a%5], into: []string{"new", "other"}[o.b%2]}
	if m.worlds[0] == "new" { // a chain
		m.into = "other"
	}
	if len(l.merges) == 3 {
		return
	}
	if l.do(m, "plan", &fault{}); m.plan != nil {
		l.merges = append(l.merges, m)
	}
}

// twoApplies has two merges of one name begin at once: the second one while the first looks whether the name is free.
func (l *life) twoApplies(o op) {
	first := l.merges[0]
	if first.plan == nil {
		l.do(first, "plan", &fault{})
	}
	l.second(op{a: 1 + o.a%3})
	if other := l.merges[len(l.merges)-1]; other != first && other.into == first.into {
		l.do(first, "apply", &fault{kind: meanwhile, at: o.at, begins: true, do: func() {
			l.beside = true
			defer func() { l.beside = false }()
			l.do(other, "apply", &fault{})
		}})
	}
}

// oneWorldTwice plans a merge while config.toml has two names of one world. That may never be READY.
func (l *life) oneWorldTwice(o op) {
	was, second := l.config["s2"], l.aliased["s2"]
	l.config["s2"], l.aliased["s2"] = l.config["s1"], o.at%2 == 1
	l.do(&aMerge{name: "twice", worlds: []string{"s1", "s2"}, into: "other"}, "plan", &fault{})
	l.config["s2"], l.aliased["s2"] = was, second
}

// onward is the command that comes next.
func (l *life) onward(m *aMerge, o op) {
	if m.plan == nil {
		l.do(m, "plan", l.fault(o))
		return
	}
	switch l.state(m, l.look()) {
	case none, copying:
		l.do(m, "apply", l.fault(o))
	case made, opening:
		switch at := l.config[m.worlds[o.a%len(m.worlds)]]; o.b {
		case 7:
			l.changeRows(at, o.at)
		case 8:
			l.unfence(at)
		case 9:
			l.alter(l.config[m.into], o.at)
		}
		l.do(m, "open", l.fault(o))
	case opened:
		if o.b > 8 {
			l.do(m, "undo -force", l.fault(o))
			return
		}
		if l.play(l.config[m.into]); o.b > 2 {
			l.do(m, "undo", l.fault(o))
		}
	case undoing, tried:
		l.do(m, "undo", l.fault(o))
	case planAgain:
		m.plan, m.raised = nil, false
		l.do(m, "plan", l.fault(o))
	}
}

func drawn() *rapid.Generator[op] {
	var all []int
	for i, k := range kinds {
		for range k.weight {
			all = append(all, i)
		}
	}
	var points []int // of accidents
	for i := range accidents {
		points = append(points, i)
	}
	return rapid.Custom(func(t *rapid.T) op {
		return op{rapid.SampledFrom(all).Draw(t, "kind"), rapid.IntRange(0, 11).Draw(t, "a"), rapid.IntRange(0, 11).Draw(t, "b"),
			rapid.SampledFrom(points).Draw(t, "fault"), rapid.IntRange(0, 999).Draw(t, "at")}
	})
}

// prepare makes what is there before the first step.
func (l *life) prepare(end op) {
	l.aliased = make(map[string]bool)
	l.config, l.games, l.given = make(map[string]string), make(map[string]*game), make(map[string]string)
	l.has, l.died = make(map[string]bool), make(map[string]bool)
	for _, at := range locations {
		l.config[at] = at
	}
	l.makeWorlds()
	if o := end.at % 6; o < 3 {
		l.backUp(locations[o])
	}
	l.merges = []*aMerge{{name: "a", worlds: []string{"s1", "s2"}, into: "new"}}
}

// run is one sequence.
func (l *life) run(ops []op, end op) {
	defer func() {
		for _, g := range l.games {
			g.close()
		}
		if r := recover(); r != nil && r != (over{}) {
			panic(r)
		}
	}()
	l.prepare(end)
	for _, o := range ops {
		kinds[o.kind].do(l, o)
		l.standing()
	}
	l.finish(end)
	for c := range l.has {
		l.count.has[c]++
	}
	for c := range l.died {
		l.count.killed[c]++
	}
}

// standing judges what has to hold between two steps.
func (l *life) standing() {
	now := l.look()
	for _, m := range l.merges {
		if m.plan == nil {
			continue
		}
		if word, err := l.tools.status(l, m); err == nil {
			l.known(m, word, now)
		}
		l.opens(m, now)
	}
}

// finish is the end of each sequence, and the fourth invariant: from every state open or undo leads to an end.
func (l *life) finish(end op) {
	for _, at := range locations {
		l.stop(at)
	}
	l.moveFleet(false)
	l.fillDisk(false)
	l.start("copy")
	l.stop("copy")
	clear(l.aliased)
	for _, m := range slices.Backward(l.merges) { // a chain from its end
		if m.plan == nil {
			continue
		}
		if l.config = maps.Clone(m.led); l.gone(m) {
			continue
		}
		state := l.state(m, l.look())
		l.count.judged["4 ends from "+state]++
		l.do(m, "undo", l.fault(end))
		if state = l.state(m, l.look()); end.b%2 == 0 && (state == opening || state == opened) {
			l.do(m, "open", &fault{}) // the operator thinks better of it
		}
		if state = l.state(m, l.look()); state != none && state != planAgain {
			l.do(m, "undo", &fault{})
		}
		for _, f := range []*fault{l.fault(op{fault: end.at % len(accidents), at: end.at, b: end.a}), {}} {
			if state = l.state(m, l.look()); state != none && state != planAgain || len(l.fences(m, l.look())) > 0 {
				l.do(m, "undo -force", f)
			}
		}
		if state = l.state(m, l.look()); state != none && state != planAgain || len(l.fences(m, l.look())) > 0 {
			l.broken(4, "undo -force of %s leaves it in %s, or a fence", m.name, state)("")
		}
		if l.kind == bare {
			continue
		}
		for _, w := range m.worlds {
			if l.otherFence(m, l.look()) {
				continue
			}
			at := l.config[w]
			if l.start(at); !l.running(at) && !m.odd && !l.copied && !l.cameElsewhere(m, at, l.look()) {
				l.broken(4, "after the undo of %s no game starts on %s", m.name, at)("")
			}
			l.stop(at)
		}
	}
}

// makeWorlds makes the three worlds; files are made once, and copied.
func (l *life) makeWorlds() {
	kept, has := l.count.worlds[l.kind]
	if has {
		l.must(os.CopyFS(l.dir, os.DirFS(kept)))
		return
	}
	l.create()
	if !l.server {
		kept = l.count.t.TempDir()
		l.must(os.CopyFS(kept, os.DirFS(l.dir)))
		l.count.worlds[l.kind] = kept
	}
}

func (l *life) create() {
	ctx := context.Background()
	if l.kind == fleetKind {
		f, err := fleet.Open(l.fleetDSN())
		l.must(err)
		defer f.Close()
		l.must(f.Create(ctx))
		for n := 1; n <= 3; n++ {
			_, err := f.Claim(ctx, fmt.Sprint("s", n), gameid.ServerID(n), fleet.Note{})
			l.must(err)
		}
	}
	for n := 1; n <= 3; n++ {
		at := fmt.Sprint("s", n)
		l.must(l.places.create(at))
		l.write(at, append(tables(l.server), rows(n, 3, l.kind != bare)...)...)
		if l.kind == bare {
			continue
		}
		db, err := store.Open(ctx, l.places.dsn(at))
		l.must(err)
		l.must(db.CreateRegistry(ctx))
		db.Close()
		l.must(l.starts(at, int64(n)))
		l.games[at].close()
		delete(l.games, at)
	}
}

// ---------------------------------------------------------------- the test

// Whatever operators, games and accidents do, the five invariants hold.
func TestLife(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		check(t, servertest.Scale(20, 10_000), func(dir string) places { return newFiles(dir) }, &library{requests: make(map[string][]string)})
	})
	servertest.OnMySQLIfLong(t, func(t *testing.T) {
		admin := servertest.Admin(t)
		check(t, servertest.Scale(2, 500), func(string) places { return newSchemas(t, admin) }, &library{requests: make(map[string][]string)})
	})
}

func check(t *testing.T, n int, place func(dir string) places, with tools) {
	if *sequences > 0 {
		n = *sequences
	}
	flag.Set("rapid.checks", fmt.Sprint(n))
	flag.Set("rapid.seed", fmt.Sprint(*seed))
	flag.Set("rapid.nofailfile", "true")
	count := &counts{t: t, worlds: make(map[string]string), reached: make(map[string]int), judged: make(map[string]int), has: make(map[string]int), killed: make(map[string]int), found: make(map[string]int)}
	one := func(t rapid.TB, kind string, ops []op, end op) {
		dir, err := os.MkdirTemp("", "life")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		l := &life{t: t, places: place(dir), tools: with, count: count, dir: dir, kind: kind, newest: make(map[string]int64)}
		_, l.server = l.places.(*schemas)
		defer l.places.clear()
		count.sequences++
		l.run(ops, end)
	}
	for _, kind := range allKinds { // tells how many requests each command has, or how long it takes
		one(t, kind, smooth(), op{})
	}
	one(t, fleetKind, steps("onward", "copy", "apply", "open", "undo -force", "restore", "apply", "onward"), op{})
	for _, command := range []string{"plan", "apply"} {
		if count.judged["5 begins: "+command+" of a world that is elsewhere"] == 0 {
			t.Fatalf("%s: no world was restored from before an undo", command)
		}
	}
	if lib, is := with.(*library); is {
		lib.learnt = true
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(allKinds).Draw(t, "kind")
		ops := rapid.SliceOfN(drawn(), 2, 24).Draw(t, "ops")
		one(t, kind, ops, drawn().Draw(t, "end"))
	})
	count.report(t)
}

// smooth is a life in which nothing happens.
func smooth() []op {
	return steps("onward", "apply", "verify", "open", "undo", "onward", "try", "undo", "apply", "undo", "apply", "open", "undo -force")
}

func steps(names ...string) (all []op) {
	for _, name := range names {
		all = append(all, op{kind: slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })})
	}
	return all
}
