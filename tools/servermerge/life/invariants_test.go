package life

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The invariants of the life of a merge, numbered as in the design. Each is judged from what SQL shows before and after a
// step, and from the reference; none asks the product.

// state is what a merge is, from the record in the new database and the fences in the worlds: the later of the two.
func (l *life) state(m *aMerge, now images) string {
	if m.plan == nil {
		return none
	}
	state, has := now[l.config[m.into]].recorded()[m.plan.ID]
	if !has {
		state = none
	}
	switch says := l.fences(m, now); {
	case state == opened || state == undoing:
	case !has && slices.Contains(says, "dropping"):
		state = undoing
	case slices.Contains(says, "opened"):
		state = opening
	}
	if state == none && m.raised {
		state = planAgain
	}
	return state
}

// fences are what the fences of a merge say, of each world that has one.
func (l *life) fences(m *aMerge, now images) (says []string) {
	for _, w := range m.worlds {
		for _, s := range now[l.config[w]].servers {
			if merge, text := fenceOf(s.holder); merge == m.plan.ID {
				says = append(says, text)
			}
		}
	}
	return says
}

// reference is what the new database of a merge has to be, from the worlds as they are.
func (l *life) reference(m *aMerge, now images) content {
	var worlds []content
	for _, w := range m.worlds {
		c := contentOf(now[l.config[w]])
		if c == nil {
			return nil
		}
		worlds = append(worlds, c)
	}
	return merged(m.worlds, worlds, m.chosen)
}

// asPlanned reports whether the worlds are as they were at the plan.
func (l *life) asPlanned(m *aMerge, now images) bool {
	for i := range m.worlds {
		if !l.worldAsPlanned(m, i, now) {
			return false
		}
	}
	return true
}

func (l *life) worldAsPlanned(m *aMerge, i int, now images) bool {
	is := now[l.config[m.worlds[i]]]
	for _, g := range m.plan.Worlds[i].Given {
		if g.Key == "" && is.counts[g.Table]+1 > int64(g.Next) {
			return false
		}
	}
	for o := range is.objects {
		if strings.HasPrefix(o, "table ") && !slices.Contains(m.tables, m.worlds[i]+" "+o) {
			return false
		}
	}
	return contentOf(is).equal(m.planned[i])
}

// raised reports whether a command raised something in a world.
func (l *life) raised(m *aMerge, before, after images) bool {
	for _, w := range m.worlds {
		at := l.config[w]
		if slices.ContainsFunc(changes(before[at], after[at]), func(c change) bool { return c.what != "fence" }) {
			return true
		}
	}
	return false
}

// ran reports whether a game ran on a world since the plan.
func (l *life) ran(m *aMerge, now images) bool {
	for _, w := range m.plan.Worlds {
		for i, s := range w.Servers {
			if is := now[l.config[w.Name]].servers; i >= len(is) || is[i].reserved != s.Reserved || is[i].epoch>>40 != s.Generation {
				return true
			}
		}
	}
	return false
}

// ---------------------------------------------------------------- what a step changed

// change is one difference between a database before and after a step.
type change struct {
	what     string // database, object, rows, counter, events, server, mark, generation, fence
	name     string
	from, to []string
}

func (c change) String() string {
	return strings.ReplaceAll(fmt.Sprintf("%s %s: %q became %q", c.what, c.name, c.from, c.to), `\x1f`, "|")
}

// upwards reports whether a counter only rose.
func (c change) upwards() bool {
	if len(c.from) != len(c.to) {
		return false
	}
	for i := range c.from {
		old, now := cells(c.from[i]), cells(c.to[i])
		last := len(old) - 1
		if !slices.Equal(old[:last], now[:last]) || number(now[last]) < number(old[last]) {
			return false
		}
	}
	return true
}

