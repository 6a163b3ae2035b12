package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// The oracle of rows that stay behind. It knows worlds as Go values, has only loops, and knows only the sentences of
// DESIGN 10: it asks no plan and no set of keys. A row is found again by its tag, whatever its key is.

// leaveTables are the tables of a game: each column refers to a table, or to none ("").
var leaveTables = []struct {
	name    string
	key     string // "" for a key of the first two columns
	columns []leaveColumn
}{
	{"account", "id", []leaveColumn{{"name", "VARCHAR(20)", "", false}}},
	{"hero", "guid", []leaveColumn{{"account", "INTEGER", "account", true}, {"guild", "INTEGER", "guild", true}, {"clan", "VARCHAR(20)", "clan", true}, {"parent", "INTEGER NOT NULL", "hero", false}, {"level", "INTEGER", "", true}, {"seen", "INTEGER", "", true}}},
	{"guild", "id", []leaveColumn{{"master", "INTEGER NOT NULL", "hero", false}, {"crest", "VARCHAR(20) NOT NULL UNIQUE", "", false}}},
	{"member", "", []leaveColumn{{"guild", "INTEGER NOT NULL", "guild", false}, {"hero", "INTEGER NOT NULL", "hero", false}}},
	{"item", "id", []leaveColumn{{"owner", "INTEGER", "hero", true}, {"box", "INTEGER NOT NULL", "item", false}}},
	{"gem", "id", []leaveColumn{{"item", "INTEGER NOT NULL", "item", false}}},
	{"rune", "id", []leaveColumn{{"gem", "INTEGER", "gem", true}}},
	{"spark", "id", []leaveColumn{{"rune", "INTEGER NOT NULL", "rune", false}}},
	{"spell", "", []leaveColumn{{"hero", "INTEGER NOT NULL", "hero", false}, {"n", "INTEGER NOT NULL", "", false}}},
	{"mail", "id", []leaveColumn{{"kind", "INTEGER NOT NULL", "", false}, {"sender", "INTEGER", "hero", true}, {"thing", "INTEGER", "item", true}}},
	{"town", "id", nil},
	{"tour", "id", []leaveColumn{{"stops", "VARCHAR(60)", "", false}}}, // keys of towns in cells
	{"vip", "id", []leaveColumn{{"who", "INTEGER", "", true}}},
	{"clan", "name", []leaveColumn{{"leader", "INTEGER", "hero", true}, {"ally", "VARCHAR(20) NOT NULL", "clan", false}, {"no", "INTEGER NOT NULL UNIQUE", "", false}}},
	{"banner", "id", []leaveColumn{{"no", "INTEGER", "clan#no", true}, {"crest", "VARCHAR(20)", "guild#crest", true}, {"kind", "INTEGER NOT NULL", "", false}}},
	{"ribbon", "id", []leaveColumn{{"banner", "INTEGER NOT NULL", "banner", false}}},
	{"grade", "", []leaveColumn{{"guild", "INTEGER NOT NULL", "guild", false}, {"n", "INTEGER NOT NULL", "", false}, {"up", "INTEGER", "", true}, {"clan", "VARCHAR(20)", "clan", true}}},
	{"post", "id", []leaveColumn{{"guild", "INTEGER", "guild", true}, {"n", "INTEGER", "", true}}},
	{"relic", "id", []leaveColumn{{"owner", "INTEGER", "hero", true}, {"inside", "BYTES", "relic", true}, {"kind", "INTEGER NOT NULL", "", false}}},
	{"charm", "id", []leaveColumn{{"relic", "BYTES", "relic", true}, {"n", "INTEGER NOT NULL", "", false}}},
}

// leaveKinds are what keys are that are no integers.
var leaveKinds = map[string]string{"guild#crest": "text", "clan": "text", "relic": "bytes", "member": "composite", "grade": "composite", "spell": "composite"}

// leaveRef is a reference: of one column, or of several to a key of several.
type leaveRef struct {
	table   string
	columns []string
	to      string
	keys    []string // columns of the key, if there are several
	second  bool     // it names another key than the one by which most references name such rows
}

