package transfer

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// drawKeyGame draws a game of integer keys: tables, what their columns mean, rows for
// each world, and what is declared of it. Most games are declared in full; the others
// have a defect, or several.
func drawKeyGame(seed uint64, mysql bool) *keyGame {
	d := &keyGameDraw{Rand: rand.New(rand.NewPCG(seed, 0x6b657973)), g: &keyGame{seed: seed, mysql: mysql}}
	d.g.worlds = 2 + d.IntN(2)
	if d.chance(0.15) {
		d.g.worlds = 4 + d.IntN(2)
	}
	d.clean = d.chance(0.65)
	d.apart = d.chance(0.06)
	tables := 1 + d.IntN(5)
	if d.chance(0.15) {
		tables = 6 + d.IntN(7)
	}
	for i := range tables {
		d.table(i)
	}
	d.drawSpaces()
	for _, t := range d.g.tables {
		d.extraColumns(t)
	}
	d.exclude()
	d.reset()
	d.sever()
	d.forget()
	for w := range d.g.worlds {
		for _, t := range d.g.tables {
			d.rows(t, w)
		}
	}
	return d.g
}

type keyGameDraw struct {
	*rand.Rand
	g     *keyGame
	clean bool // nothing is undeclared
	apart bool // the keys of the worlds lie apart as they are
	party int
}

func (d *keyGameDraw) chance(p float64) bool { return d.Float64() < p }

// flaw reports whether a defect is planted.
func (d *keyGameDraw) flaw(p float64, what string) bool {
	if d.clean || !d.chance(p) {
		return false
	}
	d.g.defect = append(d.g.defect, what)
	return true
}

func one[T any](d *keyGameDraw, all ...T) T { return all[d.IntN(len(all))] }

// integer makes a column of some type of integers.
func (d *keyGameDraw) integer(name, sqlType string) *keyColumn {
	c := &keyColumn{name: name, sqlType: sqlType}
	bits := map[string]uint{"SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "BIGINT": 64, "INTEGER": 64}[strings.Fields(sqlType)[0]]
	if !d.g.mysql {
		bits = 64 // whatever it is called
	}
	if c.signed = !strings.Contains(sqlType, "UNSIGNED"); c.signed {
		bits--
	}
	c.most = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(1))
	return c
}

func (d *keyGameDraw) keyType() string {
	if !d.g.mysql {
		return "INTEGER"
	}
	return one(d, "INT", "INT UNSIGNED", "INT UNSIGNED", "BIGINT", "BIGINT UNSIGNED", "MEDIUMINT", "SMALLINT", "SMALLINT UNSIGNED")
}

// referenceType is the type of a column that names keys of a table.
func (d *keyGameDraw) referenceType(to *keyTable, foreign bool) string {
	if !d.g.mysql {
		return one(d, "INTEGER", "INTEGER", "INT")
	}
	if foreign || d.chance(0.6) {
		return to.columns[0].sqlType
	}
	if strings.HasPrefix(to.columns[0].sqlType, "BIGINT") {
		return to.columns[0].sqlType
	}
	return one(d, "BIGINT", "INT", "BIGINT UNSIGNED")
}

// having returns the tables of some forms.
func (d *keyGameDraw) having(forms ...keyTableForm) (all []*keyTable) {
	for _, t := range d.g.tables {
		if slices.Contains(forms, t.form) {
			all = append(all, t)
		}
	}
	return all
}

// named returns a table whose keys others name.
func (d *keyGameDraw) named() *keyTable { return one(d, d.having(surrogateKey, onePerOwner)...) }

