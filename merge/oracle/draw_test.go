package oracle

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// features are those that a run of 200 cases must have: what a game may have, and what the reference has to have met.
var features = []string{
	"2 worlds", "3 worlds", "4 worlds", "5 worlds", "chain: the first", "chain: not the first", "rekey = true",
	"an offset of its own", "when not", "a name in other case", "other types", "policy copy", "policy skip",
	"policy same", "policy reset", "policy combine", "formula sum", "formula max", "formula min", "formula first",
	"formula last", "formula append", "keep the first", "keep older", "keep active", "new names",
	"cells that follow a name", "cells that repeat a name", "set", "rows that are renumbered",
	"rows that are matched", "built-in rows", "space of several keys", "space without a table", "offset: a multiple",
	"offset: chosen", "max", "none", "dangling", "when", "self reference", "cycle", "one of several keys",
	"keys of text", "keys of bytes", "composite reference", "digits in a text", "foreign key", "generated columns",
	"AUTO_INCREMENT", "a table without a key", "counters in rows", "cells with keys: list", "cells with keys: regex",
	"cells with keys: json", "cells with keys: bits", "cells with keys: records", "cells with keys: array",
	"cells with keys: words", "format with then", "rows that stay by where", "rows that stay by best",
	"rows that stay by fewer", "rows that follow", "references that are cleared", "a condition is NULL",
	"keys in cells that are cleared", "gone of a table that stays", "gone is not said", "names that are keys", "keys with names in them",
	"names of combined rows", "names without a key",
}

// What the program is known to do wrong is not drawn, so that the rest is seen: counters that are full or undeclared,
// names in columns of bytes, expressions with two groups, and what these switches leave out. Each is drawn again with
// the fault that is corrected. Generated columns that are too narrow for a new key, the key 0 of a counter and equal
// members of an ENUM are not drawn either: merge has tests of these.
const (
	// If best goes by a column with none = [0] and dangling = [-7], the plan ends with an error about the order of its
	// values.
	drawDanglingBelowNone = false

	// A reset table to which rows of the first world refer is refused, whatever gone says.
	drawOwnRowsOfReset = false

	// The counter of a table is above keys that stay behind, but not if no row of another world comes to the table.
	countKeysOfNoRows = false

	// Nothing that is added to keys, and no counter, is above the keys of rows that stay behind since their table is
	// skipped or reset, and gone = "drop"; those of rows that stay behind by [[merge.leave]] count.
	countKeysOfDropped = false

	// A column that refers to two tables, by a when, is NOT VERIFIED if other numbers are added to their keys.
	drawWhenOfTwoOffsets = false

	// A row that comes without its account (gone = "none") is renumbered as if it still had it.
	drawPlacesOfCleared = false

	// The undo of an opened merge raises counters in rows of its first world. If that is itself a new database, its
	// own undo then takes these for changes of others, and wants -force.
	undoneAfterRaised = false
)

// draw draws a game.
type draw struct {
	*rand.Rand
	g      *Game
	worlds int

	leaving bool            // some rows stay behind
	silent  bool            // some references do not say what becomes of their rows
	behind  map[string]bool // tables that are left behind as a whole
	inCells []*Table        // whose keys may be in cells
}

func drawGame(seed uint64, mysql bool) *Game {
	g := &Game{Seed: seed, MySQL: mysql, Features: make(map[string]bool)}
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 1)), g: g, behind: make(map[string]bool)}
	d.worlds = one(d, 2, 2, 2, 3, 3, 4, 5)
	d.has(fmt.Sprint(d.worlds, " worlds"))
	chained := d.worlds > 2 && d.chance(0.5)
	if chained {
		d.has(one(d, "chain: the first", "chain: not the first"))
	}
	d.leaving = d.chance(0.4)
	d.silent = d.chance(0.15)
	d.g.Rules.Rekey = d.chance(0.5)
	if d.g.Rules.Rekey {
		d.has("rekey = true")
	}
	d.heroes()
	for _, f := range []struct {
		p   float64
		add func()
	}{
		{0.6, d.guilds}, {0.7, d.items}, {0.5, d.stats}, {0.5, d.mail}, {0.5, d.cells}, {0.5, d.wallets}, {0.4, d.templates},
		{0.5, d.leftBehind}, {0.4, d.counters}, {0.4, d.logs}, {0.4, d.clans}, {0.4, d.relics}, {0.4, d.grades},
		{0.4, d.pets},
		{0.3, d.builtIns}, {0.3, d.parties}, {0.4, d.scrolls}, {0.4, d.cars}, {0.5, d.friends}, {0.4, d.players},
		{0.4, d.stalls},
	} {
		if d.chance(f.p) {
			f.add()
		}
	}
	d.spaces(chained)
	if d.leaving {
		d.leave()
	}
	d.fill()
	return d.g
}

func (d *draw) chance(p float64) bool { return d.Float64() < p }
func (d *draw) has(feature string)    { d.g.Features[feature] = true }

func one[T any](d *draw, all ...T) T { return all[d.IntN(len(all))] }

// ---------------------------------------------------------------- tables and columns

func (d *draw) table(name string, most int) *Table {
	t := &Table{Name: name, Rows: make([][]Row, d.worlds), Next: make([]int64, d.worlds)}
	t.live, t.gone = make([][]int64, d.worlds), make([][]int64, d.worlds)
	many := d.chance(0.1)
	t.rows = func(int) int {
		if many {
			return d.IntN(3 * most)
		}
		return d.IntN(most + 1)
	}
	d.g.Tables = append(d.g.Tables, t)
	return t
}

func (d *draw) add(t *Table, c *Column, f fill) *Column {
	c.fill = f
	t.Columns = append(t.Columns, c)
	return c
}

// refer says that columns refer to rows, nothing that they name none, and shared that they mean the same in all worlds.
func (d *draw) refer(r Reference) {
	d.g.Rules.Check.Reference = append(d.g.Rules.Check.Reference, r)
}
func (d *draw) nothing(at ...string) { d.g.Rules.Check.Plain = append(d.g.Rules.Check.Plain, at...) }
func (d *draw) shared(at ...string)  { d.g.Rules.Check.Shared = append(d.g.Rules.Check.Shared, at...) }

// some picks one of the values, which may be NULL.
func (d *draw) some(values ...any) fill { return func(Row, int) any { return one(d, values...) } }