func (r leaveRef) at() string {
	if len(r.columns) == 1 {
		return r.table + "." + r.columns[0]
	}
	return r.table + ".(" + strings.Join(r.columns, ", ") + ")"
}

// refs are all references.
func (c *leaveCase) refs() (all []leaveRef) {
	for _, t := range leaveTables {
		for _, col := range t.columns {
			if col.to != "" && (col.to != "account" || c.matched) {
				to, _, second := strings.Cut(col.to, "#")
				all = append(all, leaveRef{t.name, []string{col.name}, to, nil, second})
			}
		}
	}
	keys := []string{"guild", "n"}
	return append(all, leaveRef{"post", keys, "grade", keys, false}, leaveRef{"grade", []string{"guild", "up"}, "grade", keys, false})
}

// sql writes a value that names a row of a table, and printed is how it is read again.
func sqlOf(world int, to string, v int64) string {
	switch {
	case leaveKinds[to] == "text" && v == 0:
		return "''"
	case leaveKinds[to] == "text":
		return "'" + strings.ReplaceAll(printedOf(world, to, v), "'", "''") + "'"
	case leaveKinds[to] == "bytes":
		return "x'" + printedOf(world, to, v)[1:] + "'"
	}
	return fmt.Sprint(v)
}

func printedOf(world int, to string, v int64) string {
	switch {
	case leaveKinds[to] == "text" && v == 0:
		return ""
	case leaveKinds[to] == "text":
		return fmt.Sprintf("é'%d w%d", v, world)
	case leaveKinds[to] == "bytes":
		return fmt.Sprintf("x%02x%014x", world, v)
	}
	return fmt.Sprint(v)
}

type leaveColumn struct {
	name, sqlType, to string
	null              bool
}

// leaveRow is a row: NULL is nil.
type leaveRow struct {
	world int
	table string
	key   int64
	of    map[string]*int64
	text  map[string]string
	tag   string
}

// leaveCase is a random fleet and what is said of it.
type leaveCase struct {
	seed     uint64
	worlds   int
	into     bool
	matched  bool                          // accounts, by name; otherwise account numbers are shared
	gone     map[string]declare.RowsPolicy // by table.column
	says     []declare.Leave
	holds    map[int]func(w *leaveCase, r *leaveRow) *bool // where of a statement
	now      int64
	rows     []*leaveRow
	features map[string]int

	stays map[*leaveRow]bool
}

func newLeaveCase(seed uint64) *leaveCase {
	r := rand.New(rand.NewPCG(seed, 33))
	c := &leaveCase{seed: seed, worlds: 2 + r.IntN(2), matched: r.IntN(2) == 0, into: r.IntN(2) == 0, gone: make(map[string]declare.RowsPolicy),
		holds: make(map[int]func(*leaveCase, *leaveRow) *bool), now: 1_700_000_000, features: make(map[string]int)}
	c.fill(r)
	silent := r.IntN(4) == 0 // some references say nothing
	for _, ref := range c.refs() {
		inKey := len(ref.columns) > 1 || ref.second || slices.ContainsFunc(leaveTables, func(t struct {
			name    string
			key     string
			columns []leaveColumn
		}) bool {
			return t.name == ref.table && t.key == "" && (ref.columns[0] == t.columns[0].name || ref.columns[0] == t.columns[1].name)
		})
		switch n := r.IntN(8); {
		case silent && n == 0:
		case n < 3 && !inKey:
			c.gone[ref.at()] = declare.RowsNone
		default:
			c.gone[ref.at()] = declare.RowsDrop
		}
	}
	c.say(r)
	return c
}