func (d *keyGameDraw) table(i int) {
	t := &keyTable{name: fmt.Sprint("t", i), rows: make([][]keyRow, d.g.worlds), alive: make([][]string, d.g.worlds), gone: make([][]string, d.g.worlds), next: make([]uint64, d.g.worlds)}
	if i > 0 {
		t.form = one(d, surrogateKey, surrogateKey, surrogateKey, surrogateKey, ownerSlot, ownerSlot, onePerOwner, onePerOwner, childOfSlots, noKeyAtAll, templateTable, kindedKey)
		if t.form == kindedKey && d.chance(0.7) || t.form == childOfSlots && len(d.having(ownerSlot)) == 0 {
			t.form = surrogateKey
		}
	}
	switch t.form {
	case surrogateKey:
		d.surrogate(t)
	case onePerOwner:
		to := d.named()
		c := d.integer("guid", to.columns[0].sqlType)
		c.refs, c.foreign = []*keyReference{{to: []*keyTable{to}}}, d.chance(0.4)
		if !c.foreign && !d.clean && d.chance(0.3) {
			c.forgotten = true // it is a key of its own then
			d.g.defect = append(d.g.defect, "one to one")
		}
		t.columns, t.key = []*keyColumn{c}, []string{"guid"}
	case ownerSlot:
		to := d.named()
		foreign := d.chance(0.3)
		c := d.integer("owner", d.referenceType(to, foreign))
		c.refs, c.foreign = []*keyReference{{to: []*keyTable{to}}}, foreign
		if !foreign && d.chance(0.2) {
			d.sentinels(c, c.refs[0])
		}
		slot := d.integer("slot", d.plainType())
		slot.natural = true
		slot.undeclared = d.flaw(0.15, "natural")
		t.columns, t.key = []*keyColumn{c, slot}, []string{"owner", "slot"}
		if d.chance(0.2) {
			t.key = []string{"slot", "owner"}
		}
	case childOfSlots:
		t.parent, t.foreign = one(d, d.having(ownerSlot)...), d.chance(0.5)
		of := t.parent.column("owner")
		c, slot, n := d.integer("owner", of.sqlType), d.integer("slot", t.parent.column("slot").sqlType), d.integer("n", d.plainType())
		c.refs = of.refs
		t.composite = !t.foreign && d.chance(0.5)
		slot.natural, n.natural = true, true
		t.columns, t.key = []*keyColumn{c, slot, n}, []string{"owner", "slot", "n"}
	case kindedKey:
		kind := d.integer("kind", d.plainType())
		kind.natural = true
		a, b := d.named(), d.named()
		c := d.integer("whose", d.wideType(a, b))
		c.refs = []*keyReference{{to: []*keyTable{a}, when: "kind", is: "1"}, {to: []*keyTable{b}, when: "kind", is: "2"}}
		t.columns, t.key = []*keyColumn{kind, c}, []string{"kind", "whose"}
	case templateTable:
		c := d.integer("id", d.plainType())
		c.natural, t.same = true, true
		t.columns, t.key = []*keyColumn{c}, []string{"id"}
	}
	d.g.tables = append(d.g.tables, t)
}

func (d *keyGameDraw) plainType() string {
	if d.g.mysql {
		return one(d, "INT", "BIGINT")
	}
	return "INTEGER"
}

// wideType is a type for keys of several tables.
func (d *keyGameDraw) wideType(to ...*keyTable) string {
	if !d.g.mysql {
		return "INTEGER"
	}
	for _, t := range to {
		if t.columns[0].sqlType == "BIGINT UNSIGNED" {
			return "BIGINT UNSIGNED"
		}
	}
	return "BIGINT"
}

// surrogate draws a key that every world counts, and which numbers it has and had.
func (d *keyGameDraw) surrogate(t *keyTable) {
	t.counted = d.chance(0.6)
	c := d.integer("id", d.keyType())
	c.key = true
	if !d.g.mysql && !t.counted && d.chance(0.5) {
		c.sqlType = "INT" // which SQLite does not count up
	}
	t.columns, t.key = []*keyColumn{c}, []string{"id"}
	n := d.IntN(9)
	if d.chance(0.08) {
		n = 12 + d.IntN(6)
	}
	bases := []int64{0, 0, 0, 0, 0, 5, 40, 995}
	if c.most.BitLen() > 31 {
		bases = append(bases, 2_000_000, 3_000_000_000)
	}
	base := big.NewInt(one(d, bases...))
	switch {
	case c.most.BitLen() == 64 && d.chance(0.25):
		base.SetUint64(1<<63 + 17)
	case c.signed && d.chance(0.05):
		base.SetInt64(-4)
	case d.chance(0.08):
		base.SetInt64(-1) // a row with the key 0
	}
	if base.Cmp(c.most) > 0 || base.Cmp(big.NewInt(1_000_000_000)) > 0 && c.most.BitLen() < 33 {
		base.SetInt64(0)
	}
	for w := range d.g.worlds {
		from := new(big.Int).Set(base)
		if d.apart {
			from.Add(from, big.NewInt(int64(w)*100))
		}
		if d.chance(0.2) { // one world is larger
			from.Add(from, big.NewInt(int64(d.IntN(300))))
		}
		for k := range max(1, n+d.IntN(5)-2) {
			v := new(big.Int).Add(from, big.NewInt(int64(k)+1)).String()
			if d.chance(0.7) {
				t.alive[w] = append(t.alive[w], v)
			} else {
				t.gone[w] = append(t.gone[w], v)
			}
		}
		if t.counted && d.chance(0.3) && base.Sign() >= 0 {
			next := new(big.Int).Add(from, big.NewInt(int64(n+10+d.IntN(40))))
			if next.IsUint64() && next.Cmp(c.most) < 0 {
				t.next[w] = next.Uint64()
			}
		}
	}
}

