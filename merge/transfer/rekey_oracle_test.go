package transfer

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/rowio"
)

// The oracle of the rekeying merge. It knows what every column of a [keyGame] means,
// reads databases by plain SQL, and never asks what it judges: no plan, no offset, no
// rule. Every row has a tag of its own ("w2:t3:17"), by which it is found again whatever
// its key is.

// keyGame is a game of integer keys, and its worlds, of which the first is the target.
type keyGame struct {
	seed   uint64
	mysql  bool
	worlds int
	tables []*keyTable
	spaces []keyGameSpace
	auto   bool
	limits []string // tables of which new keys are refused, as is documented
	defect []string // what is not declared as it is, or cannot be; see judgeRefusals
}

// keyGameSpace is a space that the operator names.
type keyGameSpace struct {
	name      string // "" for the name of its only key
	keys      []*keyTable
	step, max uint64
	offsets   map[int]uint64 // by world
}

type keyTable struct {
	name      string
	form      keyTableForm
	columns   []*keyColumn // the first is the key that other tables name, if it has such
	key       []string
	uniques   []string  // columns
	parent    *keyTable // of a composite reference
	foreign   bool      // that the database knows
	composite bool      // that is declared as such
	counted   bool      // AUTO_INCREMENT
	excluded  bool
	skipped   bool               // excluded by the policy of the table
	reset     bool               // excluded, and emptied in the target
	severed   declare.RowsPolicy // excluded, and what becomes of rows that name its rows
	same      bool
	rows      [][]keyRow // of each world
	alive     [][]string // of each world, the keys that rows have
	gone      [][]string // and those that rows had
	next      []uint64   // of each world, what the counter goes on with; 0: by itself
}

type keyTableForm int

const (
	surrogateKey  keyTableForm = iota
	ownerSlot                  // (owner, slot)
	onePerOwner                // stats.guid = chars.guid
	kindedKey                  // (kind, of): rows of several kinds
	noKeyAtAll                 // a multiset
	childOfSlots               // (owner, slot, n), of a table of the form ownerSlot
	templateTable              // the same in every world
)

// keyRow are the values of a row, as the database prints them; a column that is not
// there is NULL.
type keyRow map[string]string

type keyColumn struct {
	name, sqlType string
	most          *big.Int
	signed, null  bool
	key           bool // of a space
	natural       bool
	refs          []*keyReference // of which a row is of one at most
	foreign       bool            // the database knows
	undeclared    bool
	forgotten     bool // the references, too
	text          bool
}

// keyReference is what some rows of a column mean.
type keyReference struct {
	to       []*keyTable // whose key it is
	party    string      // a thing without a table
	when     string      // the column that tells; "": every row
	is       string
	none     []string // values that mean nobody, and are declared so
	hidden   []string // values that mean nobody, and are not
	dangling []string // declared to lead nowhere, although they look as if they meant nobody
	bound    bool     // none is written as "<1"
}

// of returns what a value of a row means; nil: it is a plain value.
func (c *keyColumn) of(row keyRow) *keyReference {
	for _, r := range c.refs {
		if r.when == "" || row[r.when] == r.is {
			return r
		}
	}
	return nil
}

// nobody reports whether a value means nobody.
func (r *keyReference) nobody(v string) bool {
	return slices.Contains(r.none, v) || slices.Contains(r.hidden, v) || r.bound && below1(v)
}

func below1(v string) bool { n, _ := new(big.Int).SetString(v, 10); return n.Sign() < 1 }

func (t *keyTable) column(name string) *keyColumn {
	for _, c := range t.columns {
		if c.name == name {
			return c
		}
	}
	return nil
}

// keyContents is what a database has, by table and tag.
type keyContents map[string]map[string]keyRow