func changes(before, after *image) (all []change) {
	if before.there != after.there {
		return []change{{"database", "", []string{fmt.Sprint(before.there)}, []string{fmt.Sprint(after.there)}}}
	}
	for _, o := range sorted(union(before.objects, after.objects)) {
		if before.objects[o] != after.objects[o] {
			all = append(all, change{"object", o, []string{before.objects[o]}, []string{after.objects[o]}})
		}
	}
	for _, t := range sorted(union(before.rows, after.rows)) {
		if !slices.Equal(before.rows[t], after.rows[t]) {
			all = append(all, change{"rows", t, before.rows[t], after.rows[t]})
		}
	}
	for _, t := range sorted(union(before.counts, after.counts)) {
		if before.counts[t] != after.counts[t] {
			all = append(all, change{"counter", t, []string{fmt.Sprint(before.counts[t])}, []string{fmt.Sprint(after.counts[t])}})
		}
	}
	if before.wal != after.wal {
		all = append(all, change{"WAL mode", "", []string{fmt.Sprint(before.wal)}, []string{fmt.Sprint(after.wal)}})
	}
	if before.events != after.events {
		all = append(all, change{"events", "", []string{fmt.Sprint(before.events)}, []string{fmt.Sprint(after.events)}})
	}
	if len(before.servers) != len(after.servers) {
		return append(all, change{"server", "", []string{fmt.Sprint(before.servers)}, []string{fmt.Sprint(after.servers)}})
	}
	for i, was := range before.servers {
		is := after.servers[i]
		name := fmt.Sprint(was.id)
		add := func(what string, from, to any) {
			if from != to {
				all = append(all, change{what, name, []string{fmt.Sprint(from)}, []string{fmt.Sprint(to)}})
			}
		}
		add("server", was.kept(), is.kept())
		add("mark", was.reserved, is.reserved)
		add("generation", was.epoch>>40, is.epoch>>40)
		from, _ := fenceOf(was.holder)
		to, _ := fenceOf(is.holder)
		add("fence", from, to)
	}
	return all
}

func union[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	if all == nil {
		all = make(map[string]V)
	}
	maps.Copy(all, b)
	return all
}

// ---------------------------------------------------------------- 2: nothing else was changed

// untouched is the second invariant: no database, table or file was dropped or changed that the record of this merge did not
// make; in the worlds nothing but fences, and after an undo from OPENING counters and marks, upwards.
func (l *life) untouched(m *aMerge, command string, a answer, before, after images) {
	new := l.config[m.into]
	_, ours := before[new].recorded()[m.plan.ID]
	empty := before[new].empty()
	was := l.state(m, before)
	raises := command == "undo -force" || command == "undo" && (was == opening || was == opened || was == undoing || l.played(m, before))
	for _, at := range sorted(after) {
		world := slices.ContainsFunc(m.worlds, func(w string) bool { return l.config[w] == at })
		if at == new && before[new].rehearsal() { // whatever config.toml says of the worlds by now
			world = false
		}
		for _, c := range changes(before[at], after[at]) {
			may := false
			switch {
			case command == "plan" || command == "verify" || a.word == nothing && c.what != "fence":
			case at == new && !world:
				switch command {
				case "apply", "try":
					may = ours || empty
				case "undo", "undo -force":
					may = ours
				case "open":
					may = ours && (c.what == "rows" && strings.HasPrefix(c.name, "mergesafe_") || c.what == "fence" || c.what == "events")
				}
			case world && c.what == "fence":
				may = (c.from[0] == "" || c.from[0] == m.plan.ID) && (c.to[0] == "" || c.to[0] == m.plan.ID)
			case world && raises:
				switch c.what {
				case "rows":
					may = c.name == "mergesafe_schema" || c.name == "seq" && c.upwards()
				case "counter", "mark", "generation":
					may = c.upwards()
				}
			}
			l.count.judged["2 untouched"]++
			if !may {
				place := at
				if at == new && world {
					place += ", in the place of a world"
				}
				l.broken(2, "%s of %s changed %s of %s", command, m.name, c.what+" "+c.name, place)(c.String())
			}
		}
		if a.word == refused && command != "plan" && at != new {
			asked := world && raises && l.kind == fleetKind // the fleet registry, which is asked when the world was raised
			for _, c := range changes(before[at], after[at]) {
				if c.what != "fence" && !asked || was == none {
					l.broken(5, "%s of %s was refused, and changed %s of %s", command, m.name, c.what, at)(a.reason + "\n" + c.String())
				}
			}
		}
	}
	l.count.judged["2 untouched"]++
	if others := l.places.others(); len(others) > 0 && !m.odd {
		l.broken(2, "%s of %s leaves %q", command, m.name, others)("")
	}
}