// drawSpaces decides which keys the operator names, and makes some several tables count
// through one space.
func (d *keyGameDraw) drawSpaces() {
	g := d.g
	g.auto = d.chance(0.6)
	free := slices.Clone(d.having(surrogateKey))
	if len(free) > 1 && d.chance(0.3) { // one number for all kinds of objects
		s := keyGameSpace{name: "objects"}
		d.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
		n := 2 + d.IntN(min(2, len(free)-1))
		s.keys, free = slices.Clone(free[:n]), free[n:]
		for w := range g.worlds {
			taken := make(map[string]bool)
			for _, t := range s.keys {
				fresh := func(v string) bool { was := taken[v]; taken[v] = true; return was }
				t.alive[w], t.gone[w] = slices.DeleteFunc(t.alive[w], fresh), slices.DeleteFunc(t.gone[w], fresh)
			}
		}
		g.spaces = append(g.spaces, s)
	}
	for _, t := range free {
		counts := t.counted || !g.mysql && t.columns[0].sqlType == "INTEGER"
		if !g.auto || !counts || d.chance(0.2) {
			g.spaces = append(g.spaces, keyGameSpace{keys: []*keyTable{t}})
		}
	}
	for i := range g.spaces {
		s := &g.spaces[i]
		if d.chance(0.04) {
			s.step = one[uint64](d, 1, 100, 10_000_000)
		}
		if d.chance(0.06) {
			s.max = one[uint64](d, 20, 60, 5000, 70_000)
		}
		if d.chance(0.03) {
			s.offsets = map[int]uint64{1 + d.IntN(g.worlds-1): one[uint64](d, 1, 1000, 500_000)}
			g.defect = append(g.defect, "offset")
		}
	}
}

// sentinels gives a reference values that mean nobody.
func (d *keyGameDraw) sentinels(c *keyColumn, r *keyReference) {
	all := []string{"0", "0", "999", "1500"}
	if c.signed {
		all = append(all, "-1", "-1")
	}
	if c.most.BitLen() < 64 || d.g.mysql {
		all = append(all, c.most.String())
	}
	for range 1 + d.IntN(2) {
		v := one(d, all...)
		switch {
		case slices.Contains(r.none, v) || slices.Contains(r.hidden, v) || slices.Contains(r.dangling, v):
		case v != "999" && v != "1500" && d.flaw(0.2, "sentinel"):
			r.hidden = append(r.hidden, v)
		case d.chance(0.15):
			r.dangling = append(r.dangling, v)
		case len(v) > 2 && d.chance(0.6): // seldom
		default:
			r.none = append(r.none, v)
			if v == "999" || v == "1500" {
				d.g.defect = append(d.g.defect, "middle")
			}
		}
	}
	if len(r.hidden)+len(r.dangling) == 0 && d.chance(0.1) {
		r.bound = true
	}
}