func openPlainly(d rowio.Database) (*sql.DB, error) {
	kind, rest, _ := strings.Cut(d.DSN, ":")
	if kind == "sqlite" {
		rest = "file:" + rest + "?_pragma=busy_timeout(5000)&_pragma=synchronous(0)&_pragma=journal_mode(memory)"
	}
	db, err := sql.Open(kind, rest)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// contents reads a database.
func (g *keyGame) contents(ctx context.Context, d rowio.Database) (keyContents, error) {
	db, err := openPlainly(d)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	all := make(keyContents)
	for _, t := range g.tables {
		all[t.name] = make(map[string]keyRow)
		rows, err := db.QueryContext(ctx, "SELECT * FROM "+t.name)
		if err != nil {
			return nil, err
		}
		names, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			values, dest := make([]sql.NullString, len(names)), make([]any, len(names))
			for i := range values {
				dest[i] = &values[i]
			}
			if err := rows.Scan(dest...); err != nil {
				return nil, err
			}
			row := make(keyRow)
			for i, v := range values {
				if v.Valid {
					row[names[i]] = v.String
				}
			}
			if all[t.name][row["tag"]] != nil {
				return nil, fmt.Errorf("%s: the row %s is there twice", t.name, row["tag"])
			}
			all[t.name][row["tag"]] = row
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		rows.Close()
	}
	return all, nil
}

// byKey finds the rows of a database by the key that others name.
func (g *keyGame) byKey(all keyContents) map[string]map[string]string {
	found := make(map[string]map[string]string)
	for _, t := range g.tables {
		found[t.name] = make(map[string]string)
		if t.form == surrogateKey || t.form == onePerOwner || t.form == templateTable {
			for tag, row := range all[t.name] {
				found[t.name][row[t.columns[0].name]] = tag
			}
		}
	}
	return found
}

// meaning is what a value means in a database: a plain value, a value that means nobody,
// the tags of the rows that it leads to, or nowhere (lost).
func (g *keyGame) meaning(byKey map[string]map[string]string, c *keyColumn, row keyRow) (what string, lost bool) {
	v, there := row[c.name]
	if !there {
		return "NULL", false
	}
	r := c.of(row)
	switch {
	case r == nil && c.key:
		return "its own key", false
	case r == nil, r.nobody(v):
		return "= " + v, false
	case r.party != "":
		return "", true // which rows mean the same one is compared
	}
	var tags []string
	for _, to := range r.to {
		if tag, found := byKey[to.name][v]; found {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		return "nowhere", true
	}
	return "-> " + strings.Join(tags, ", "), false
}

// severs reports whether what the reference names stays behind, and it is said what becomes
// of the rows.
func (r *keyReference) severs() declare.RowsPolicy {
	if len(r.to) == 1 {
		return r.to[0].severed
	}
	return ""
}

// asDeclared returns a world without the rows that do not come, and with others that name
// nobody; cut is how many these are.
func (g *keyGame) asDeclared(world keyContents) (declared keyContents, cut int) {
	declared = make(keyContents)
	for _, t := range g.tables {
		declared[t.name] = make(map[string]keyRow)
		for tag, row := range world[t.name] {
			row = maps.Clone(row)
			comes := true
			for _, c := range t.columns {
				v, there := row[c.name]
				r := c.of(row)
				if t.excluded || !there || c.forgotten || r == nil || r.severs() == "" || r.nobody(v) {
					continue
				}
				switch cut++; {
				case r.severs() == declare.RowsDrop:
					comes = false
				case len(r.none) > 0 && !(c.foreign && c.null):
					row[c.name] = r.none[0]
				default:
					delete(row, c.name)
				}
			}
			if comes {
				declared[t.name][tag] = row
			}
		}
	}
	return declared, cut
}

// keyCompared counts what the comparison saw.
type keyCompared struct{ rows, references, nowhere int }

// compareWorlds makes sure that each world is in the merged database as it was: every
// row once, its plain values as they were, and its references to the same rows or, as
// before, to none. Values that lead nowhere stay apart from each other, too.
func (g *keyGame) compareWorlds(worlds []keyContents, merged keyContents) (seen keyCompared, err error) {
	after := g.byKey(merged)
	tag := make(map[string]bool)
	type lost struct {
		world int
		value string
	}
	became, came := make(map[string]map[lost]string), make(map[string]map[string]lost)
	for w, world := range worlds {
		before := g.byKey(world)
		for _, t := range g.tables {
			if w > 0 && (t.excluded || t.same) || t.reset {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(world[t.name])) {
				row, image := world[t.name][name], merged[t.name][name]
				if image == nil {
					return seen, fmt.Errorf("%s: the row %s is missing", t.name, name)
				}
				tag[name] = true
				seen.rows++
				if w == 0 && !maps.Equal(row, image) {
					return seen, fmt.Errorf("%s: the target's own row %s was %v and is %v", t.name, name, row, image)
				}
				for _, c := range t.columns {
					if t.excluded && (c.forgotten || c.undeclared) {
						continue // of a table that is not merged, what is not declared is not known
					}
					if w > 0 && c.forgotten && t.form == onePerOwner && c == t.columns[0] && c.refs[0].to[0].excluded {
						continue // what it named stays behind, and nobody said that it named that
					}
					was, lostBefore := g.meaning(before, c, row)
					is, _ := g.meaning(after, c, image)
					if len(c.refs) > 0 {
						seen.references++
					}
					if was != is {
						return seen, fmt.Errorf("%s.%s of the row %s was %s (%q) and is %s (%q)", t.name, c.name, name, was, row[c.name], is, image[c.name])
					}
					if !lostBefore || c.forgotten {
						continue
					}
					seen.nowhere++
					kind := fmt.Sprint(t.name, c.name, row[c.of(row).when])
					if became[kind] == nil {
						became[kind], came[kind] = make(map[lost]string), make(map[string]lost)
					}
					here := lost{w, row[c.name]}
					if other, known := became[kind][here]; known && other != image[c.name] {
						return seen, fmt.Errorf("%s.%s: %s of world %d became %s and %s", t.name, c.name, here.value, w, other, image[c.name])
					}
					if other, known := came[kind][image[c.name]]; known && other != here {
						return seen, fmt.Errorf("%s.%s: %s of world %d and %s of world %d both became %s", t.name, c.name, here.value, w, other.value, other.world, image[c.name])
					}
					became[kind][here], came[kind][image[c.name]] = image[c.name], here
				}
			}
		}
	}
	for _, t := range g.tables {
		for name := range merged[t.name] {
			if !tag[name] {
				return seen, fmt.Errorf("%s: the row %s is of no world", t.name, name)
			}
		}
	}
	return seen, nil
}

// sameContents makes sure that two databases have the same rows.
func (g *keyGame) sameContents(want, have keyContents) error {
	for _, t := range g.tables {
		for name, row := range want[t.name] {
			if !maps.Equal(row, have[t.name][name]) {
				return fmt.Errorf("%s: the row %s was %v and is %v", t.name, name, row, have[t.name][name])
			}
		}
		if len(want[t.name]) != len(have[t.name]) {
			return fmt.Errorf("%s: there were %d rows and are %d", t.name, len(want[t.name]), len(have[t.name]))
		}
	}
	return nil
}

// span is where numbers lie.
type numberSpan struct{ low, high *big.Int }

func (s *numberSpan) add(v string) {
	n, ok := new(big.Int).SetString(v, 10)
	if !ok {
		panic(v)
	}
	if s.low == nil || n.Cmp(s.low) < 0 {
		s.low = n
	}
	if s.high == nil || n.Cmp(s.high) > 0 {
		s.high = n
	}
}

func (s *numberSpan) join(o numberSpan) {
	if o.low != nil {
		s.add(o.low.String())
		s.add(o.high.String())
	}
}

func (s numberSpan) meets(o numberSpan) bool {
	return s.low != nil && o.low != nil && s.low.Cmp(o.high) <= 0 && o.low.Cmp(s.high) <= 0
}

// roomSpace is what the oracle knows of a space: what moves, and where it ends.
type roomSpace struct {
	values []numberSpan // of each world
	ends   []*big.Int   // of the keys that the database counts
	limits []roomLimit
}

type roomLimit struct {
	world int
	high  *big.Int
	most  *big.Int
}

// spaceNames gives each table whose key moves the name of its space.
func (g *keyGame) spaceNames() map[*keyTable]string {
	names := make(map[*keyTable]string)
	for i, s := range g.spaces {
		for _, t := range s.keys {
			names[t] = fmt.Sprint("space ", i)
		}
	}
	for _, t := range g.tables {
		counts := t.form == surrogateKey || t.form == onePerOwner && t.columns[0].forgotten
		if names[t] == "" && counts && !t.excluded {
			names[t] = t.name
		}
	}
	return names
}

// lastOf is the space that a reference of a column leads to in the end.
func spaceOf(names map[*keyTable]string, t *keyTable) string {
	for names[t] == "" && t.form == onePerOwner {
		t = t.columns[0].refs[0].to[0]
	}
	return names[t]
}

// room reports whether there is room for each world beside the others, and whether
// columns name keys of several spaces, which then need the same room; whether all
// spaces have room for one offset together; and whether a database would have to count on
// beyond its column, since something refers to the last number there is.
func (g *keyGame) room() (enough, linked, one, full bool) {
	names := g.spaceNames()
	all := make(map[string]*roomSpace)
	of := func(name string) *roomSpace {
		if all[name] == nil {
			all[name] = &roomSpace{values: make([]numberSpan, g.worlds)}
		}
		return all[name]
	}
	most := func(name string, c *keyColumn) *big.Int {
		for i, s := range g.spaces {
			if m := new(big.Int).SetUint64(s.max); fmt.Sprint("space ", i) == name && s.max > 0 && m.Cmp(c.most) < 0 {
				return m
			}
		}
		return c.most
	}
	for _, t := range g.tables {
		for _, c := range t.columns {
			for _, r := range c.refs {
				for _, to := range r.to {
					linked = linked || !c.forgotten && spaceOf(names, to) != spaceOf(names, r.to[0])
				}
			}
			for w := range g.worlds {
				if t.excluded && w > 0 {
					break // the target's rows stay
				}
				here := make(map[string]*numberSpan)
				span := func(name string) *numberSpan {
					if here[name] == nil {
						here[name] = new(numberSpan)
					}
					return here[name]
				}
				for _, row := range t.rows[w] {
					v, there := row[c.name]
					if !there {
						continue
					}
					if c.name == t.columns[0].name && names[t] != "" {
						span(names[t]).add(v)
						continue
					}
					r := c.of(row)
					if r == nil || r.severs() != "" || slices.Contains(r.none, v) || r.bound && below1(v) || c.forgotten {
						continue
					}
					if r.party != "" {
						span("party " + r.party).add(v)
						continue
					}
					for _, to := range r.to {
						if name := spaceOf(names, to); name != "" {
							span(name).add(v)
						}
					}
				}
				if c.name == t.columns[0].name && names[t] != "" && t.counted && t.next[w] > 1 {
					span(names[t]).add(fmt.Sprint(t.next[w] - 1))
				}
				if c.name == t.columns[0].name && names[t] != "" {
					of(names[t]).ends = append(of(names[t]).ends, c.most)
				}
				for name, s := range here {
					of(name).values[w].join(*s)
					if w > 0 {
						of(name).limits = append(of(name).limits, roomLimit{w, s.high, most(name, c)})
					}
				}
			}
		}
	}
	step := uint64(1)
	for _, s := range g.spaces {
		step = max(step, s.step)
	}
	together := &roomSpace{values: make([]numberSpan, g.worlds)}
	enough = true
	for _, s := range all {
		for w := range s.values {
			together.values[w].join(s.values[w])
		}
		together.limits = append(together.limits, s.limits...)
		enough = enough && s.fits(step)
		for _, v := range s.values {
			full = full || v.high != nil && slices.ContainsFunc(s.ends, func(end *big.Int) bool { return v.high.Cmp(end) >= 0 })
		}
	}
	one = together.fits(step)
	return one || enough, linked && !one, one, full
}

// fits reports whether the worlds, one after the other, can be put above those before
// where they meet any.
func (s *roomSpace) fits(step uint64) bool {
	taken, above := []numberSpan{s.values[0]}, numberSpan{}
	above.join(s.values[0])
	for w := 1; w < len(s.values); w++ {
		v, by := s.values[w], new(big.Int)
		if v.low == nil {
			continue
		}
		if slices.ContainsFunc(taken, v.meets) {
			by.Sub(above.high, v.low)
			unit := new(big.Int).SetUint64(step)
			by.Add(by, unit).Div(by, unit).Mul(by, unit)
		}
		for _, l := range s.limits {
			if l.world == w && new(big.Int).Add(l.high, by).Cmp(l.most) > 0 {
				return false
			}
		}
		moved := numberSpan{new(big.Int).Add(v.low, by), new(big.Int).Add(v.high, by)}
		taken = append(taken, moved)
		above.join(moved)
	}
	return true
}

// heavy reports whether one value that leads nowhere in the end, as one that names the
// stats of a character who is gone, is in so many rows of a column of a
// world that it may mean nobody.
func (g *keyGame) heavy() bool {
	for w := range g.worlds {
		for _, t := range g.tables {
			for _, c := range t.columns {
				rows := make(map[string]int)
				for _, row := range t.rows[w] {
					if r := c.of(row); r != nil && r.severs() == "" && row[c.name] != "" && !r.nobody(row[c.name]) && len(r.to) > 0 &&
						!slices.ContainsFunc(r.to, func(to *keyTable) bool {
							for to.form == onePerOwner && !to.columns[0].forgotten {
								to = to.columns[0].refs[0].to[0]
							}
							return slices.Contains(to.alive[w], row[c.name])
						}) {
						rows[r.is+" "+row[c.name]]++
					}
				}
				for _, n := range rows {
					if n >= 10 {
						return true
					}
				}
			}
		}
	}
	return false
}

// covered reports whether a row has a value that is declared to mean nobody, and that is a key
// of what it would name, of any world.
func (g *keyGame) covered() bool {
	for w := range g.worlds {
		for _, t := range g.tables {
			for _, c := range t.columns {
				for _, row := range t.rows[w] {
					v, r := row[c.name], c.of(row)
					if r == nil || v == "" || !slices.Contains(r.none, v) && !(r.bound && below1(v)) {
						continue
					}
					for _, to := range r.to {
						if slices.ContainsFunc(slices.Concat(to.rows...), func(row keyRow) bool { return row[to.columns[0].name] == v }) {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// twice reports whether two worlds have a key of several columns in common that no
// offset tells apart.
func (g *keyGame) twice() bool {
	for _, t := range g.tables {
		if len(t.key) < 2 || t.excluded {
			continue
		}
		seen := make(map[string]int)
		for w := range g.worlds {
			for _, row := range t.rows[w] {
				id, moves := "", false
				for _, name := range t.key {
					c := t.column(name)
					r := c.of(row)
					moves = moves || r != nil && !r.nobody(row[name])
					id += row[name] + " "
				}
				if other, known := seen[id]; known && other != w && !moves {
					return true
				}
				seen[id] = w
			}
		}
	}
	return false
}