func (c *leaveCase) fill(r *rand.Rand) {
	ptr := func(n int64) *int64 { return &n }
	for w := range c.worlds {
		counts := map[string]int{"account": r.IntN(6), "hero": r.IntN(14), "guild": r.IntN(4), "member": r.IntN(10), "item": r.IntN(12), "gem": r.IntN(8), "rune": r.IntN(6), "spark": r.IntN(6), "spell": r.IntN(10), "mail": r.IntN(8), "town": 1 + r.IntN(4), "tour": r.IntN(3), "vip": r.IntN(3), "clan": r.IntN(6), "grade": r.IntN(8), "post": r.IntN(8), "relic": r.IntN(8), "charm": r.IntN(6), "banner": r.IntN(8), "ribbon": r.IntN(4)}
		if r.IntN(4) == 0 { // much of each
			for name := range counts {
				counts[name] *= 3
			}
		}
		for _, t := range leaveTables {
			seen := make(map[string]bool)
			for i := range counts[t.name] {
				row := &leaveRow{world: w, table: t.name, key: int64(i + 1), of: make(map[string]*int64), text: make(map[string]string), tag: fmt.Sprintf("w%d:%s:%d", w, t.name, i)}
				for _, col := range t.columns {
					to, _, _ := strings.Cut(col.to, "#")
					most := int64(counts[to])
					switch {
					case col.name == "no" && t.name == "clan":
						row.of["no"] = ptr(row.key)
					case col.name == "crest" && t.name == "guild":
						row.text["crest"] = printedOf(w, "guild#crest", row.key)
					case col.name == "name":
						if row.text["name"] = fmt.Sprintf("p%d", r.IntN(10)); seen[row.text["name"]] || r.IntN(8) == 0 {
							row.text["name"] = ""
						}
						seen[row.text["name"]] = true
					case col.name == "stops":
						row.text["stops"] = fmt.Sprint(1+r.IntN(counts["town"]), " ", 1+r.IntN(counts["town"]))
					case col.name == "level" || col.name == "seen" || col.name == "kind" || col.name == "n" || col.name == "who" || col.name == "up":
						row.of[col.name] = ptr(r.Int64N(6))
						if col.name == "seen" {
							row.of[col.name] = ptr(c.now - 86400*r.Int64N(200))
						}
					case col.to == "account" && !c.matched:
						row.of[col.name] = ptr(1 + r.Int64N(8))
					default:
						v := ptr(1 + r.Int64N(max(most, 1)))
						if dirty := r.IntN(12) == 0; dirty || most == 0 {
							v = ptr(50 + r.Int64N(40)) // leads nowhere
							c.features["dirt"]++
						}
						if r.IntN(5) == 0 && leaveKinds[col.to] != "bytes" && (t.key != "" || col.name != t.columns[0].name && col.name != t.columns[1].name) {
							v = ptr(0) // names nobody
						}
						row.of[col.name] = v
					}
					if col.null && r.IntN(6) == 0 {
						row.of[col.name] = nil
						c.features["NULL"]++
					}
				}
				if t.key == "" {
					k := fmt.Sprint(*row.of[t.columns[0].name], "/", *row.of[t.columns[1].name])
					if seen[k] {
						continue
					}
					seen[k] = true
				}
				c.rows = append(c.rows, row)
			}
		}
	}
}