// extraColumns draws the further columns of a table.
func (d *keyGameDraw) extraColumns(t *keyTable) {
	add := func(c *keyColumn) { t.columns = append(t.columns, c) }
	for i := range d.IntN(4) {
		name := fmt.Sprint("c", i)
		if t.same {
			c := d.integer(name, d.plainType())
			add(c)
			continue
		}
		switch d.IntN(9) {
		case 0, 1, 2: // a reference to any table, this one and later ones included
			to := d.named()
			foreign := d.chance(0.3)
			c := d.integer(name, d.referenceType(to, foreign))
			c.null, c.foreign = d.chance(0.6), foreign
			r := &keyReference{to: []*keyTable{to}}
			c.refs = []*keyReference{r}
			if !foreign && d.chance(0.4) {
				d.sentinels(c, r)
			}
			if c.null && len(r.none)+len(r.hidden)+len(r.dangling) == 0 && !r.bound && d.chance(0.15) {
				t.uniques = append(t.uniques, name)
			}
			add(c)
		case 3: // rows of several kinds, by a column of types
			kind := d.integer(name+"kind", d.plainType())
			a, b := d.named(), d.named()
			c := d.integer(name, d.wideType(a, b))
			c.null = d.chance(0.5)
			c.refs = []*keyReference{{to: []*keyTable{a}, when: kind.name, is: "1"}, {to: []*keyTable{b}, when: kind.name, is: "2"}}
			if d.chance(0.3) {
				d.sentinels(c, c.refs[d.IntN(2)])
			}
			c.undeclared = d.flaw(0.2, "others")
			add(kind)
			add(c)
		case 4: // rows of several kinds, of one space or of several
			a := d.named()
			to := []*keyTable{a}
			for _, s := range d.g.spaces {
				if slices.Contains(s.keys, a) && len(s.keys) > 1 {
					to = slices.Clone(s.keys)
				}
			}
			if b := d.named(); len(to) == 1 && b != a {
				to = append(to, b)
			}
			c := d.integer(name, d.wideType(to...))
			c.null = d.chance(0.5)
			c.refs = []*keyReference{{to: to}}
			if d.chance(0.3) {
				d.sentinels(c, c.refs[0])
			}
			add(c)
		case 5: // a thing without a table
			if d.party == 0 || d.chance(0.3) {
				d.party++
			}
			c := d.integer(name, d.plainType())
			c.null = d.chance(0.5)
			c.refs = []*keyReference{{party: fmt.Sprint("party", d.IntN(d.party))}}
			if d.chance(0.5) {
				c.refs[0].none = []string{"0"}
			}
			add(c)
		case 6: // the game's own data
			c := d.integer(name, d.plainType())
			c.natural = true
			add(c)
		default:
			c := d.integer(name, d.plainType())
			c.undeclared = d.flaw(0.15, "plain")
			add(c)
		}
	}
	some := func(r *keyReference) bool { return r.when != "" || len(r.to) > 1 || len(r.none) > 0 || r.bound }
	partly := slices.ContainsFunc(t.columns, func(c *keyColumn) bool { return slices.ContainsFunc(c.refs, some) })
	if t.form == kindedKey || t.form == noKeyAtAll && partly { // the limits of what can be merged
		d.g.limits = append(d.g.limits, t.name)
	}
	t.columns = append(t.columns, &keyColumn{name: "tag", sqlType: map[bool]string{true: "VARCHAR(40)", false: "TEXT"}[d.g.mysql], text: true})
}

// named reports whether other tables that stay name the rows of a table.
func (g *keyGame) isNamed(t *keyTable) bool {
	for _, other := range g.tables {
		if other == t {
			continue
		}
		if other.parent == t {
			return true
		}
		for _, c := range other.columns {
			for _, r := range c.refs {
				if slices.Contains(r.to, t) {
					return true
				}
			}
		}
	}
	return false
}

// exclude leaves a table out.
func (d *keyGameDraw) exclude() {
	if len(d.g.tables) < 2 || !d.chance(0.15) {
		return
	}
	t := one(d, d.g.tables...)
	if t.same {
		return
	}
	if d.g.isNamed(t) {
		if d.clean || d.chance(0.5) {
			return
		}
		d.g.defect = append(d.g.defect, "named and excluded")
	}
	t.skipped = d.chance(0.5)
	d.leaveOut(t)
}