// or is NULL now and then.
func (d *draw) or(f fill) fill {
	return func(r Row, w int) any {
		if d.chance(0.15) {
			return nil
		}
		return f(r, w)
	}
}

// number picks one below most.
func (d *draw) number(most int64) fill { return func(Row, int) any { return d.Int64N(most) } }

// integer is a type of integers in which keys and their references fit.
func (d *draw) integer() string {
	if d.g.MySQL {
		return one(d, "INT", "INT UNSIGNED", "BIGINT", "BIGINT UNSIGNED")
	}
	return one(d, "INTEGER", "INT", "BIGINT")
}

func (d *draw) signed() string {
	if d.g.MySQL {
		return one(d, "INT", "BIGINT")
	}
	return "INTEGER"
}

// counted adds a key that each world counts for itself.
func (d *draw) counted(t *Table, name string) {
	t.Key = []string{name}
	t.Auto = d.chance(0.5)
	if t.Auto {
		d.has("AUTO_INCREMENT")
	}
	base := one[int64](d, 0, 0, 0, 0, 5, 40, 995, 2_000_000)
	t.builtIn = 0
	for w := range d.worlds {
		n := t.rows(w)
		from := base
		if d.chance(0.2) {
			from += d.Int64N(300)
		}
		for k := range n + 2 {
			if len(t.live[w]) < n && !d.chance(0.2) {
				t.live[w] = append(t.live[w], from+int64(k)+1)
			} else {
				t.gone[w] = append(t.gone[w], from+int64(k)+1)
			}
		}
		if t.Auto && d.chance(0.3) {
			t.Next[w] = from + int64(n) + 10 + d.Int64N(40)
		}
	}
	at := 0
	d.add(t, &Column{Name: name, Kind: "int", Type: d.integer()}, func(_ Row, w int) any {
		if len(t.Rows[w]) == 0 {
			at = 0
		}
		at++
		return t.live[w][at-1]
	})
	t.rows = func(w int) int { return len(t.live[w]) }
}

// plain adds a number that names nothing.
func (d *draw) plain(t *Table, name string, f fill) *Column {
	d.nothing(t.at(name))
	return d.add(t, &Column{Name: name, Kind: "int", Type: d.signed(), Null: true}, f)
}

// text adds a text of so many characters.
func (d *draw) text(t *Table, name string, size int, f fill) *Column {
	d.nothing(t.at(name))
	c := &Column{Name: name, Kind: "text", Size: size, Type: fmt.Sprintf("VARCHAR(%d)", size), Fold: d.g.MySQL}
	switch {
	case d.g.MySQL && d.chance(0.3):
		c.Type, c.Fold = c.Type+" COLLATE utf8mb4_bin", false
	case !d.g.MySQL && d.chance(0.4):
		c.Type, c.Fold = c.Type+" COLLATE NOCASE", true
	}
	return d.add(t, c, f)
}

// tag adds a text by which a person finds a row again.
func (d *draw) tag(t *Table) {
	n := 0
	d.text(t, "tag", 30, func(_ Row, w int) any { n++; return fmt.Sprintf("w%d:%s:%d", w+1, t.Name, n) })
}

// key picks a number that a row of a table has, or had, or another world's row has. No number without a row is in many
// rows: it would have to be declared.
func (d *draw) key(t *Table, w int) int64 {
	if len(t.live[w]) == 0 {
		return one(d, t.gone[w]...) + d.Int64N(3000)
	}
	switch from := d.IntN(20); {
	case from == 0:
		if far := t.live[d.IntN(d.worlds)]; len(far) > 0 {
			return one(d, far...) + one[int64](d, 0, 0, 100, 1000)
		}
	case from < 3:
		return one(d, t.gone[w]...) + one[int64](d, 0, 0, 0, 1, 2, 3, 4)*1000
	}
	return one(d, t.live[w]...)
}

// link adds a reference to the key of a table.
func (d *draw) link(t *Table, name string, to *Table, null bool) *Column {
	r := Reference{To: to.at(to.Key[0]), At: []string{t.at(name)}}
	c := &Column{Name: name, Kind: "int", Type: d.signed(), Null: null}
	if strings.HasPrefix(to.Columns[0].Type, "BIGINT") {
		c.Type = "BIGINT"
	}
	inKey := slices.Contains(t.Key, name)
	if !d.g.MySQL && !inKey && !d.leaving && !d.behind[to.Name] && name != "account" && d.chance(0.1) {
		c.Kind, c.Type, c.Size = "text", "TEXT", 0
		d.has("digits in a text")
	}
	var odd []int64
	if c.Kind == "int" && !inKey && (d.chance(0.5) || name == "account") {
		d.has("none")
		r.None = one(d, []string{"0"}, []string{"0", "-1"}, []string{"<1"})
		odd = append(odd, 0)
		if r.None[0] == "<1" {
			odd = append(odd, -5)
		} else if len(r.None) == 2 {
			odd = append(odd, -1)
		} else if d.chance(0.3) && (name != "account" && t.Name != "relic" || drawDanglingBelowNone) {
			d.has("dangling")
			r.Dangling = []string{"-7"}
			odd = append(odd, -7)
		}
	}
	d.goes(&r, to, c, inKey)
	d.refer(r)
	if to == t {
		d.has("self reference")
	}
	return d.add(t, c, func(_ Row, w int) any {
		var v int64
		switch {
		case null && d.chance(0.12):
			return nil
		case len(odd) > 0 && d.chance(0.2):
			v = one(d, odd...)
		default:
			v = d.key(to, w)
		}
		if c.Kind == "text" {
			return digits(v)
		}
		return v
	})
}

// goes says what becomes of a row whose row stays behind.
func (d *draw) goes(r *Reference, to *Table, c *Column, inKey bool) {
	if !d.leaving && !d.behind[to.Name] {
		return
	}
	d.has("gone of a table that stays")
	if d.silent && d.leaving && !d.behind[to.Name] && d.chance(0.15) {
		d.has("gone is not said")
		return
	}
	can := !inKey && c.Kind == "int" && (c.Null || len(r.None) > 0 && r.None[0] != "<1")
	if r.Gone = "drop"; can && d.chance(0.5) {
		r.Gone = "none"
	}
}

// space says that a key counts up in each world, unless rekey = true finds it.
func (d *draw) space(t *Table, s Space) {
	s.Keys = []string{t.at(t.Key[0])}
	d.g.Rules.Merge.Space = append(d.g.Rules.Merge.Space, s)
}