// ---------------------------------------------------------------- 1 and 5: words

// truthful is the first and the fifth invariant for the word with which a command ended.
func (l *life) truthful(m *aMerge, command string, a answer, before, after images) {
	if m.plan == nil {
		return
	}
	new := l.config[m.into]
	was, is := l.state(m, before), l.state(m, after)
	now := contentOf(after[new])
	is1 := func(want ...string) bool { return slices.Contains(want, is) }
	lie := func(n int, text string, args ...any) func(string) {
		return l.broken(n, "%s of %s in %s said %s: %s", command, m.name, was, a.word, fmt.Sprintf(text, args...))
	}
	l.count.judged["5 word: "+command+" "+a.word]++
	if !l.diskFull && !l.fleetAway {
		l.blamed(m, command, a, before)
	}
	switch command + " " + a.word {
	case "apply DONE", "try DONE":
		if want := made; command == "try" && !is1(tried) || command == "apply" && !is1(want, opened) {
			lie(5, "the state is %s", is)("")
		}
		if was != opened && was != made {
			// What others write to a database that is being made, apply does not see; the proof does.
			if want := merged(m.worlds, m.planned, m.chosen); command == "apply" && !m.odd && !now.equal(want) {
				lie(5, "the new database is not as planned")(now.differs(want))
			}
			for _, why := range l.lacks(m, after) {
				lie(5, "%s", why)("")
			}
		}
	case "verify PASS":
		if len(l.fences(m, after)) < l.fenced(m) {
			lie(3, "a world has no fence")("")
		}
		if says := l.fences(m, after); slices.Contains(says, "opened") && after[new].recorded()[m.plan.ID] == made {
			lie(3, "another database was opened")("")
		}
		if want := l.reference(m, after); !now.equal(want) {
			lie(5, "the new database is not the merge of the worlds")(now.differs(want))
		}
		for _, why := range l.lacks(m, after) {
			lie(5, "%s", why)("")
		}
	case "verify FAIL", "open FAIL", "verify NOT VERIFIED", "open NOT VERIFIED":
		if now.equal(l.reference(m, after)) && l.asPlanned(m, after) && !m.odd {
			lie(5, "the new database is the merge of the worlds")("")
		}
	case "open DONE":
		if !is1(opened) {
			lie(5, "the state is %s", is)("")
		}
		for _, s := range after[new].servers {
			if merge, _ := fenceOf(s.holder); merge == m.plan.ID {
				lie(5, "the gate is closed")("")
			}
		}
		if was == opened {
			break
		}
		if want := l.reference(m, after); !now.equal(want) {
			lie(1, "the new database is not the merge of the worlds")(now.differs(want))
		}
		for _, why := range l.lacks(m, before) {
			lie(1, "%s", why)("")
		}
		for _, w := range m.worlds {
			for o := range before[l.config[w]].objects {
				if strings.HasPrefix(o, "table ") && !slices.Contains(m.tables, w+" "+o) {
					lie(1, "%s has a %s that did not come", w, o)("")
				}
			}
		}
		l.count.judged["3 what the first world gave is not given again"]++
		if table := l.behind(before[l.config[m.worlds[0]]], after[new]); table != "" && table != "the server" {
			lie(3, "the counter of %s is behind what the first world gave", table)("")
		}
		if len(l.fences(m, after)) < l.fenced(m) {
			lie(3, "a world has no fence")("")
		}
	case "undo DONE", "undo -force DONE":
		l.count.judged["5 undone"]++
		if after[new].there && len(after[new].objects) > 0 && !m.odd {
			lie(5, "the new database is there")(fmt.Sprint(after[new].objects))
		}
		if len(l.fences(m, after)) > 0 {
			lie(5, "a fence is left")("")
		}
		if was == opened {
			l.count.judged["3 what was given is not given again"]++
			if table := l.behind(before[new], after[l.config[m.worlds[0]]]); table != "" && !m.odd {
				lie(3, "the counter of %s is behind what was given in the new database", table)("")
			}
		}
		want := merged(m.worlds, m.planned, m.chosen)
		wrote := !contentOf(before[new]).asMade(want).equal(want)
		if was == undoing {
			_, wrote = want.left(before[new])
		}
		if command == "undo" && !before[new].rehearsal() && (was == made || was == opening || was == opened || was == undoing) && wrote {
			lie(2, "what others wrote to the new database is lost")("")
		}
	case "undo NOTHING", "undo -force NOTHING":
		if was != none && was != planAgain || len(l.fences(m, before)) > 0 {
			lie(5, "it had begun")(a.reason)
		}
	case "undo REFUSED":
		if was == opened && l.closed(before[new]) == "" && l.closed(after[new]) != "" {
			lie(5, "the gate is closed")(a.reason)
		}
		_, record := before[new].recorded()[m.plan.ID]
		same := contentOf(before[new]).equal(merged(m.worlds, m.planned, m.chosen))
		lost := slices.ContainsFunc(m.worlds, func(w string) bool { return l.emptied(m, slices.Index(m.worlds, w), before) })
		if record && !m.odd && !lost && !l.running(new) && !l.otherFence(m, before) && (was == copying || was == made && same || was == tried || was == opened && same) {
			lie(4, "no one wrote to the new database, and no world is gone")(a.reason)
		}
	}
}