// reset has a table emptied that nothing names. Whether, and which, leaves the rest of the
// game as it is drawn.
func (d *keyGameDraw) reset() {
	rnd := rand.New(rand.NewPCG(d.g.seed, 0x7265736574))
	t := d.g.tables[rnd.IntN(len(d.g.tables))]
	others := slices.ContainsFunc(d.g.tables, func(other *keyTable) bool { return other != t && !other.excluded && !other.same })
	if others && !t.same && !t.excluded && !d.g.isNamed(t) && rnd.Float64() < 0.4 {
		t.reset = true
		d.leaveOut(t)
	}
}

// sever leaves out a table that others name, and says what becomes of their rows. As with
// reset, the rest of the game is as it was drawn.
func (d *keyGameDraw) sever() {
	rnd := rand.New(rand.NewPCG(d.g.seed, 0x7365766572))
	rows := []declare.RowsPolicy{declare.RowsDrop, declare.RowsNone}[rnd.IntN(2)]
	var can []*keyTable
	others := 0
	for _, t := range d.g.tables {
		if !t.excluded && !t.same {
			others++
		}
		if t.form == surrogateKey && !t.same && !t.excluded && d.g.isNamed(t) && d.g.canSever(t, rows) {
			can = append(can, t)
		}
	}
	if others < 2 || len(can) == 0 || rnd.Float64() < 0.5 {
		return
	}
	t := can[rnd.IntN(len(can))]
	t.skipped, t.severed = true, rows
	d.leaveOut(t)
}

// canSever reports whether it can be done to all rows that name those of a table.
func (g *keyGame) canSever(t *keyTable, rows declare.RowsPolicy) bool {
	for _, other := range g.tables {
		if other.parent == t || other.parent != nil && other.parent.naming(t) {
			return false
		}
		for _, c := range other.columns {
			for _, r := range c.refs {
				switch {
				case !slices.Contains(r.to, t):
				case other == t, len(r.to) > 1, c.text, c.sqlType == "TEXT", slices.Contains(other.key, c.name), slices.Contains(other.uniques, c.name), strings.HasPrefix(c.sqlType, "VARCHAR"):
					return false
				case rows == declare.RowsDrop && (g.isNamed(other) || other.naming(other)):
					return false
				case rows == declare.RowsNone && (other.form == noKeyAtAll || !c.null && len(r.none) == 0):
					return false
				}
			}
		}
	}
	return true
}

func (t *keyTable) naming(to *keyTable) bool {
	return slices.ContainsFunc(t.columns, func(c *keyColumn) bool {
		return slices.ContainsFunc(c.refs, func(r *keyReference) bool { return slices.Contains(r.to, to) })
	})
}

func (d *keyGameDraw) leaveOut(t *keyTable) {
	t.excluded = true
	for i := range d.g.spaces {
		s := &d.g.spaces[i]
		s.keys = slices.DeleteFunc(s.keys, func(k *keyTable) bool { return k == t })
	}
	d.g.spaces = slices.DeleteFunc(d.g.spaces, func(s keyGameSpace) bool { return len(s.keys) == 0 })
}

// forget leaves out what is declared of a reference.
func (d *keyGameDraw) forget() {
	if d.clean || !d.chance(0.35) {
		return
	}
	var all []*keyColumn
	for _, t := range d.g.tables {
		for _, c := range t.columns {
			if len(c.refs) > 0 && !c.foreign && c.refs[0].party == "" && !(t.parent != nil && t.foreign && c.name == "owner") {
				all = append(all, c)
			}
		}
	}
	if len(all) > 0 {
		one(d, all...).forgotten = true
		d.g.defect = append(d.g.defect, "forgotten")
	}
}