// conditions are those of heroes: what is given to the database, and what it means: true, false or NULL.
var heroConditions = []struct {
	text  string
	holds func(c *leaveCase, r *leaveRow) *bool
}{
	{"level < 3", func(_ *leaveCase, r *leaveRow) *bool { return below(r.of["level"], 3) }},
	{"level<3 and not (seen >= :now - 90*86400)", func(c *leaveCase, r *leaveRow) *bool {
		return and(below(r.of["level"], 3), below(r.of["seen"], c.now-90*86400))
	}},
	{"COALESCE(`level`, 0) % 2 = 0 OR guid = 3", func(_ *leaveCase, r *leaveRow) *bool {
		return yes(r.of["level"] == nil || *r.of["level"]%2 == 0 || r.key == 3)
	}},
	{"account NOT IN (SELECT v.who FROM vip AS v)", func(c *leaveCase, r *leaveRow) *bool {
		null := false
		some := false
		for _, v := range c.rows {
			if v.table == "vip" && v.world == r.world {
				some = true
				if v.of["who"] == nil || r.of["account"] == nil {
					null = true
				} else if *v.of["who"] == *r.of["account"] {
					return yes(false)
				}
			}
		}
		if some && null {
			return nil
		}
		return yes(true)
	}},
	{"NOT EXISTS (SELECT 1 FROM item WHERE item.owner = hero.guid)", func(c *leaveCase, r *leaveRow) *bool {
		return yes(!slices.ContainsFunc(c.rows, func(i *leaveRow) bool {
			return i.table == "item" && i.world == r.world && i.of["owner"] != nil && *i.of["owner"] == r.key
		}))
	}},
	{"CASE WHEN guild IS NULL THEN 1 ELSE 0 END = 1", func(_ *leaveCase, r *leaveRow) *bool { return yes(r.of["guild"] == nil) }},
	{"(SELECT COUNT(*) FROM spell s WHERE s.hero = guid) < 1 AND level BETWEEN 1 AND 4", func(c *leaveCase, r *leaveRow) *bool {
		n := 0
		for _, s := range c.rows {
			if s.table == "spell" && s.world == r.world && *s.of["hero"] == r.key {
				n++
			}
		}
		return and(yes(n < 1), and(not(below(r.of["level"], 1)), below(r.of["level"], 5)))
	}},
}

func yes(b bool) *bool { return &b }

func below(n *int64, limit int64) *bool {
	if n == nil {
		return nil
	}
	return yes(*n < limit)
}

func not(b *bool) *bool {
	if b == nil {
		return nil
	}
	return yes(!*b)
}

func and(a, b *bool) *bool {
	switch {
	case a != nil && !*a, b != nil && !*b:
		return yes(false)
	case a == nil || b == nil:
		return nil
	}
	return yes(true)
}

// say chooses statements.
func (c *leaveCase) say(r *rand.Rand) {
	add := func(l declare.Leave, holds func(*leaveCase, *leaveRow) *bool) {
		c.holds[len(c.says)] = holds
		c.says = append(c.says, l)
	}
	if r.IntN(4) > 0 {
		h := heroConditions[r.IntN(len(heroConditions))]
		l := declare.Leave{Table: "hero", Where: h.text}
		c.features["where"]++
		if r.IntN(2) == 0 {
			l.Best = c.best(r)
		}
		add(l, h.holds)
	} else {
		add(declare.Leave{Table: "hero", Best: c.best(r)}, nil)
	}
	if r.IntN(2) == 0 {
		c.features["fewer"]++
		add(declare.Leave{Table: "guild", Fewer: &declare.Fewer{Of: "member.guild", Than: 1 + r.IntN(3)}}, nil)
	}
	if r.IntN(3) == 0 {
		c.features["where below"]++
		n := int64(1 + r.IntN(4))
		add(declare.Leave{Table: "item", Where: fmt.Sprintf("id %% 4 = %d", n%4)}, func(_ *leaveCase, row *leaveRow) *bool { return yes(row.key%4 == n%4) })
	}
	if r.IntN(3) == 0 {
		c.features["where of a composite key"]++
		table := []string{"member", "grade", "spell"}[r.IntN(3)]
		column := map[string]string{"member": "guild", "grade": "n", "spell": "n"}[table]
		add(declare.Leave{Table: table, Where: column + " % 3 = 1"}, func(_ *leaveCase, row *leaveRow) *bool { return yes(*row.of[column]%3 == 1) })
	}
	if r.IntN(4) == 0 {
		c.features["best of a composite key"]++
		add(declare.Leave{Table: "spell", Best: &declare.Best{Of: "hero", Keep: 1, By: []string{"n"}}}, nil)
	}
	if r.IntN(3) == 0 {
		c.features["where of texts"]++
		add(declare.Leave{Table: "clan", Where: "leader IS NULL"}, func(_ *leaveCase, row *leaveRow) *bool { return yes(row.of["leader"] == nil) })
	}
	if r.IntN(3) == 0 {
		c.features["where and best of bytes"]++
		add(declare.Leave{Table: "relic", Where: "kind = 2", Best: &declare.Best{Of: "owner", Keep: 1, By: []string{"kind desc"}}}, func(_ *leaveCase, row *leaveRow) *bool { return yes(*row.of["kind"] == 2) })
	}
	for _, f := range [][2]string{{"grade", "post.(guild, n)"}, {"clan", "hero.clan"}, {"relic", "relic.inside"}} {
		if r.IntN(4) == 0 {
			c.features["fewer of "+leaveKinds[f[0]]+" keys"]++
			add(declare.Leave{Table: f[0], Fewer: &declare.Fewer{Of: f[1], Than: 1 + r.IntN(2)}}, nil)
		}
	}
	if c.matched && r.IntN(3) == 0 {
		c.features["matched rows leave"]++
		n := int64(r.IntN(3))
		add(declare.Leave{Table: "account", Where: fmt.Sprintf("id %% 3 = %d", n)}, func(_ *leaveCase, row *leaveRow) *bool { return yes(row.key%3 == n) })
	}
}