func (d *draw) policy(p Policy) { d.g.Rules.Merge.Table = append(d.g.Rules.Merge.Table, p) }

// ---------------------------------------------------------------- what a game may have

// heroes have accounts, of their own world or of all, names, and places of which an account has some.
func (d *draw) heroes() {
	accounts := d.chance(0.5)
	var account *Table
	if accounts {
		account = d.table("account", 8)
		d.counted(account, "id")
		used := make(map[string]bool)
		name := d.text(account, "name", 20, func(_ Row, w int) any {
			for {
				n := one(d, "ann", "bob", "cyd", "dan", "eve", "fay", "gus", "hal", "Ann", "BOB")
				if k := fmt.Sprint(w, strings.ToLower(n)); !used[k] && d.chance(0.9) {
					used[k] = true
					return n
				} else if d.chance(0.3) {
					return one[any](d, "", nil)
				}
			}
		})
		name.Null = true
		d.space(account, Space{Match: []string{"account.name"}})
		if d.chance(0.5) {
			set := d.combined(account)
			set["name"] = "first"
			d.has("policy combine")
			d.policy(Policy{Tables: []string{"account"}, Policy: "combine", Set: set})
		} else {
			d.tag(account)
		}
	}
	hero := d.table("hero", 14)
	d.counted(hero, "id")
	if accounts {
		d.link(hero, "account", account, true)
	} else {
		d.shared("hero.account")
		d.add(hero, &Column{Name: "account", Kind: "int", Type: d.signed(), Null: true}, d.or(d.number(7)))
	}
	d.plain(hero, "level", d.or(d.number(6)))
	d.plain(hero, "seen", d.or(func(Row, int) any { return now - 86400*d.Int64N(200) }))
	if d.chance(0.6) {
		d.heroNames(hero)
	}
	if d.chance(0.5) {
		d.places(hero)
	}
	if d.chance(0.5) {
		d.link(hero, "parent", hero, d.chance(0.5))
	}
	d.tag(hero)
	if d.chance(0.4) {
		d.has("generated columns")
		d.nothing("hero.twice")
		of, kind := "id", "INTEGER"
		if d.g.MySQL {
			of, kind = "COALESCE(account, 0)", "BIGINT" // MariaDB computes nothing from a counter
		}
		d.add(hero, &Column{Name: "twice", Kind: "int", Type: kind, Null: true, As: of + " * 2 + COALESCE(level, 0)"}, nil)
	}
	d.has("policy copy")
	d.space(hero, Space{})
	d.inCells = append(d.inCells, hero)
}

func (d *draw) heroNames(hero *Table) {
	n := Name{At: hero.at("name"), Template: one(d, "", "{name}.{source}", "{source}-{name}", "{name}_x")}
	used := make(map[string]bool)
	d.text(hero, "name", 12, func(r Row, w int) any {
		for {
			name := one(d, "Aria", "Bert", "aria", "Longfellow", "Aria.s2", "Bert.s0", "Dora", "Cid")
			name += one(d, "", "", "1", "2", "3")
			if k := fmt.Sprint(w, strings.ToLower(name)); !used[k] && len(name) <= 12 {
				used[k] = true
				return name
			}
			if len(used) > 0 && d.chance(0.1) {
				name = fmt.Sprint("n", len(used))
				used[fmt.Sprint(w, name)] = true
				return name
			}
		}
	})
	if d.chance(0.6) || d.leaving {
		hero.Unique = append(hero.Unique, []string{"name"})
	}
	switch d.IntN(3) {
	case 0:
		d.has("keep the first")
	case 1:
		d.has("keep older")
		n.Keep, n.By = "older", "made"
	case 2:
		d.has("keep active")
		n.Keep, n.By = "active", "made"
	}
	d.plain(hero, "made", d.number(5)).Null = false
	if d.chance(0.5) {
		d.has("set")
		n.Set = map[string]string{"flags": one(d, "| 1", "| 6", "9")}
		d.plain(hero, "flags", d.number(8)).Null = false
	}
	if d.chance(0.3) {
		n.Max = 11
	}
	d.g.Rules.Merge.Name = append(d.g.Rules.Merge.Name, n)
}

// places are those of the heroes of an account.
func (d *draw) places(hero *Table) {
	var from, most *int64
	if d.chance(0.5) {
		from = new(int64)
	}
	if d.chance(0.3) {
		most = new(int64)
		*most = 5000
	}
	said := &Renumber{Column: "slot", Within: []string{"account"}, From: from, Max: most}
	d.policy(Policy{Tables: []string{"hero"}, Renumber: said})
	used := make(map[string]bool)
	d.plain(hero, "slot", nil).fill = func(r Row, w int) any {
		for slot := int64(1); ; slot += 1 + d.Int64N(3) {
			if k := fmt.Sprint(w, r["account"], slot); !used[k] {
				used[k] = true
				return slot
			}
		}
	}
	unique := d.chance(0.5)
	if unique {
		hero.Unique = append(hero.Unique, []string{"account", "slot"})
	}
	for i := range d.g.Rules.Check.Reference {
		r := &d.g.Rules.Check.Reference[i]
		if r.At[0] == "hero.account" && r.Gone == "none" && (unique || !drawPlacesOfCleared) {
			r.Gone = "drop"
		}
	}
}

func (d *draw) guilds() {
	hero := d.g.table("hero")
	guild := d.table("guild", 4)
	d.counted(guild, "id")
	d.link(guild, "master", hero, false)
	d.tag(guild)
	d.space(guild, Space{})
	d.has("cycle")
	d.link(hero, "guild", guild, true)
	member := d.table("member", 10)
	member.Key = []string{"guild", "hero"}
	d.link(member, "guild", guild, false)
	d.link(member, "hero", hero, false)
	d.plain(member, "standing", d.number(4))
	d.tag(member)
}