// played reports whether a game ran on the new database, which then has given more than the first world.
func (l *life) played(m *aMerge, now images) bool {
	new, has := own(now[l.config[m.into]])
	first, _ := own(now[l.config[m.worlds[0]]])
	return has && new.world == first.world && new.reserved > first.reserved
}

// closed is the merge whose gate a database has.
func (l *life) closed(i *image) string {
	s, _ := own(i)
	merge, _ := fenceOf(s.holder)
	return merge
}

// behind names a counter, or a mark, that a first world has behind the database that took its place.
func (l *life) behind(new, first *image) string {
	for _, table := range []string{"pl", "item", "mail"} {
		if first.counts[table] < new.counts[table] {
			return table
		}
	}
	was, has := own(new)
	is, _ := own(first)
	if has && (is.reserved < was.reserved || is.epoch>>40 <= was.epoch>>40) {
		return "the server"
	}
	return ""
}

// opens is the first invariant, whatever opened the database: it holds the merge of the worlds as they were read.
func (l *life) opens(m *aMerge, now images) {
	was := m.open
	if m.open = l.state(m, now) == opened; !m.open || was || m.odd {
		return
	}
	l.count.judged["1 open is the reference"]++
	if got, want := contentOf(now[l.config[m.into]]), l.reference(m, now); !got.equal(want) {
		l.broken(1, "%s is open, and is not the merge of the worlds", m.name)(got.differs(want))
	}
	for _, why := range l.lacks(m, now) {
		l.broken(1, "%s is open, and %s", m.name, why)("")
	}
}

// blamed is the fifth invariant for the databases that a refusal names: something is the matter with each.
func (l *life) blamed(m *aMerge, command string, a answer, before images) {
	for _, name := range a.about {
		if l.count.judged["5 blame"]++; name == "" || m.odd || m.given && command == "apply" {
			continue
		}
		at := l.config[name]
		i, right := slices.Index(m.worlds, name), false
		switch state := l.state(m, before); {
		case i >= 0 && command == "undo":
			right = contentOf(before[at]) == nil || l.emptied(m, i, before)
		case i >= 0:
			right = !l.worldAsPlanned(m, i, before) || l.ran(m, before) || l.running(at) || l.otherFence(m, before) || len(l.fences(m, before)) < l.fenced(m) && state != none || l.elsewhere(m, before) == name
		case command == "undo":
			right = l.running(at) || l.otherFence(m, before) || !contentOf(before[at]).equal(merged(m.worlds, m.planned, m.chosen)) || !before[at].there
		default:
			right = state != none && state != planAgain || !before[at].empty() || command == "open" || l.running(at)
		}
		if !right {
			l.broken(5, "%s of %s was refused because of %s, and nothing is the matter there", command, m.name, name)(a.reason)
		}
	}
}