func (c *leaveCase) best(r *rand.Rand) *declare.Best {
	c.features["best"]++
	by := [][]string{{"level desc"}, {"level desc", "seen"}, {"seen desc", "level asc"}, {"seen"}}[r.IntN(4)]
	return &declare.Best{Of: "account", Keep: 1 + r.IntN(2), By: by}
}

// compareKeys orders rows of one table by their keys.
func (c *leaveCase) compareKeys(a, b *leaveRow) int {
	for _, t := range leaveTables {
		if t.name == a.table && t.key == "" {
			return cmp.Or(cmp.Compare(*a.of[t.columns[0].name], *b.of[t.columns[0].name]), cmp.Compare(*a.of[t.columns[1].name], *b.of[t.columns[1].name]))
		}
	}
	return cmp.Compare(a.key, b.key)
}

// leaves reports whether rows of a world may stay behind.
func (c *leaveCase) leaves(world int) bool { return c.into || world > 0 }

// named is the row that a reference names in its world; nil if it names none.
func (c *leaveCase) named(r *leaveRow, ref leaveRef) *leaveRow {
	for _, column := range ref.columns {
		if v := r.of[column]; v == nil || *v == 0 && ref.keys == nil {
			return nil
		}
	}
	for _, other := range c.rows {
		if other.table != ref.to || other.world != r.world {
			continue
		}
		same := ref.keys != nil || other.key == *r.of[ref.columns[0]]
		for i, key := range ref.keys {
			same = same && *other.of[key] == *r.of[ref.columns[i]]
		}
		if same {
			return other
		}
	}
	return nil
}

// refOf is the reference of one column; ok is false if it is none.
func (c *leaveCase) refOf(table, column string) (ref leaveRef, ok bool) {
	for _, ref := range c.refs() {
		if ref.table == table && slices.Equal(ref.columns, []string{column}) {
			return ref, true
		}
	}
	return ref, false
}

// judge finds the rows that stay behind.
func (c *leaveCase) judge() {
	c.stays = make(map[*leaveRow]bool)
	for i, l := range c.says { // where, on each world as it is
		for _, r := range c.rows {
			if r.table == l.Table && c.leaves(r.world) && c.holds[i] != nil {
				if holds := c.holds[i](c, r); holds == nil {
					c.features["condition is NULL"]++
				} else if *holds {
					c.stays[r] = true
				}
			}
		}
	}
	for _, l := range c.says {
		if l.Best != nil {
			c.judgeBest(l)
		}
	}
	c.drop()
	var small []*leaveRow
	for _, l := range c.says {
		if l.Fewer == nil {
			continue
		}
		at := slices.IndexFunc(c.refs(), func(ref leaveRef) bool { return ref.at() == l.Fewer.Of })
		ref := c.refs()[at]
		for _, g := range c.rows {
			n := 0
			for _, m := range c.rows {
				if m.table == ref.table && !c.stays[m] && g.table == l.Table && c.named(m, ref) == g {
					n++
				}
			}
			if g.table == l.Table && c.leaves(g.world) && !c.stays[g] && n < l.Fewer.Than {
				small = append(small, g)
			}
		}
	}
	for _, g := range small {
		c.features["rows by fewer"]++
		c.stays[g] = true
	}
	c.drop()
	seen := make(map[string]bool)
	for r := range c.stays {
		if kind := leaveKinds[r.table]; kind != "" && !seen[kind] {
			seen[kind] = true
			c.features["rows with "+kind+" keys stay"]++
		}
	}
}