func (d *draw) items() {
	hero := d.g.table("hero")
	item := d.table("item", 12)
	d.counted(item, "id")
	d.link(item, "owner", hero, d.chance(0.5))
	d.link(item, "box", item, d.chance(0.5))
	d.tag(item)
	if d.chance(0.3) {
		d.has("space of several keys")
		i := slices.IndexFunc(d.g.Rules.Merge.Space, func(s Space) bool { return slices.Contains(s.Keys, "hero.id") })
		s := &d.g.Rules.Merge.Space[i]
		s.Name, s.Keys = "objects", append(s.Keys, "item.id")
		for w := range d.worlds { // no item has the number of a hero
			for i, n := range item.live[w] {
				item.live[w][i] = n + 700
			}
			for i, n := range item.gone[w] {
				item.gone[w][i] = n + 700
			}
			if item.Next[w] > 0 {
				item.Next[w] += 700
			}
		}
		if !d.leaving && d.chance(0.6) {
			d.has("one of several keys")
			loot := d.table("loot", 8)
			d.counted(loot, "id")
			d.space(loot, Space{})
			d.refer(Reference{To: []string{"hero.id", "item.id"}, At: []string{"loot.what"}})
			d.add(loot, &Column{Name: "what", Kind: "int", Type: "BIGINT", Null: true}, func(_ Row, w int) any {
				return d.key(one(d, hero, item), w)
			})
			d.tag(loot)
		}
	} else {
		d.space(item, Space{})
	}
	gem := d.table("gem", 8)
	d.counted(gem, "id")
	d.link(gem, "item", item, false)
	d.tag(gem)
	d.space(gem, Space{})
	d.inCells = append(d.inCells, item)
}

// stats are one to one with heroes, and others name them.
func (d *draw) stats() {
	hero := d.g.table("hero")
	stats := d.table("stats", 8)
	stats.Key = []string{"hero"}
	d.link(stats, "hero", hero, false)
	d.plain(stats, "wins", d.number(90))
	d.tag(stats)
	if !d.leaving && !d.g.MySQL && d.chance(0.5) { // SQLite takes rows without a match
		d.has("foreign key")
		stats.Foreign = append(stats.Foreign, "hero hero.id")
	}
}

// mail names a hero or a guild, as its kind says, and heroes by their names.
func (d *draw) mail() {
	hero, guild := d.g.table("hero"), d.g.table("guild")
	mail := d.table("mail", 10)
	d.counted(mail, "id")
	d.space(mail, Space{})
	d.nothing("mail.kind")
	d.add(mail, &Column{Name: "kind", Kind: "int", Type: d.signed()}, d.number(4))
	d.has("when")
	whose := &Column{Name: "whose", Kind: "int", Type: "BIGINT", Null: true}
	r := Reference{To: "hero.id", At: []string{"mail.whose"}, Others: "plain"}
	r.When = &When{Column: "kind", Is: []string{"0", "3"}}
	if d.chance(0.4) {
		d.has("when not")
		r.When = &When{Column: "kind", Not: []string{"1", "2"}}
	}
	d.goes(&r, hero, whose, false)
	d.refer(r)
	if guild != nil {
		r := Reference{To: "guild.id", At: []string{"mail.whose"}, Others: "plain"}
		r.When = &When{Column: "kind", Is: []string{"1"}}
		d.goes(&r, guild, whose, false)
		d.refer(r)
	}
	d.add(mail, whose, func(r Row, w int) any {
		switch {
		case d.chance(0.1):
			return nil
		case r["kind"] == int64(1) && guild != nil:
			return d.key(guild, w)
		case r["kind"] == int64(0) || r["kind"] == int64(3):
			return d.key(hero, w)
		}
		return d.Int64N(20)
	})
	name := hero.column("name")
	if name == nil {
		d.tag(mail)
		return
	}
	names := func(w int) string {
		if len(hero.Rows[w]) == 0 || d.chance(0.1) {
			return "Nobody"
		}
		found := one(d, hero.Rows[w]...)["name"].(string)
		if name.Fold && !d.leaving && d.chance(0.2) {
			d.has("a name in other case")
			return strings.ToUpper(found)
		}
		return found
	}
	d.named(mail, "receiver", name, Reference{To: "hero.name"}, names)
	if c := d.link(mail, "sender", hero, true); c.Kind == "text" {
		d.tag(mail)
		return
	}
	d.named(mail, "sender_name", name, Reference{To: "hero.name", By: "sender"}, func(w int) string { return names(w) })
	own := mail.Columns[len(mail.Columns)-1].fill
	mail.Columns[len(mail.Columns)-1].fill = func(r Row, w int) any {
		i := slices.IndexFunc(hero.Rows[w], func(h Row) bool { return fmt.Sprint(h["id"]) == fmt.Sprint(r["sender"]) })
		if i >= 0 && d.chance(0.8) {
			return hero.Rows[w][i]["name"]
		}
		return own(r, w)
	}
	d.tag(mail)
}

// named adds a column that names rows by their names.
func (d *draw) named(t *Table, column string, name *Column, r Reference, fill func(w int) string) {
	c := &Column{Name: column, Kind: "text", Size: 20, Fold: name.Fold, Null: true}
	c.Type = strings.Replace(name.Type, "12", "20", 1)
	r.At = []string{t.at(column)}
	if r.By == "" && d.leaving {
		r.Gone = "drop"
	}
	d.refer(r)
	d.add(t, c, func(_ Row, w int) any {
		if c.Null && d.chance(0.1) {
			return nil
		}
		return fill(w)
	})
}

// cars have plates for keys, which are names, and so have their trunks.
func (d *draw) cars() {
	car := d.table("car", 8)
	car.Key = []string{"plate"}
	d.has("names that are keys")
	plate := d.text(car, "plate", 12, func(_ Row, w int) any { return fmt.Sprint(one(d, "AB ", "ab ", "X"), d.IntN(9)) })
	d.plain(car, "km", d.number(6)).Null = false
	d.link(car, "owner", d.g.table("hero"), true)
	d.tag(car)
	n := Name{At: "car.plate", Template: one(d, "", "{name}.{source}", "{source} {name}")}
	if d.chance(0.4) {
		n.Keep, n.By = one(d, "older", "active"), "km"
	}
	d.g.Rules.Merge.Name = append(d.g.Rules.Merge.Name, n)
	trunk := d.table("trunk", 8)
	trunk.Key = []string{"plate"}
	d.named(trunk, "plate", plate, Reference{To: "car.plate"}, func(w int) string {
		if len(car.Rows[w]) == 0 {
			return fmt.Sprint("none of ", w)
		}
		return one(d, car.Rows[w]...)["plate"].(string)
	})
	trunk.Columns[0].Null = false
	trunk.rows = func(w int) int { return min(6, len(car.Rows[w])) }
	if d.chance(0.5) {
		d.has("foreign key")
		trunk.Foreign = append(trunk.Foreign, "plate car.plate")
	}
	d.tag(trunk)
}