// emptied reports whether a table of a world has lost all the rows that it had at the plan.
func (l *life) emptied(m *aMerge, i int, now images) bool {
	for table, rows := range m.planned[i] {
		if len(rows) > 0 && len(now[l.config[m.worlds[i]]].rows[table]) == 0 {
			return true
		}
	}
	return false
}

// fenced is how many fences a merge has while it is under way.
func (l *life) fenced(m *aMerge) int {
	if l.kind == bare {
		return 0
	}
	return len(m.worlds)
}

// lacks says what a new database that is made lacks beside the rows of the game.
func (l *life) lacks(m *aMerge, now images) (all []string) {
	new := now[l.config[m.into]]
	first := now[l.config[m.worlds[0]]]
	for _, o := range sorted(first.objects) {
		if _, has := new.objects[o]; !has {
			all = append(all, "it has no "+o)
		}
	}
	for _, o := range sorted(new.objects) {
		_, has := first.objects[o]
		_, name, _ := strings.Cut(o, " ")
		if ours := strings.HasPrefix(name, "mergesafe_") || strings.HasPrefix(name, "gameid_"); !has && !ours {
			all = append(all, "it has "+o+", which no world has")
		}
	}
	if new.objects["view mergesafe_moved"] == "" {
		all = append(all, "it has no view mergesafe_moved")
	}
	if l.kind == bare {
		return all
	}
	for i, w := range m.worlds {
		for _, s := range now[l.config[w]].servers {
			if s.role != "own" {
				continue
			}
			at := slices.IndexFunc(new.servers, func(n server) bool { return n.id == s.id && n.world == s.world })
			if at < 0 {
				all = append(all, fmt.Sprintf("its registry has no server %d", s.id))
				continue
			}
			closed, _ := fenceOf(new.servers[at].holder)
			if i == 0 && closed != m.plan.ID && l.state(m, now) != opened {
				all = append(all, "its gate is open")
			}
		}
	}
	return all
}

// known is the fifth invariant for the word of status.
func (l *life) known(m *aMerge, word string, now images) {
	l.count.judged["5 status"]++
	if m.odd {
		return
	}
	if want := l.state(m, now); word != want && (word != planAgain || l.asPlanned(m, now) && !l.ran(m, now)) {
		l.broken(5, "status of %s says %s, and it is %s", m.name, word, want)("")
	}
}

// ---------------------------------------------------------------- 4: what leads on