func (c *leaveCase) judgeBest(l declare.Leave) {
	groups := make(map[string][]*leaveRow)
	for _, r := range c.rows {
		v := r.of[l.Best.Of]
		if r.table != l.Table || c.stays[r] || v == nil || *v == 0 {
			continue
		}
		group := fmt.Sprint(*v)
		if l.Best.Of != "account" {
			group = fmt.Sprint("world ", r.world, " ", *v)
		} else if c.matched { // one name is one account in all worlds; what has none, or is gone, is of its world
			group = fmt.Sprint("world ", r.world, " ", *v)
			if a := c.named(r, leaveRef{"hero", []string{"account"}, "account", nil, false}); a != nil && a.text["name"] != "" {
				group = "name " + a.text["name"]
			}
		}
		groups[group] = append(groups[group], r)
	}
	for _, rows := range groups {
		slices.SortFunc(rows, func(a, b *leaveRow) int {
			if c.leaves(a.world) != c.leaves(b.world) {
				return map[bool]int{true: 1, false: -1}[c.leaves(a.world)]
			}
			for _, by := range l.Best.By {
				column, way, _ := strings.Cut(by, " ")
				x, y := a.of[column], b.of[column]
				switch {
				case x == nil && y == nil:
				case x == nil:
					return 1
				case y == nil:
					return -1
				case *x != *y:
					n := cmp.Compare(*x, *y)
					if way == "desc" {
						n = -n
					}
					return n
				}
			}
			return cmp.Or(a.world-b.world, c.compareKeys(a, b))
		})
		for i, r := range rows {
			if i >= l.Best.Keep && c.leaves(r.world) {
				c.features["rows by best"]++
				c.stays[r] = true
			}
		}
	}
}

// drop lets follow what refers to rows that stay, as long as there is more.
func (c *leaveCase) drop() {
	for more := true; more; {
		more = false
		for _, ref := range c.refs() {
			for _, r := range c.rows {
				if r.table != ref.table || c.stays[r] || c.gone[ref.at()] != declare.RowsDrop || !c.stays[c.named(r, ref)] {
					continue
				}
				c.stays[r], more = true, true
				c.features["rows that follow"]++
				if ref.second {
					c.features["rows that follow another key"]++
				}
				if ref.to == ref.table {
					c.features["rows that follow their own table"]++
				}
				if kind := leaveKinds[ref.to]; kind != "" {
					c.features["rows that follow "+kind+" keys"]++
				}
			}
		}
	}
}

// blocked counts the rows that come and refer to rows that stay, by references that say nothing.
func (c *leaveCase) blocked() (n int) {
	for _, ref := range c.refs() {
		for _, r := range c.rows {
			if r.table == ref.table && !c.stays[r] && c.gone[ref.at()] == "" && c.stays[c.named(r, ref)] {
				n++
			}
		}
	}
	return n
}