// friends are heroes by name alone.
func (d *draw) friends() {
	hero := d.g.table("hero")
	name := hero.column("name")
	if name == nil {
		return
	}
	d.has("keys with names in them")
	friend := d.table("friend", 8)
	friend.Key = []string{"account", "companion"}
	names := func(w int) string { return one(d, hero.Rows[w]...)["name"].(string) }
	d.named(friend, "account", name, Reference{To: "hero.name"}, names)
	d.named(friend, "companion", name, Reference{To: "hero.name"}, func(w int) string {
		if d.chance(0.2) {
			return one(d, "Nobody", "Nemo")
		}
		return names(w)
	})
	for _, c := range friend.Columns {
		c.Null = false
	}
	friend.rows = func(w int) int { return min(6, len(hero.Rows[w])) }
	d.tag(friend)
}

// stalls have no key but names, which their bills repeat.
func (d *draw) stalls() {
	stall := d.table("stall", 8)
	d.has("names without a key")
	d.heroNames(stall)
	stall.column("name").Null = true // an index over it is no key
	d.tag(stall)
	bill := d.table("bill", 10)
	d.plain(bill, "price", d.number(4)).Null = false
	d.named(bill, "stall", stall.column("name"), Reference{To: "stall.name"}, func(w int) string {
		if len(stall.Rows[w]) == 0 || d.chance(0.2) {
			return one(d, "Nobody", "Nemo")
		}
		return one(d, stall.Rows[w]...)["name"].(string)
	})
}

// players are the same in every world by a number, and have names there, which letters go to.
func (d *draw) players() {
	player := d.table("player", 6)
	d.counted(player, "id")
	taken := make(map[string]bool)
	free := func(w int, all ...string) string {
		for i := 0; ; i++ {
			text := one(d, all...)
			if i > 20 {
				text += fmt.Sprint(w, i)
			}
			if k := fmt.Sprint(w, strings.ToLower(text)); !taken[k] {
				taken[k] = true
				return text
			}
		}
	}
	d.text(player, "uuid", 20, func(_ Row, w int) any { return free(w, "u1-", "u2-", "u3-", "u4-", "u5-", "u6-", "u7-") })
	name := d.text(player, "name", 20, func(_ Row, w int) any { return free(w, "Ann", "Ben", "Cat", "Don", "Eli", "Flo", "ann", "Ben.s2") })
	player.Unique = append(player.Unique, []string{"uuid"}, []string{"name"})
	d.space(player, Space{Match: []string{"player.uuid"}})
	if d.chance(0.5) {
		d.policy(Policy{Tables: []string{"player"}, Policy: "combine", Set: map[string]string{"name": one(d, "first", "last"), "tag": "first"}})
	}
	d.tag(player)
	d.g.Rules.Merge.Name = append(d.g.Rules.Merge.Name, Name{At: "player.name", Template: one(d, "", "{name}.{source}")})
	letter := d.table("letter", 8)
	d.counted(letter, "id")
	d.space(letter, Space{})
	d.named(letter, "receiver", name, Reference{To: "player.name"}, func(w int) string {
		if len(player.Rows[w]) == 0 {
			return "Nobody"
		}
		return one(d, player.Rows[w]...)["name"].(string)
	})
	d.tag(letter)
}

// cells have keys inside them, in a format each.
func (d *draw) cells() {
	to := d.inCells[len(d.inCells)-1]
	leaves := to
	if d.leaving { // of keys in cells, only bits and words are cleared
		to = d.table("town", 5)
		d.counted(to, "id")
		d.tag(to)
		d.space(to, Space{})
	}
	bag := d.table("bag", 6)
	d.counted(bag, "id")
	d.space(bag, Space{})
	text, number := "TEXT", "INTEGER"
	if d.g.MySQL {
		text, number = "VARCHAR(400)", "BIGINT"
	}
	several := func(part func() string, sep string) any {
		var all []string
		for range d.IntN(4) {
			all = append(all, part())
		}
		return strings.Join(all, sep)
	}
	tagged := func(n int64) int64 { return n | one[int64](d, 0x4000, 0x4000, 0x1000)<<48 }
	type keys func() int64
	formats := []struct {
		name, kind, sqlType, format string
		cell                        func(key keys) any
	}{
		{"list1", "text", text, "list sep=' ' every", func(key keys) any {
			return several(func() string { return digits(key()) }, " ")
		}},
		{"list2", "text", text, "list sep=':' pos=0", func(key keys) any { return digits(key()) + ":x:" + digits(key()) }},
		{"list3", "text", text, "list sep=',' every=2+1", func(key keys) any {
			return several(func() string { return "5," + digits(key()) }, ",")
		}},
		{"list4", "text", text, "list sep=';' every then list sep=':' pos=1", func(key keys) any {
			return several(func() string { return "a:" + digits(key()) + ":7" }, ";")
		}},
		{"regex1", "text", text, "regex 'item:([0-9]+)|none'", func(key keys) any {
			return one(d, "none", "see item:"+digits(key())+", item:"+digits(key())+"!")
		}},
		{"regex2", "text", text, "regex '^([0-9A-F]+):' base=16 upper width=8 pad='0'", func(key keys) any {
			return fmt.Sprintf("%08X:%d", key(), d.IntN(9))
		}},
		{"json1", "text", text, "json '$.items[*].id'", func(key keys) any {
			items := several(func() string { return fmt.Sprintf(`{"id": %d,"n":%d}`, key(), d.IntN(9)) }, ", ")
			return fmt.Sprintf(`{ "n": 3, "items" :[%s], "x":"5"}`, items)
		}},
		{"json2", "text", text, "json '$.to' then list sep=' ' every", func(key keys) any {
			return fmt.Sprintf(`{"to":"%s","id":4}`, several(func() string { return digits(key()) }, " "))
		}},
		{"bits1", "int", number, "bits 0..31 tag 48..63=0x4000", func(key keys) any { return tagged(key()) }},
		{"records1", "bytes", "BLOB", "records size=8 at=2 len=4 le empty=0xFFFFFFFF", func(key keys) any {
			var all []byte
			for range d.IntN(4) {
				all = binary.LittleEndian.AppendUint32(append(all, 1, 2), one(d, uint32(key()), uint32(key()), 0xFFFFFFFF))
				all = append(all, 3, 4)
			}
			return all
		}},
		{"array1", "bytes", "BLOB", "array count=u16be elem=u64le then bits 0..31 tag 48..63=0x4000", func(key keys) any {
			n := d.IntN(4)
			all := binary.BigEndian.AppendUint16(nil, uint16(n))
			for range n {
				all = binary.LittleEndian.AppendUint64(all, uint64(tagged(key())))
			}
			return all
		}},
		{"low", "int", number, "words [low, high]", func(key keys) any { return key() }},
	}
	d.Shuffle(len(formats), func(i, j int) { formats[i], formats[j] = formats[j], formats[i] })
	for _, f := range formats[:1+d.IntN(4)] {
		r, to := Reference{At: []string{bag.at(f.name)}, Format: f.format}, to
		if column := (Column{Kind: "int"}); d.leaving && f.kind == "int" {
			to, r.None = leaves, []string{"0"}
			if d.goes(&r, to, &column, false); r.Gone == "drop" {
				r.Gone = "none"
			}
		}
		r.To = to.at("id")
		if strings.HasSuffix(f.format, "=0x4000") {
			r.Others = "plain" // numbers with another tag
		}
		if strings.Contains(f.format, " then ") {
			d.has("format with then")
		}
		d.refer(r)
		key := func(_ Row, w int) any { return f.cell(func() int64 { return d.key(to, w) }) }
		if f.name != "low" {
			d.add(bag, &Column{Name: f.name, Kind: f.kind, Type: f.sqlType, Null: true}, d.or(key))
			continue
		}
		var n int64 // in two columns
		d.add(bag, &Column{Name: "low", Kind: "int", Type: number}, func(r Row, w int) any {
			n = key(r, w).(int64)
			return n & 0xFFFF
		})
		d.add(bag, &Column{Name: "high", Kind: "int", Type: number}, func(Row, int) any { return n >> 16 })
	}
	d.tag(bag)
}

