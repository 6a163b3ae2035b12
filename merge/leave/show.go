package leave

import (
	"cmp"
	"context"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// How much a person is shown. The lists of all rows have the rest.
const (
	shownKeys     = 3
	shownCascades = 5
	slow          = 10 * time.Second // of a condition
)

// show reads once more what refers to rows that stay, or has money, and says what a person looks at.
func (r *run) show(ctx context.Context, found *Found) error {
	of := make(map[*world]*verdict.Staying)
	for _, w := range r.worlds {
		of[w] = new(verdict.Staying)
	}
	err := r.each(ctx, func(ctx context.Context, w *world) (err error) {
		if of[w].Close, err = r.closeRows(ctx, w, found); err == nil {
			err = r.readAgain(ctx, w, of[w])
		}
		return err
	})
	found.Shown = &verdict.Staying{Tables: []verdict.StayingTable{}, Close: []verdict.CloseRows{}}
	for _, w := range r.worlds {
		found.Shown.Close = append(found.Shown.Close, of[w].Close...)
		found.Shown.Cascades = append(found.Shown.Cascades, of[w].Cascades...)
		for _, s := range found.Stays {
			if s.World == w.db.Name && s.Rows() > 0 {
				found.Shown.Tables = append(found.Shown.Tables, tableOf(w, s, of[w].Tables))
			}
		}
	}
	slices.SortStableFunc(found.Shown.Cascades, func(a, b verdict.Cascade) int { return cmp.Compare(b.Rows, a.Rows) })
	found.Shown.Cascades = found.Shown.Cascades[:min(shownCascades, len(found.Shown.Cascades))]
	return err
}

func tableOf(w *world, s *rules.Stays, read []verdict.StayingTable) verdict.StayingTable {
	t := verdict.StayingTable{World: s.World, Table: s.Table, Stay: s.Rows(), Come: w.db.Rows[s.Table] - s.Rows()}
	for _, of := range read {
		if of.Table == s.Table {
			t.Sums = of.Sums
		}
	}
	for _, why := range s.Why {
		if why.Rows == 0 {
			continue
		}
		line := verdict.StayingWhy{Why: why.Why, Rows: why.Rows}
		if took := w.took[why.Why]; took >= time.Second {
			line.Took = took.Seconds()
		}
		if why.Keys != nil {
			for n := range why.Keys.Keys() {
				if line.SuchAs = append(line.SuchAs, n.String()); len(line.SuchAs) == shownKeys {
					break
				}
			}
		}
		t.Why = append(t.Why, line)
	}
	return t
}

// closeRows finds rows of a world that come by one term of a condition, by its NULL, or as the last of the best.
func (r *run) closeRows(ctx context.Context, w *world, found *Found) (all []verdict.CloseRows, err error) {
	for i, s := range r.says {
		add := func(why, condition string) error {
			rows := verdict.CloseRows{World: w.db.Name, Table: s.Table, Why: why}
			err := w.db.Opened.(rules.Selector).Select(ctx, s.Table, r.tables[s.Table].RowKey, condition,
				func(n keys.Key) { note(&rows, w.keys[s.Table], n) })
			if rows.Rows > 0 {
				all = append(all, rows)
			}
			return err
		}
		if c := s.where[w.db]; c != nil && w.took[s.whyWhere()] < slow { // a slow one is not asked again
			terms := c.terms(r.now)
			for k, term := range terms {
				others := slices.Concat(terms[:k], terms[k+1:])
				condition := "NOT (" + term.bound + ")"
				for _, o := range others {
					condition = "(" + o.bound + ") AND " + condition
				}
				if err := add("all of where except "+term.text, condition); err != nil {
					return nil, err
				}
			}
			if slices.ContainsFunc(found.Says[i].Nulls, func(n Nulls) bool { return n.Source == w.db.Name }) {
				if err := add(s.whyWhere()+": it is NULL", "("+c.with(r.now)+") IS NULL"); err != nil {
					return nil, err
				}
			}
		}
		slices.SortFunc(s.last, func(a, b *ranked) int { return a.key.Compare(b.key) })
		rows := verdict.CloseRows{World: w.db.Name, Table: s.Table}
		for _, row := range s.last {
			rows.Why = s.Best.String() + ": the last rows that are copied"
			if row.w == w {
				note(&rows, w.keys[s.Table], row.key)
			}
		}
		if rows.Rows > 0 {
			all = append(all, rows)
		}
	}
	return all, nil
}

// note counts a row unless it stays behind for another reason.
func note(rows *verdict.CloseRows, staying *leftKeys, n keys.Key) {
	if staying.has(n) {
		return
	}
	if rows.Rows++; len(rows.SuchAs) < shownKeys {
		rows.SuchAs = append(rows.SuchAs, n.String())
	}
}

// term is one of the conditions that AND joins.
type term struct{ text, bound string }

// terms are those of a condition; nil if it has only one, or if OR joins them.
func (c *condition) terms(now int64) (all []term) {
	depth, begin, between := 0, 0, false
	add := func(end int) {
		text := strings.TrimSpace(c.text[begin:end])
		all = append(all, term{text, strings.TrimSpace(c.part(begin, end, now))})
	}
	for _, t := range c.tokens {
		switch {
		case t.Text == "(" || t.Keyword("CASE"):
			depth++
		case t.Text == ")" || t.Keyword("END"):
			depth--
		case depth > 0:
		case t.Keyword("OR"):
			return nil
		case t.Keyword("BETWEEN"):
			between = true
		case t.Keyword("AND") && between:
			between = false
		case t.Keyword("AND"):
			add(t.Start)
			begin = t.End()
		}
	}
	if begin == 0 {
		return nil
	}
	add(len(c.text))
	return all
}

// money are the names of columns that are summed up, beside those that a policy sums up.
var money = regexp.MustCompile(`(?i)(adena|balance|cash|coin|credit|gold|kinah|meso|money|zeny)s?$`)

// sum is a column that is summed up.
type sum struct {
	column     string
	stay, come big.Int
}

func (r *run) sums(w *world, table string) (all []*sum) {
	for _, c := range w.db.Tables[table].Columns {
		of := r.f.Combined[table]
		summed := of != nil && of.Formula(c.Name).Op == rules.FormulaSum
		if (summed || money.MatchString(c.Name)) && r.f.Integers(table, c.Name) {
			all = append(all, &sum{column: c.Name})
		}
	}
	return all
}

// readAgain reads the tables of a world of which rows stay behind: it adds up, and finds of each row the one that it
// follows in the end. Tables to which others refer come first, as often as that gives more.
func (r *run) readAgain(ctx context.Context, w *world, shown *verdict.Staying) error {
	c := &cascades{run: r, w: w, of: make(map[string]map[keys.Key]int), rows: make(map[string][]int64)}
	var inner, outer []*table
	for _, name := range r.order {
		t := r.tables[name]
		switch {
		case w.db.Tables[name] == nil:
		case t.keyed() && slices.ContainsFunc(r.edges, func(e *edge) bool { return e.To == name }):
			c.of[name] = make(map[keys.Key]int)
			inner = append(inner, t)
		default:
			outer = append(outer, t)
		}
	}
	read := func(t *table, sums []*sum) (more bool, err error) {
		if len(r.drops(t.name)) > 0 || len(sums) > 0 {
			more, err = c.read(ctx, t, sums)
		}
		if len(sums) > 0 {
			shown.Tables = append(shown.Tables, verdict.StayingTable{Table: t.name, Sums: slice.Map(sums, func(s *sum) verdict.StayingSum {
				return verdict.StayingSum{Column: s.column, Stay: s.stay.String(), Come: s.come.String()}
			})})
		}
		return more, err
	}
	for first, more := true, true; more; first = false {
		more = false
		for _, t := range inner {
			var sums []*sum
			if first {
				sums = r.sums(w, t.name)
			}
			found, err := read(t, sums)
			if err != nil {
				return err
			}
			more = more || found && r.circular(t)
		}
	}
	for _, t := range outer {
		if _, err := read(t, r.sums(w, t.name)); err != nil {
			return err
		}
	}
	shown.Cascades = c.largest()
	return nil
}

// circular reports whether a table refers to one that is read after it, or to itself.
func (r *run) circular(t *table) bool {
	return slices.ContainsFunc(r.edges, func(e *edge) bool {
		return e.To == t.name && e.says == rules.GoneDrop && slices.Index(r.order, e.Table) <= slices.Index(r.order, t.name)
	})
}

// cascades are the rows of a world that follow others.
type cascades struct {
	*run
	w     *world
	of    map[string]map[keys.Key]int // by table, of the rows that stay, the number of the root
	roots []root                      // the first is number 1
	rows  map[string][]int64          // by table, how many follow each root
}

// root is a row that stays by itself.
type root struct {
	table string
	key   keys.Key
	why   string
}

// root is the number of the row that a row which stays follows in the end; 0 if that is not known so far.
func (c *cascades) root(table string, key keys.Key) int {
	if c.of[table][key] == 0 {
		if why := c.itself(table, key); why != "" {
			c.roots = append(c.roots, root{table, key, why})
			c.of[table][key] = len(c.roots)
		}
	}
	return c.of[table][key]
}

// itself says why a row stays that follows no other.
func (c *cascades) itself(table string, key keys.Key) string {
	for _, s := range c.says {
		for _, why := range s.whys() {
			if of := c.w.why[table][why]; s.Table == table && of != nil && of.has(key) {
				return why
			}
		}
	}
	return ""
}

// read reads a table once. more reports whether rows to which others may refer were found.
func (c *cascades) read(ctx context.Context, t *table, sums []*sum) (more bool, err error) {
	scan := catalog.Scan{Table: t.name}
	own := reading(t.RowKey, &scan)
	stays, err := c.stays(ctx, c.w, t.name, &scan)
	if err != nil {
		return false, err
	}
	follows, err := c.w.following(ctx, c.drops(t.name), &scan)
	if err != nil {
		return false, err
	}
	at := slice.Map(sums, func(s *sum) int { return scan.Bring(s.column) })
	var value big.Int
	rows := c.rows[t.name]
	err = c.w.scan(ctx, scan, func(b *catalog.Batch, row int) {
		behind := stays(b, row)
		for i, s := range sums {
			if n, ok := b.Carry[at[i]].Integer(row); ok {
				value.SetString(n.String(), 10)
				to := &s.come
				if behind {
					to = &s.stay
				}
				to.Add(to, &value)
			}
		}
		if !behind {
			return
		}
		var key keys.Key
		if t.keyed() {
			if key, _ = own.key(b, row); c.of[t.name][key] > 0 || c.itself(t.name, key) != "" {
				return
			}
		}
		for i, e := range follows.edges {
			n, ok := follows.names(i, b, row)
			if !ok {
				continue
			}
			if n, ok = follows.stays(i, n); !ok {
				continue
			}
			if id := c.root(e.To, n); id > 0 {
				rows = append(rows, make([]int64, max(0, id-len(rows)))...)
				rows[id-1]++
				if c.of[t.name] != nil {
					c.of[t.name][key], more = id, true
				}
				return
			}
		}
	})
	c.rows[t.name] = rows
	return more, err
}

// largest are the cascades of most rows.
func (c *cascades) largest() (all []verdict.Cascade) {
	totals := make([]int64, len(c.roots))
	var ids []int
	for _, rows := range c.rows {
		for i, n := range rows {
			totals[i] += n
		}
	}
	for id, n := range totals {
		if i, _ := slices.BinarySearchFunc(ids, n, func(other int, n int64) int { return cmp.Compare(n, totals[other]) }); n > 0 && i < shownCascades {
			for i < len(ids) && totals[ids[i]] == n { // the first one stays first
				i++
			}
			ids = slices.Insert(ids, i, id)
			ids = ids[:min(len(ids), shownCascades)]
		}
	}
	for _, id := range ids {
		of := c.roots[id]
		one := verdict.Cascade{World: c.w.db.Name, Table: of.table, Key: of.key.String(), Why: of.why, Rows: totals[id]}
		for _, name := range c.order {
			if rows := c.rows[name]; id < len(rows) && rows[id] > 0 {
				one.Follow = append(one.Follow, verdict.CascadeRows{Table: name, Rows: rows[id]})
			}
		}
		slices.SortStableFunc(one.Follow, func(a, b verdict.CascadeRows) int { return cmp.Compare(b.Rows, a.Rows) })
		all = append(all, one)
	}
	return all
}