// works is the fourth invariant: where nothing stands in the way, a command comes to its end.
func (l *life) works(m *aMerge, command string, a answer, f *fault, before images) {
	if m.odd || m.given && command == "apply" || f.kind != "" || l.beside || l.anyRuns(m) || m.plan == nil || len(m.plan.Refusals) > 0 || !l.asPlanned(m, before) || l.ran(m, before) && command == "apply" || l.otherFence(m, before) {
		return
	}
	if (command == "open" || command == "verify") && len(l.fences(m, before)) < l.fenced(m) {
		return // an undo lifted the fences, and an apply beside it had made the new database again
	}
	if command == "apply" && l.elsewhere(m, before) != "" {
		return
	}
	if command == "open" && l.kind == fleetKind && slices.ContainsFunc(m.worlds, func(w string) bool { return l.superseded(before[l.config[w]]) }) {
		return // the fleet registry knows
	}
	new := l.config[m.into]
	was := l.state(m, before)
	_, ours := before[new].recorded()[m.plan.ID]
	is := contentOf(before[new]).equal(l.reference(m, before)) && len(l.lacks(m, before)) == 0
	left, _ := l.reference(m, before).left(before[new])
	free := before[new].empty()
	var want string
	switch {
	case command == "apply" && (was == none && free || was == copying && ours), command == "try" && (was == none && free || was == tried),
		command == "open" && (was == made || was == opening) && is, command == "undo" && (was == copying || was == tried || (was == made || was == opening || was == opened) && is),
		command == "undo" && was == undoing && left, command == "undo -force" && was != none && was != planAgain:
		want = done
	case command == "verify" && was == made && is:
		want = pass
	default:
		return
	}
	_, where := l.tools.(*library)
	switch {
	case l.diskFull && command == "undo" && (was == copying || was == made || was == tried) && !before[new].found(): // what it drops makes room
	case l.diskFull && command != "verify", l.fleetAway && command == "apply":
		return
	case l.fleetAway && command == "open" && l.kind == fleetKind && where:
		want = stopped
	case l.fleetAway && strings.HasPrefix(command, "undo") && (was == opening || was == opened || was == undoing || command == "undo -force"):
		return
	}
	l.count.judged["4 works: "+command+" in "+was]++
	if a.word != want {
		l.broken(4, "%s of %s in %s said %s, and nothing stands in its way", command, m.name, was, a.word)(a.reason)
	}
}

// gone reports whether a world is gone, or a table of it that has rows.
func (l *life) gone(m *aMerge) bool {
	now := l.look()
	return slices.ContainsFunc(m.worlds, func(w string) bool { return contentOf(now[l.config[w]]) == nil })
}

// superseded reports whether a database has an older generation of a world than there was: it was restored.
func (l *life) superseded(i *image) bool {
	s, has := own(i)
	return has && s.epoch>>40 < l.newest[s.world]
}

// elsewhere is the first world of a merge that continues in another database, as the fleet registry knows; "" if there is
// none.
func (l *life) elsewhere(m *aMerge, now images) string {
	if l.kind != fleetKind || l.fleetAway {
		return ""
	}
	db, err := sql.Open("sqlite", filepath.Join(l.dir, "fleet.db"))
	l.must(err)
	defer db.Close()
	for _, w := range m.worlds {
		s, has := own(now[l.config[w]])
		var n int
		l.must(db.QueryRow("SELECT COUNT(*) FROM fleet_servers WHERE server_id = ? AND world = ? AND (gone_into <> '' OR world_epoch >> 40 > ?)",
			s.id, s.world, s.epoch>>40).Scan(&n))
		if has && s.fleet != "" && n > 0 {
			return w
		}
	}
	return ""
}

// anyRuns reports whether a game runs on a database of the merge, or on a copy of one of its worlds.
func (l *life) anyRuns(m *aMerge) bool {
	now := l.look()
	for at, g := range l.games {
		for _, name := range append([]string{m.into}, m.worlds...) {
			if s, has := own(now[l.config[name]]); at == l.config[name] || has && s.world == g.world {
				return true
			}
		}
	}
	return false
}

// otherFence reports whether another merge has fenced a world, or the new database as one of its own.
func (l *life) otherFence(m *aMerge, now images) bool {
	for _, w := range append([]string{m.into}, m.worlds...) {
		for _, s := range now[l.config[w]].servers {
			if merge, _ := fenceOf(s.holder); merge != "" && merge != m.plan.ID {
				return true
			}
		}
	}
	return false
}

// cameElsewhere reports whether the fleet registry may know of a world that another merge opened the database it came to:
// it is refused also if its fence was lifted by hand.
func (l *life) cameElsewhere(m *aMerge, at string, now images) bool {
	defer func(config map[string]string) { l.config = config }(l.config)
	for _, other := range l.merges {
		if l.kind != fleetKind || other == m || other.plan == nil {
			continue
		}
		l.config = other.led
		if s := l.state(other, now); (s == opened || s == opening) && slices.ContainsFunc(other.worlds, func(w string) bool { return other.led[w] == at }) {
			return true
		}
	}
	return false
}