// combined adds a column for each formula.
func (d *draw) combined(t *Table) map[string]string {
	set := make(map[string]string)
	for _, f := range []struct{ name, formula string }{
		{"gold", "sum"}, {"vip", "max"}, {"since", "min"}, {"vote", "first"}, {"face", "last"},
	} {
		if d.chance(0.7) {
			set[f.name] = f.formula
			d.plain(t, f.name, d.or(func(Row, int) any { return d.Int64N(60) - 20 }))
		}
	}
	if d.chance(0.7) {
		set["log"] = "append 60"
		d.text(t, "log", 60, d.some(nil, "", "abc;", "é;")).Null = true
	}
	if d.chance(0.7) {
		d.plain(t, "realm", d.some(int64(7)))
	}
	return set
}

// wallets have one row for each account and currency.
func (d *draw) wallets() {
	wallet := d.table("wallet", 10)
	wallet.Key = []string{"account", "currency"}
	if account := d.g.table("account"); account != nil {
		d.link(wallet, "account", account, false)
	} else {
		d.shared("wallet.account")
		d.add(wallet, &Column{Name: "account", Kind: "int", Type: d.signed()}, func(Row, int) any { return 1 + d.Int64N(5) })
	}
	d.shared("wallet.currency")
	d.add(wallet, &Column{Name: "currency", Kind: "int", Type: d.signed()}, func(Row, int) any { return 1 + d.Int64N(2) })
	d.has("policy combine")
	d.policy(Policy{Tables: []string{"wallet"}, Policy: "combine", Set: d.combined(wallet)})
}

// templates are the same in every world.
func (d *draw) templates() {
	t := d.table("template", 6)
	t.Key, t.same = []string{"id"}, true
	d.has("policy same")
	d.policy(Policy{Tables: []string{"template"}, Policy: "same"})
	n := int64(0)
	d.shared("template.id")
	d.add(t, &Column{Name: "id", Kind: "int", Type: d.signed()}, func(Row, int) any { n++; return n })
	d.plain(t, "price", d.number(99))
}

// leftBehind are tables of which the rows of other worlds stay behind, or all.
func (d *draw) leftBehind() {
	policy := one(d, "skip", "reset")
	d.has("policy " + policy)
	d.behind["auction"] = true
	auction := d.table("auction", 6)
	d.counted(auction, "id")
	d.policy(Policy{Tables: []string{"auction"}, Policy: policy})
	d.plain(auction, "price", d.number(50))
	d.tag(auction)
	bid := d.table("bid", 8)
	d.counted(bid, "id")
	d.space(bid, Space{})
	own := policy == "reset" && !drawOwnRowsOfReset
	c := d.link(bid, "auction", auction, own || d.chance(0.5))
	fill := c.fill
	c.fill = func(r Row, w int) any {
		if own && (w == 0 || w == d.worlds-1 && d.g.Features["chain: not the first"]) {
			return nil
		}
		return fill(r, w)
	}
	d.tag(bid)
}

// counters are rows that count the keys of other tables.
func (d *draw) counters() {
	seq := d.table("seq", 0)
	seq.Key = []string{"name"}
	d.policy(Policy{Tables: []string{"seq"}, Policy: "skip"})
	d.has("policy skip")
	names := []string{"hero"}
	for _, name := range []string{"guild", "item"} {
		if d.g.table(name) != nil {
			names = append(names, name)
		}
	}
	for _, name := range names {
		c := Counter{At: "seq.next", When: &When{Column: "name", Is: []string{name}}, To: name + ".id"}
		d.g.Rules.Merge.Counter = append(d.g.Rules.Merge.Counter, c)
	}
	seq.rows = func(int) int { return len(names) }
	at := 0
	d.text(seq, "name", 20, func(_ Row, w int) any { at++; return names[(at-1)%len(names)] })
	d.add(seq, &Column{Name: "next", Kind: "int", Type: d.signed()}, func(r Row, w int) any {
		t := d.g.table(r["name"].(string))
		return slices.Max(append(t.live[w], t.gone[w]...)) + 1 + d.Int64N(5)
	})
}

// logs have no key, and rows that are there twice.
func (d *draw) logs() {
	t := d.table("log", 10)
	d.has("a table without a key")
	d.plain(t, "what", d.number(2)).Null = false
	c := d.add(t, &Column{Name: "hero", Kind: "int", Type: "BIGINT"}, nil)
	if d.leaving || d.chance(0.3) {
		d.nothing("log.hero")
		c.fill = func(Row, int) any { return 1 + d.Int64N(3) }
		return
	}
	hero := d.g.table("hero")
	d.refer(Reference{To: "hero.id", At: []string{"log.hero"}})
	c.fill = func(_ Row, w int) any { return d.key(hero, w) }
}