// rows draws the rows of a table in a world.
func (d *keyGameDraw) rows(t *keyTable, w int) {
	var keys []keyRow
	switch t.form {
	case surrogateKey:
		for _, v := range t.alive[w] {
			keys = append(keys, keyRow{"id": v})
		}
	case onePerOwner:
		to := t.columns[0].refs[0].to[0]
		from := slices.Clone(to.alive[w])
		if !t.columns[0].foreign {
			from = append(from, to.gone[w]...)
		}
		for _, v := range from {
			if d.chance(0.6) {
				if r := t.columns[0].refs[0]; below1(v) && !slices.Contains(r.dangling, v) {
					r.dangling = append(r.dangling, v)
				}
				keys = append(keys, keyRow{"guid": v})
				t.alive[w] = append(t.alive[w], v)
			} else {
				t.gone[w] = append(t.gone[w], v)
			}
		}
	case ownerSlot, kindedKey:
		taken := make(map[string]bool)
		for range d.IntN(12) {
			row := keyRow{"slot": fmt.Sprint(d.IntN(6)), "kind": fmt.Sprint(1 + d.IntN(2))}
			c, other := t.column("owner"), "slot"
			if t.form == kindedKey {
				c, other = t.column("whose"), "kind"
			}
			d.value(t, c, w, row)
			if id := row[c.name] + " " + row[other]; row[c.name] != "" && !taken[id] {
				taken[id] = true
				keys = append(keys, keyRow{c.name: row[c.name], other: row[other]})
			}
		}
	case childOfSlots:
		for _, row := range t.parent.rows[w] {
			for n := range d.IntN(3) {
				keys = append(keys, keyRow{"owner": row["owner"], "slot": row["slot"], "n": fmt.Sprint(n + 1)})
			}
		}
	case noKeyAtAll:
		for range d.IntN(8) {
			keys = append(keys, keyRow{})
		}
	case templateTable:
		if w > 0 {
			t.rows[w] = t.rows[0]
			return
		}
		for n := range 1 + d.IntN(5) {
			keys = append(keys, keyRow{"id": fmt.Sprint(n + 1)})
		}
	}
	used := make(map[string]bool)
	for n, row := range keys {
		for _, c := range t.columns {
			if slices.Contains(t.key, c.name) || c.text || c.key {
				continue
			}
			if d.value(t, c, w, row); slices.Contains(t.uniques, c.name) && used[c.name+row[c.name]] {
				delete(row, c.name)
			}
			used[c.name+row[c.name]] = true
		}
		row["tag"] = fmt.Sprintf("w%d:%s:%d", w, t.name, n)
		if t.same {
			row["tag"] = fmt.Sprintf("all:%s:%d", t.name, n)
		}
		t.rows[w] = append(t.rows[w], row)
	}
}

// value draws the value of a column of a row.
func (d *keyGameDraw) value(t *keyTable, c *keyColumn, w int, row keyRow) {
	if len(c.refs) == 0 {
		row[c.name] = fmt.Sprint(d.IntN(30))
		if strings.HasSuffix(c.name, "kind") {
			row[c.name] = fmt.Sprint(1 + d.IntN(3))
		}
		return
	}
	if c.null && d.chance(0.12) {
		return
	}
	r := c.of(row)
	if r == nil { // it means something else, which looks as if it were a key
		row[c.name] = fmt.Sprint(1 + d.IntN(20))
		return
	}
	set := func(v string) {
		n, ok := new(big.Int).SetString(v, 10)
		if ok && n.Cmp(c.most) <= 0 && (c.signed || n.Sign() >= 0) {
			row[c.name] = v
		}
	}
	if r.party != "" {
		set(fmt.Sprint(d.IntN(9)))
		if row[c.name] == "0" && !slices.Contains(r.none, "0") {
			row[c.name] = "7"
		}
		return
	}
	values := slices.Concat(r.none, r.hidden, r.dangling)
	if r.bound {
		values = append(values, "0")
	}
	if len(values) > 0 && !c.foreign && d.chance(0.2) {
		set(one(d, values...))
		if row[c.name] != "" {
			return
		}
	}
	to := one(d, r.to...)
	alive, gone := to.alive[w], to.gone[w]
	if to.form == onePerOwner && to.rows[w] == nil { // drawn later: any may be gone
		for to.form == onePerOwner {
			to = to.columns[0].refs[0].to[0]
		}
		alive, gone = nil, to.alive[w]
	}
	switch {
	case c.foreign:
		if len(alive) > 0 {
			set(one(d, alive...))
		}
	case d.chance(0.08): // it looks like a key of another world, or like a new one
		far := to.alive[d.IntN(d.g.worlds)]
		if len(far) > 0 {
			n, _ := new(big.Int).SetString(one(d, far...), 10)
			if by := one[int64](d, 0, 100, 1000, 2000, 10_000); c.most.BitLen() > 20 || by < 1000 {
				set(n.Add(n, big.NewInt(by)).String())
			}
		}
	case len(gone) > 0 && d.chance(0.15) || len(alive) == 0 && len(gone) > 0:
		set(one(d, gone...))
	case len(alive) > 0:
		set(one(d, alive...))
	}
	v := row[c.name]
	if v != "" && below1(v) && !slices.Contains(alive, v) && !r.nobody(v) && !slices.Contains(r.dangling, v) {
		delete(row, c.name) // only what is planted looks like nobody
	}
	if v = row[c.name]; v != "" && below1(v) && !r.nobody(v) && !slices.Contains(r.dangling, v) {
		r.dangling = append(r.dangling, v) // a key that looks so
	}
	if row[c.name] == "" && !c.null && !slices.Contains(t.key, c.name) {
		if c.foreign {
			c.null = true
			return
		}
		set(fmt.Sprint(800 + d.IntN(99)))
	}
}

