package gameworlds

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// plan is a world before it is written: how many rows its tables get, and the numbers of its things.
type plan struct {
	opts      Options
	refs      *Refs
	tables    map[string]*table
	rows      map[string]int // of tables that were asked for; see rowsOf
	keys      map[Column]*population
	things    map[string]*population
	accounts  *population
	forgotten map[Column]bool
}

func newPlan(opts Options, refs *Refs, tables map[string]*table) (*plan, error) {
	p := &plan{
		opts: opts, refs: refs, tables: tables,
		rows: make(map[string]int), keys: make(map[Column]*population), things: make(map[string]*population),
		forgotten: make(map[Column]bool),
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.accounts = newPopulation(random(opts.Seed, "accounts"), p.numberOfAccounts(), 0, 0)
	counters := make(map[string][]Column)
	for _, c := range p.listed() {
		for _, m := range refs.Columns[c] {
			switch m.Kind {
			case Key:
				counter := cmp.Or(m.Counter, c.String())
				counters[counter] = append(counters[counter], c)
			case Thing:
				// Things of one name are the same: characters.familyId and family_character.familyid.
				name := strings.ToLower(c.Name)
				if p.things[name] == nil {
					p.things[name] = newPopulation(random(opts.Seed, name), max(1, opts.Characters/10), opts.Deleted, opts.Block)
				}
			}
		}
	}
	for _, counter := range slices.Sorted(maps.Keys(counters)) {
		p.count(counter, counters[counter])
	}
	p.forget()
	return p, nil
}

// check reports what the list has and the schema has not, and the other way round.
func (p *plan) check() error {
	for _, name := range slices.Sorted(maps.Keys(p.tables)) {
		if !slices.Contains(p.refs.Tables, name) {
			return fmt.Errorf("table %q is not in the list", name)
		}
	}
	for _, name := range p.refs.Tables {
		if p.tables[name] == nil {
			return fmt.Errorf("table %q is in the list and not in the schema", name)
		}
	}
	for _, c := range p.listed() {
		for _, m := range p.refs.Columns[c] {
			columns := append([]Column{c}, m.To...)
			for _, to := range m.To {
				if len(p.refs.Columns[to]) == 0 {
					return fmt.Errorf("%s is referred to, and the list does not say what it is", to)
				}
			}
			if m.When != nil {
				columns = append(columns, Column{c.Table, m.When.Column})
			}
			for _, c := range columns {
				if _, err := p.column(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *plan) column(c Column) (*column, error) {
	t := p.tables[c.Table]
	if t == nil {
		return nil, fmt.Errorf("there is no table %q", c.Table)
	}
	return t.column(c.Name)
}

// listed returns the columns that are in the list, in a fixed order.
func (p *plan) listed() []Column {
	return slices.SortedFunc(maps.Keys(p.refs.Columns), compareColumns)
}

// count hands out the keys of one counter to the columns that share it.
func (p *plan) count(counter string, columns []Column) {
	alive := 0
	for _, c := range columns {
		alive += p.rowsOf(c.Table)
	}
	rng := random(p.opts.Seed, counter)
	all := newPopulation(rng, alive, p.opts.Deleted, p.opts.Block)
	for _, c := range columns {
		n := p.rowsOf(c.Table)
		own := slices.Sorted(slices.Values(all.famous[:n]))
		all.famous = all.famous[n:]
		p.keys[c] = populationOf(rng, own, all.dead)
	}
}

// forget draws the columns that a shift by hand leaves out.
func (p *plan) forget() {
	var candidates []Column
	for _, c := range p.listed() {
		shifted := slices.ContainsFunc(p.refs.Columns[c], func(m Meaning) bool {
			return m.Kind == Cell && len(m.To) > 0 || m.Kind == Reference && p.meaning(m.To[0], Natural) == nil
		})
		if shifted && !p.tables[c.Table].declared[c.Name] && p.meaning(c, Key) == nil {
			candidates = append(candidates, c)
		}
	}
	rng := random(p.opts.Seed, "forget")
	rng.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	for _, c := range candidates[:int(p.opts.Forget*float64(len(candidates)))] {
		p.forgotten[c] = true
	}
}

// meaning returns the meaning of a column that has the kind, or nil.
func (p *plan) meaning(c Column, kind Kind) *Meaning {
	for i, m := range p.refs.Columns[c] {
		if m.Kind == kind {
			return &p.refs.Columns[c][i]
		}
	}
	return nil
}

// shift is what is added to a column's keys.
func (p *plan) shift(c Column) int64 {
	if p.forgotten[c] {
		return 0
	}
	return p.opts.Offset
}

// ofTheWorld reports whether a table has rows of the world, and not only of the game's own data.
func (p *plan) ofTheWorld(t *table) bool {
	data := false
	for _, c := range t.columns {
		for _, m := range p.refs.Columns[c.Column] {
			switch m.Kind {
			case Natural:
				data = true
			case Plain:
			case Reference:
				if p.meaning(m.To[0], Natural) == nil {
					return true
				}
			default:
				return true
			}
		}
	}
	return !data
}

// single returns the columns that are unique each by itself.
func (t *table) single() (columns []*column) {
	for _, index := range t.unique {
		if len(index) == 1 {
			columns = append(columns, t.columns[index[0]])
		}
	}
	return columns
}

// rowsOf returns how many rows a table gets. A table that refers to items has more than one that
// refers to characters; one with a row for each of another's has a share of these.
func (p *plan) rowsOf(name string) int {
	if n, known := p.rows[name]; known {
		return n
	}
	t := p.tables[name]
	n := int(float64(p.opts.Characters) * pick([]float64{0.25, 0.5, 1, 1.5, 2, 3}, name))
	for _, c := range t.columns {
		if m := p.meaning(c.Column, Reference); m != nil && m.To[0].Table == p.refs.Sizes["items"] {
			n = max(n, p.opts.Items*3/10)
		}
	}
	switch name {
	case p.refs.Sizes["characters"]:
		n = p.opts.Characters
	case p.refs.Sizes["items"]:
		n = p.opts.Items
	case p.refs.Sizes["guilds"]:
		n = max(2, p.opts.Characters/20)
	default:
		if !p.ofTheWorld(t) || !p.hasKinds(t) {
			n = 60
		}
	}
	p.rows[name] = n // also for a table that refers to itself, in a circle
	for _, index := range t.unique {
		room := 1.
		for _, place := range index {
			room *= p.room(t.columns[place])
		}
		switch c := t.columns[index[0]]; {
		case len(index) > 1:
			n = int(min(float64(n), room/3))
		case p.meaning(c.Column, Natural) != nil:
			n = int(room)
		default:
			n = int(min(float64(n), room*pick([]float64{0.15, 0.4, 0.7, 0.9}, c.String())))
		}
	}
	n = max(n, 1)
	p.rows[name] = n
	return n
}

// room returns how many different numbers a column may have; infinitely many if that does not depend on others.
func (p *plan) room(c *column) float64 {
	switch reference := p.meaning(c.Column, Reference); {
	case p.meaning(c.Column, Natural) != nil:
		return float64(len(naturals(c)))
	case p.meaning(c.Column, Account) != nil:
		return float64(p.numberOfAccounts())
	case reference == nil:
	case p.meaning(reference.To[0], Natural) != nil:
		if to, err := p.column(reference.To[0]); err == nil {
			return float64(len(naturals(to)))
		}
	default:
		return float64(p.rowsOf(reference.To[0].Table))
	}
	return math.Inf(1)
}

func (p *plan) numberOfAccounts() int { return max(1, p.opts.Characters*7/10) }

// hasKinds reports whether the list says anything of a table.
func (p *plan) hasKinds(t *table) bool {
	return slices.ContainsFunc(t.columns, func(c *column) bool { return len(p.refs.Columns[c.Column]) > 0 })
}

// populationOf returns what a reference names, and whether all of it is the game's own data.
func (p *plan) populationOf(rng *rand.Rand, to Column, written map[Column]*population) (*population, error) {
	switch {
	case p.keys[to] != nil:
		return p.keys[to], nil
	case written[to] != nil:
		return written[to], nil
	case p.meaning(to, Natural) != nil:
		c, err := p.column(to)
		if err != nil {
			return nil, err
		}
		numbers := naturals(c)
		return populationOf(rng, numbers, nil), nil
	}
	return nil, fmt.Errorf("%s is referred to, and has no numbers yet: references go in a circle without a key", to)
}