// clans have texts for keys, which are of one world each.
func (d *draw) clans() {
	clan := d.table("clan", 6)
	clan.Key = []string{"name"}
	d.has("keys of text")
	name := func(w int, n int64) string { return fmt.Sprintf("é'%d w%d", n, w) }
	d.text(clan, "name", 20, func(_ Row, w int) any { return name(w, int64(len(clan.Rows[w])+1)) })
	d.link(clan, "leader", d.g.table("hero"), true)
	d.tag(clan)
	banner := d.table("banner", 8)
	d.counted(banner, "id")
	d.space(banner, Space{})
	c := &Column{Name: "clan", Kind: "text", Size: 20, Null: d.chance(0.5)}
	c.Type, c.Fold = clan.Columns[0].Type, clan.Columns[0].Fold
	r := Reference{To: "clan.name", At: []string{"banner.clan"}, None: []string{""}}
	if d.leaving {
		r.Gone = one(d, "drop", "none")
	}
	d.refer(r)
	d.add(banner, c, func(_ Row, w int) any {
		if d.chance(0.15) {
			return ""
		}
		return name(w, 1+d.Int64N(7))
	})
	d.tag(banner)
}

// relics have bytes for keys, and lie in each other.
func (d *draw) relics() {
	relic := d.table("relic", 8)
	d.has("keys of bytes")
	relic.Key = []string{"id"}
	kind := "BLOB"
	if d.g.MySQL {
		kind = "VARBINARY(12)"
	} else {
		relic.Bare = true // a primary key of bytes would be an ID of this project
	}
	id := func(w int, n byte) []byte { return []byte{byte(w + 1), 0xff, 0, n} }
	d.nothing("relic.id")
	d.add(relic, &Column{Name: "id", Kind: "bytes", Type: kind}, func(_ Row, w int) any {
		return id(w, byte(len(relic.Rows[w])+1))
	})
	r := Reference{To: "relic.id", At: []string{"relic.inside"}}
	if d.leaving {
		r.Gone = one(d, "drop", "none")
	}
	d.refer(r)
	d.add(relic, &Column{Name: "inside", Kind: "bytes", Type: kind, Null: true}, func(_ Row, w int) any {
		if d.chance(0.2) {
			return nil
		}
		return id(w, byte(1+d.IntN(9)))
	})
	d.link(relic, "owner", d.g.table("hero"), true)
	d.plain(relic, "kind", d.number(4))
	d.tag(relic)
}

// grades have keys of two columns, which others name together.
func (d *draw) grades() {
	guild := d.g.table("guild")
	if guild == nil {
		return
	}
	d.has("composite reference")
	grade := d.table("grade", 8)
	grade.Key = []string{"guild", "n"}
	d.link(grade, "guild", guild, false)
	grade.column("guild").Type = "BIGINT"
	d.nothing("grade.n", "post.n")
	d.add(grade, &Column{Name: "n", Kind: "int", Type: d.signed()}, d.number(4))
	d.tag(grade)
	post := d.table("post", 8)
	d.counted(post, "id")
	d.space(post, Space{})
	r := Reference{To: "grade.(guild, n)", At: []string{"post.(guild, n)"}}
	if d.leaving {
		r.Gone = "drop"
	}
	d.refer(r)
	key := func(_ Row, w int) any { return d.key(guild, w) }
	d.add(post, &Column{Name: "guild", Kind: "int", Type: "BIGINT", Null: true}, d.or(key))
	d.add(post, &Column{Name: "n", Kind: "int", Type: d.signed(), Null: true}, d.or(d.number(4)))
	d.tag(post)
}

// pets name a hero that is there: the database knows the reference.
func (d *draw) pets() {
	hero := d.g.table("hero")
	pet := d.table("pet", 6)
	d.counted(pet, "id")
	d.space(pet, Space{})
	d.has("foreign key")
	r := Reference{To: "hero.id", At: []string{"pet.owner"}}
	c := &Column{Name: "owner", Kind: "int", Type: hero.Columns[0].Type, Null: true}
	d.goes(&r, hero, c, false)
	d.refer(r)
	d.add(pet, c, func(_ Row, w int) any {
		if len(hero.live[w]) == 0 || d.chance(0.2) {
			return nil
		}
		return one(d, hero.live[w]...)
	})
	pet.Foreign = append(pet.Foreign, "owner hero.id")
	d.tag(pet)
}

// builtIns are rows that are the same in every world, beside others that are not.
func (d *draw) builtIns() {
	t := d.table("shop", 6)
	t.builtIn = 4
	d.counted(t, "id")
	d.plain(t, "price", d.number(50))
	d.space(t, Space{Keep: "<1000"})
	for w := range d.worlds {
		for i := range t.live[w] {
			t.live[w][i] = 1000 + t.live[w][i]%1_000_000
		}
		for i := range t.gone[w] {
			t.gone[w][i] = 1000 + t.gone[w][i]%1_000_000
		}
		slices.Sort(t.live[w])
		t.live[w], t.Next[w] = append([]int64{3, 500, 999}, t.live[w]...), 0
	}
	t.builtIn = 1000
	sale := d.table("sale", 8)
	d.counted(sale, "id")
	d.space(sale, Space{})
	d.link(sale, "shop", t, false)
	d.tag(sale)
}

// scrolls have values of other types, which come as they are.
func (d *draw) scrolls() {
	t := d.table("scroll", 8)
	d.counted(t, "id")
	d.space(t, Space{})
	d.has("other types")
	d.text(t, "body", 80, d.some(nil, "", "a'b\"c", "{name} 50%", "\u00e9\u4e16\U0001f409", "two\nlines\tand a tab",
		" spaces ", "007", "0x1F")).Null = true
	blob, double := "BLOB", "REAL"
	if d.g.MySQL {
		blob, double = "VARBINARY(60)", "DOUBLE"
	}
	d.add(t, &Column{Name: "data", Kind: "bytes", Type: blob, Null: true}, func(Row, int) any {
		b := make([]byte, d.IntN(9))
		for i := range b {
			b[i] = byte(d.IntN(256))
		}
		return b
	})
	d.nothing("scroll.data", "scroll.weight")
	d.add(t, &Column{Name: "weight", Kind: "text", Type: double, Null: true}, d.some(nil, 0.5, -1.25, 1e15, 3.25e-7))
	if d.g.MySQL {
		d.nothing("scroll.price", "scroll.made")
		d.add(t, &Column{Name: "price", Kind: "text", Type: "DECIMAL(12,2)", Null: true}, d.some(nil, "0.10", "-12345678.90"))
		d.add(t, &Column{Name: "made", Kind: "text", Type: "DATETIME(3)", Null: true}, d.some(nil, "2024-02-29 23:59:59.125"))
	}
	d.tag(t)
}