// statements make the databases.
func (c *leaveCase) statements(world int, bytes string) (all []string) {
	for _, t := range leaveTables {
		var columns []string
		if t.key != "" {
			columns = append(columns, t.key+" "+cmp.Or(map[string]string{"text": "VARCHAR(20)", "bytes": bytes}[leaveKinds[t.name]], "INTEGER")+" NOT NULL "+map[bool]string{true: "UNIQUE", false: "PRIMARY KEY"}[leaveKinds[t.name] == "bytes"])
		}
		for _, col := range t.columns {
			columns = append(columns, col.name+" "+strings.Replace(col.sqlType, "BYTES", bytes, 1))
		}
		columns = append(columns, "tag VARCHAR(20) NOT NULL")
		if t.key == "" {
			columns = append(columns, "PRIMARY KEY ("+t.columns[0].name+", "+t.columns[1].name+")")
		}
		all = append(all, "CREATE TABLE "+t.name+" ("+strings.Join(columns, ", ")+")")
	}
	for _, r := range c.rows {
		if r.world != world {
			continue
		}
		var names, values []string
		for _, t := range leaveTables {
			if t.name != r.table {
				continue
			}
			if t.key != "" {
				names, values = append(names, t.key), append(values, sqlOf(world, t.name, r.key))
			}
			for _, col := range t.columns {
				names = append(names, col.name)
				if text, is := r.text[col.name]; is {
					values = append(values, "'"+strings.ReplaceAll(text, "'", "''")+"'")
				} else if v := r.of[col.name]; v != nil {
					values = append(values, sqlOf(world, col.to, *v))
				} else {
					values = append(values, "NULL")
				}
			}
		}
		all = append(all, "INSERT INTO "+r.table+" ("+strings.Join(names, ", ")+", tag) VALUES ("+strings.Join(values, ", ")+", '"+r.tag+"')")
	}
	return all
}

// declarations say of the columns what they are.
func (c *leaveCase) declarations() (o declare.Options, d declare.Declarations) {
	d.Plain = []string{"*.tag", "hero.level", "hero.seen", "mail.kind", "spell.n", "vip.who", "account.name"}
	o.Rekey = &declare.Rekey{}
	d.Plain = append(d.Plain, "grade.n", "grade.up", "post.n", "charm.n", "relic.kind", "clan.name", "relic.id", "guild.crest", "banner.kind")
	o.Rekey.Spaces = append(o.Rekey.Spaces, declare.Space{Keys: []string{"clan.no"}})
	for _, t := range leaveTables {
		if t.key != "" && leaveKinds[t.name] == "" {
			space := declare.Space{Keys: []string{t.name + "." + t.key}}
			if t.name == "account" && c.matched {
				space.Match = []string{"account.name"}
			}
			o.Rekey.Spaces = append(o.Rekey.Spaces, space)
		}
		for _, col := range t.columns {
			switch {
			case col.to == "":
			case col.to == "account" && !c.matched:
				d.Shared = append(d.Shared, t.name+"."+col.name)
			default:
				key, none := "id", []string{"0"}
				switch col.to {
				case "hero":
					key = "guid"
				case "clan":
					key, none = "name", []string{""}
				case "relic":
					none = nil
				}
				to, second, _ := strings.Cut(col.to, "#")
				if key = cmp.Or(second, key); second == "crest" {
					none = []string{""}
				}
				d.References = append(d.References, declare.DeclaredReference{At: []string{t.name + "." + col.name}, To: []string{to + "." + key}, None: none, Gone: c.gone[t.name+"."+col.name]})
			}
		}
	}
	for _, ref := range c.refs() {
		if ref.keys != nil {
			d.References = append(d.References, declare.DeclaredReference{Table: ref.table, Columns: ref.columns, ToTable: ref.to, ToColumns: ref.keys, Gone: c.gone[ref.at()]})
		}
	}
	d.References = append(d.References, declare.DeclaredReference{At: []string{"tour.stops"}, To: []string{"town.id"}, Format: "list sep=' ' every"})
	o.Leave, o.Allow = c.says, []string{verdict.CodeReferenceDangle} // texts and bytes keep their values
	return o, d
}

// home is the row that stands for a row after the merge: of those that are matched the first that comes; nil if it stays behind
// and no other stands for it.
func (c *leaveCase) home(r *leaveRow) *leaveRow {
	if r.table == "account" && c.matched && r.text["name"] != "" {
		for _, other := range c.rows { // in the order of the worlds
			if other.table == "account" && other.text["name"] == r.text["name"] && !c.stays[other] {
				return other
			}
		}
	}
	if c.stays[r] {
		return nil
	}
	return r
}