// create makes the tables of a world and fills them.
func (g *keyGame) create(ctx context.Context, d rowio.Database, w int) error {
	db, err := openPlainly(d)
	if err != nil {
		return err
	}
	defer db.Close()
	statements := g.statements(w)
	if !g.mysql {
		statements = []string{"BEGIN;\n" + strings.Join(statements, ";\n") + ";\nCOMMIT"}
	}
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%w in %s", err, s)
		}
	}
	return nil
}

func (g *keyGame) statements(w int) (all []string) {
	if g.mysql {
		all = append(all, "SET SESSION foreign_key_checks = 0, sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'")
	}
	for _, t := range g.tables {
		var parts []string
		primary := "PRIMARY KEY (" + strings.Join(t.key, ", ") + ")"
		for _, c := range t.columns {
			part := c.name + " " + c.sqlType
			if !c.null {
				part += " NOT NULL"
			}
			switch {
			case t.counted && c.key && g.mysql:
				part += " AUTO_INCREMENT"
			case t.counted && c.key && c.sqlType == "INTEGER":
				part += " PRIMARY KEY AUTOINCREMENT"
				primary = ""
			}
			parts = append(parts, part)
		}
		if len(t.key) > 0 && primary != "" {
			parts = append(parts, primary)
		}
		for _, c := range t.columns {
			if slices.Contains(t.uniques, c.name) {
				parts = append(parts, "UNIQUE ("+c.name+")")
			}
			if c.foreign {
				to := c.refs[0].to[0]
				parts = append(parts, fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)", c.name, to.name, to.columns[0].name))
			}
		}
		if t.parent != nil && t.foreign {
			key := strings.Join(t.parent.key, ", ")
			parts = append(parts, fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)", key, t.parent.name, key))
		}
		all = append(all, "CREATE TABLE "+t.name+" ("+strings.Join(parts, ", ")+")")
	}
	for _, t := range g.tables {
		var rows, names []string
		for _, c := range t.columns {
			names = append(names, c.name)
		}
		for _, row := range t.rows[w] {
			var values []string
			for _, c := range t.columns {
				v, there := row[c.name]
				switch {
				case !there:
					v = "NULL"
				case c.text:
					v = "'" + v + "'"
				}
				values = append(values, v)
			}
			rows = append(rows, "("+strings.Join(values, ", ")+")")
		}
		if len(rows) > 0 {
			all = append(all, "INSERT INTO "+t.name+" ("+strings.Join(names, ", ")+") VALUES "+strings.Join(rows, ", "))
		}
		if next := t.next[w]; next > 0 && t.counted {
			switch {
			case g.mysql:
				all = append(all, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", t.name, next))
			case len(rows) > 0 && t.columns[0].sqlType == "INTEGER":
				all = append(all, fmt.Sprintf("UPDATE sqlite_sequence SET seq = %d WHERE name = '%s'", next-1, t.name))
			case t.columns[0].sqlType == "INTEGER":
				all = append(all, fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES ('%s', %d)", t.name, next-1))
			}
		}
	}
	return all
}

// worldNamed is how the databases are called.
func worldNamed(w int) string { return fmt.Sprint("w", w) }

// options declares what is to be declared.
func (g *keyGame) options() planner.PlanOptions {
	var d declare.Declarations
	check := declare.Options{Rekey: &declare.Rekey{Auto: g.auto}}
	parties := make(map[string]bool)
	for _, t := range g.tables {
		if t.same {
			check.Tables = append(check.Tables, declare.TablePolicy{Tables: []string{t.name}, Policy: declare.PolicySame})
		}
		switch {
		case t.reset:
			check.Tables = append(check.Tables, declare.TablePolicy{Tables: []string{t.name}, Policy: declare.PolicyReset})
		case t.skipped:
			check.Tables = append(check.Tables, declare.TablePolicy{Tables: []string{t.name}, Policy: declare.PolicySkip, Rows: t.severed})
		case t.excluded:
			check.Exclude, check.Allow = append(check.Exclude, t.name), append(check.Allow, verdict.CodeTableExcluded+":"+t.name)
		}
		if t.parent != nil && t.composite && !t.column("owner").forgotten {
			d.References = append(d.References, declare.DeclaredReference{Table: t.name, Columns: t.parent.key, ToTable: t.parent.name, ToColumns: t.parent.key})
		}
		for _, c := range t.columns {
			at := t.name + "." + c.name
			switch {
			case c.text:
				d.Plain = append(d.Plain, at)
			case len(c.refs) > 0:
				d.References = append(d.References, g.declared(t, c, parties)...)
			case c.undeclared || c.key:
			case c.natural:
				d.Natural = append(d.Natural, at)
			default:
				d.Plain = append(d.Plain, at)
			}
		}
	}
	for _, s := range g.spaces {
		space := declare.Space{Name: s.name, Step: s.step, Max: s.max}
		for _, t := range s.keys {
			space.Keys = append(space.Keys, t.name+"."+t.columns[0].name)
		}
		for w, by := range s.offsets {
			if space.Offsets == nil {
				space.Offsets = make(map[string]uint64)
			}
			space.Offsets[worldNamed(w)] = by
		}
		check.Rekey.Spaces = append(check.Rekey.Spaces, space)
	}
	for _, name := range sortedKeys(parties) {
		check.Rekey.Spaces = append(check.Rekey.Spaces, declare.Space{Name: name})
	}
	check.Rules = []declare.Declarations{d}
	return planner.PlanOptions{Check: check}
}

func sortedKeys(m map[string]bool) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// declared are the references of a column, as far as they are declared.
func (g *keyGame) declared(t *keyTable, c *keyColumn, parties map[string]bool) (all []declare.DeclaredReference) {
	if c.forgotten {
		return nil
	}
	for _, r := range c.refs {
		odd := len(r.none)+len(r.dangling) > 0 || r.bound
		known := c.foreign || t.parent != nil && c.name == "owner" && (t.foreign || t.composite)
		if known && !odd {
			continue
		}
		ref := declare.DeclaredReference{At: []string{t.name + "." + c.name}, None: slices.Clone(r.none), Dangling: slices.Clone(r.dangling)}
		if r.bound {
			ref.None = append(ref.None, "<1")
		}
		for _, to := range r.to {
			ref.To = append(ref.To, to.name+"."+to.columns[0].name)
		}
		if r.party != "" {
			ref.To = []string{"space:" + r.party}
			parties[r.party] = true
		}
		if r.when != "" {
			ref.When = &declare.When{Column: r.when, Is: []string{r.is}}
			if !c.undeclared {
				ref.Others = declare.OthersPlain
			}
		}
		all = append(all, ref)
	}
	return all
}

// String writes the game for whoever has to look into it.
func (g *keyGame) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d worlds, defects %q, options %+v\n", g.seed, g.worlds, g.defect, g.options().Check.Rekey)
	for _, r := range g.options().Check.Rules[0].References {
		fmt.Fprintf(&b, "reference %+v", r)
		if r.When != nil {
			fmt.Fprintf(&b, " when %v", r.When)
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "natural %q, plain %q, excluded %q\n", g.options().Check.Rules[0].Natural, g.options().Check.Rules[0].Plain, g.options().Check.Exclude)
	for w := range g.worlds {
		fmt.Fprintf(&b, "-- w%d\n%s\n", w, strings.Join(g.statements(w), "\n"))
	}
	return b.String()
}