// parties have no table: only their members know them.
func (d *draw) parties() {
	d.has("space without a table")
	d.g.Rules.Merge.Space = append(d.g.Rules.Merge.Space, Space{Name: "party"})
	for _, name := range []string{"party1", "party2"} {
		t := d.table(name, 6)
		d.counted(t, "id")
		d.space(t, Space{})
		d.refer(Reference{To: "space:party", At: []string{t.at("party")}, None: []string{"0"}})
		d.add(t, &Column{Name: "party", Kind: "int", Type: d.signed()}, d.number(9))
		d.tag(t)
	}
}

// spaces chooses how keys move, and leaves those to rekey = true that it finds.
func (d *draw) spaces(chained bool) {
	m := &d.g.Rules.Merge
	var left []Space
	for _, s := range m.Space {
		table, _, _ := strings.Cut(slices.Concat(s.Keys, []string{"."})[0], ".")
		t := d.g.table(table)
		switch {
		case d.g.Rules.Rekey && t != nil && t.Auto && len(s.Keys) == 1 && s.Keep == "" && s.Match == nil && d.chance(0.6):
			continue
		case d.chance(0.05):
			d.has("offset: a multiple")
			s.Offset = one[int64](d, 1, 100, 10_000_000)
		case d.chance(0.05) && !chained && !d.g.Rules.Rekey && s.Match == nil && s.Name == "" &&
			(drawWhenOfTwoOffsets || table != "hero" && table != "guild"):
			d.has("offset: chosen")
			s.Offset = map[string]int64{"s2": 50_000_000 + d.Int64N(1000)}
		case d.chance(0.15) && !d.g.Rules.Rekey && s.Name == "" && s.Match == nil && s.Keep == "" && d.low(t) &&
			(drawWhenOfTwoOffsets || table != "hero" && table != "guild"):
			s.Max = 60_000 // there is no room for what is added to other keys
		case d.chance(0.05):
			d.has("max")
			s.Max = one[int64](d, 100_000_000, 1_000_000_000)
		}
		left = append(left, s)
	}
	m.Space = left
	if d.g.Features["offset: a multiple"] { // which is one for all spaces
		for i := range left {
			if left[i].Max == 60_000 {
				left[i].Max = 0
			}
		}
	}
}

// low reports whether all keys of a table are small.
func (d *draw) low(t *Table) bool {
	for w := range d.worlds {
		for _, n := range slices.Concat(t.live[w], t.gone[w], []int64{t.Next[w]}) {
			if n > 2000 {
				return false
			}
		}
	}
	return true
}

// leave says which rows stay behind.
func (d *draw) leave() {
	say := func(l Leave) { d.g.Rules.Merge.Leave = append(d.g.Rules.Merge.Leave, l) }
	best := func() *Best {
		by := one(d, []string{"level desc"}, []string{"level desc", "seen"}, []string{"seen desc", "level asc"},
			[]string{"seen"})
		return &Best{Of: "account", Keep: 1 + d.IntN(2), By: by}
	}
	where := []string{"level < 3", "level<3 and not (seen >= :now - 90*86400)", "COALESCE(`level`, 0) % 2 = 0 OR id = 3",
		"(SELECT COUNT(*) FROM hero h WHERE h.account = hero.account) > 2 AND level BETWEEN 1 AND 4",
		"CASE WHEN seen IS NULL THEN 1 ELSE 0 END = 1",
		"level NOT IN (SELECT h.level FROM hero AS h WHERE h.seen < :now - 100*86400)"}
	if d.g.table("item") != nil {
		where = append(where, "NOT EXISTS (SELECT 1 FROM item WHERE item.owner = hero.id)")
	}
	if d.chance(0.7) {
		l := Leave{Table: "hero", Where: one(d, where...)}
		if d.chance(0.5) {
			l.Best = best()
		}
		say(l)
	} else {
		say(Leave{Table: "hero", Best: best()})
	}
	if d.g.table("guild") != nil && d.chance(0.6) {
		say(Leave{Table: "guild", Fewer: &Fewer{Of: "member.guild", Than: 1 + d.IntN(3)}})
	}
	if d.g.table("item") != nil && d.chance(0.3) {
		say(Leave{Table: "item", Where: "id % 4 = 1"})
	}
	if d.g.table("member") != nil && d.chance(0.3) {
		say(Leave{Table: "member", Where: "standing % 3 = 1"})
	}
	if d.g.table("clan") != nil && d.chance(0.4) {
		say(Leave{Table: "clan", Where: "leader IS NULL"})
	}
	if d.g.table("relic") != nil && d.chance(0.4) {
		say(Leave{Table: "relic", Where: "kind = 2", Best: &Best{Of: "owner", Keep: 1, By: []string{"kind desc"}}})
	}
	if d.g.table("grade") != nil && d.chance(0.4) {
		say(Leave{Table: "grade", Fewer: &Fewer{Of: "post.(guild, n)", Than: 1}})
	}
	if d.g.table("account") != nil && d.chance(0.3) {
		say(Leave{Table: "account", Where: fmt.Sprintf("id %% 3 = %d", d.IntN(3))})
	}
}

// ---------------------------------------------------------------- rows

func (d *draw) fill() {
	for w := range d.worlds {
		for _, t := range d.g.Tables {
			keys := make(map[string]bool)
			for i := range t.rows(w) {
				row := make(Row)
				for _, c := range t.Columns {
					if c.As == "" {
						row[c.Name] = c.fill(row, w)
					}
				}
				if t.same && w > 0 {
					continue
				}
				if n, is := row["id"].(int64); is && t.builtIn > 0 && n < t.builtIn && w > 0 {
					row = t.Rows[0][i]
				}
				if len(t.Key) > 0 {
					key := ""
					for _, k := range t.Key {
						part := fmt.Sprintf("%v/", row[k])
						if t.column(k).Fold {
							part = strings.ToLower(part)
						}
						key += part
					}
					if keys[key] {
						continue
					}
					keys[key] = true
				}
				t.Rows[w] = append(t.Rows[w], row)
			}
			if t.same && w > 0 {
				t.Rows[w] = t.Rows[0]
			}
		}
	}
}