// wrong compares a merged database with what has to be in it.
func (c *leaveCase) wrong(read func(query string) [][]string) (wrong []string) {
	tagOf := make(map[string]map[string]string) // by table and key
	for _, t := range leaveTables {
		tagOf[t.name] = make(map[string]string)
		if t.key != "" {
			for _, row := range read("SELECT " + t.key + ", tag FROM " + t.name) {
				tagOf[t.name][row[0]] = row[1]
			}
		}
	}
	for to, query := range map[string]string{"clan#no": "SELECT no, tag FROM clan", "guild#crest": "SELECT crest, tag FROM guild"} {
		tagOf[to] = make(map[string]string)
		for _, row := range read(query) {
			tagOf[to][row[0]] = row[1]
		}
	}
	for _, ref := range c.refs() { // of several columns: a row leads to the same row as before, or nowhere as before
		if ref.keys == nil {
			continue
		}
		query := "SELECT r.tag, p.tag FROM " + ref.table + " r LEFT JOIN " + ref.to + " p ON "
		for i, key := range ref.keys {
			query += map[bool]string{true: " AND "}[i > 0] + "p." + key + " = r." + ref.columns[i]
		}
		got := make(map[string]string)
		for _, row := range read(query) {
			got[row[0]] = row[1]
		}
		for _, r := range c.rows {
			named := c.named(r, ref)
			if tag, came := got[r.tag]; r.table == ref.table && came && (named != nil && tag != named.tag || named == nil && tag != "<nil>") {
				wrong = append(wrong, r.tag+" leads by "+ref.at()+" to "+tag)
			}
		}
	}
	for _, t := range leaveTables {
		want := make(map[string]*leaveRow)
		for _, r := range c.rows {
			if h := c.home(r); r.table == t.name && h == r {
				want[r.tag] = r
			}
		}
		query := "SELECT tag"
		for _, col := range t.columns {
			query += ", " + col.name
		}
		for _, row := range read(query + " FROM " + t.name) {
			r := want[row[0]]
			if r == nil {
				wrong = append(wrong, row[0]+" came, and should not have, or came twice")
				continue
			}
			delete(want, row[0])
			for i, col := range t.columns {
				if got := row[1+i]; !c.right(r, col, got, tagOf) {
					wrong = append(wrong, fmt.Sprintf("%s: %s is %s", r.tag, col.name, got))
				}
			}
		}
		for _, tag := range slices.Sorted(maps.Keys(want)) {
			wrong = append(wrong, tag+" did not come")
		}
	}
	return wrong
}

// right reports whether a value of a row that came is what it has to be.
func (c *leaveCase) right(r *leaveRow, col leaveColumn, got string, tagOf map[string]map[string]string) bool {
	v := r.of[col.name]
	if col.name == "stops" {
		old, now := strings.Fields(r.text["stops"]), strings.Fields(got)
		return slices.EqualFunc(old, now, func(old, now string) bool {
			return strings.HasPrefix(tagOf["town"][now], fmt.Sprintf("w%d:town:", r.world)) && strings.HasSuffix(tagOf["town"][now], fmt.Sprint(":", mustInt(old)-1))
		})
	}
	if text, is := r.text[col.name]; is {
		return got == text
	}
	plain := "<nil>"
	if v != nil {
		plain = printedOf(r.world, col.to, *v)
	}
	if r.table == "clan" && col.name == "no" {
		return tagOf["clan#no"][got] == r.tag
	}
	if col.to == "" || col.to == "account" && !c.matched || v == nil || *v == 0 {
		return got == plain
	}
	ref, _ := c.refOf(r.table, col.name)
	named := c.named(r, ref)
	if named == nil { // it led nowhere, and leads nowhere
		return got != "<nil>" && got != "0" && tagOf[col.to][got] == ""
	}
	if c.stays[named] && c.gone[r.table+"."+col.name] == declare.RowsNone {
		if col.null {
			return got == "<nil>"
		}
		return got == map[bool]string{true: "", false: "0"}[leaveKinds[col.to] == "text"]
	}
	home := c.home(named)
	return home != nil && tagOf[col.to][got] == home.tag
}

func mustInt(s string) (n int64) {
	fmt.Sscan(s, &n)
	return n
}

var _ rowio.Database
