package change

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mergesafe/gameid"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// policy returns the policy for a unique column, or nil.
func (p *renaming) policy(table, column string) *plan.NamePolicy {
	return world.First(p.Opts.Names, func(n *plan.NamePolicy) bool { return n.Table == table && n.Column == column })
}

// planNames finds new values for those that several databases have. They have to be known before rows
// are measured: a rename changes what the sums are of.
func planNames(ctx context.Context, planning *Planning) error {
	p := newRenaming(planning)
	if err := renameAll(ctx, p); err != nil {
		return err
	}
	if err := renumber(p); err != nil {
		return err
	}
	p.refuseMade()
	return nil
}

// refuseMade refuses new names that an index of the first world knows in another form: a name that is free may have a
// form that is not.
func (p *renaming) refuseMade() {
	changes := make(map[plan.ColumnAt]bool)
	for _, r := range p.Plan.Renames {
		changes[plan.ColumnAt{Table: r.Table, Column: r.Column}] = true
	}
	for _, c := range p.Plan.Copies {
		if changes[plan.ColumnAt{Table: c.OfTable, Column: c.OfColumn}] {
			changes[plan.ColumnAt{Table: c.Table, Column: c.Column}] = true
		}
	}
	for i := range p.Plan.Tables {
		t := p.DBs[0].Table(p.Plan.Tables[i].Name)
		for _, u := range t.Uniques {
			for _, c := range t.Columns {
				made := func(name string) bool { return t.MadeFrom(name, c.Name) }
				if changes[plan.ColumnAt{Table: t.Name, Column: c.Name}] && slices.ContainsFunc(u.Columns, made) {
					p.RefuseValues(t.Name, "the column %s gets new values, and the unique index %s is on a column that is generated from it, so rows might become equal: drop the index from the first world until the merge is done", c.Name, u.Name)
				}
			}
		}
	}
}

// renameAll does so by the policies.
func renameAll(ctx context.Context, p *renaming) error {
	for i := range p.Opts.Names {
		n := &p.Opts.Names[i]
		t := p.DBs[0].Table(n.Table)
		if t == nil || t.Column(n.Column) == nil || n.By != "" && t.Column(n.By) == nil {
			return rules.Unsuitable("%s: the first world has no table %q with the columns %q", n, n.Table, strings.TrimSuffix(n.Column+", "+n.By, ", "))
		}
		if (n.Keep != plan.KeepFirst) != (n.By != "") || !slices.Contains([]plan.Keep{plan.KeepFirst, plan.KeepOlder, plan.KeepActive}, n.Keep) {
			return rules.Unsuitable("%s: %s.%s: keep %q by %q: want %q or %q with a column, or neither", n, n.Table, n.Column, n.Keep, n.By, plan.KeepOlder, plan.KeepActive)
		}
		if why := plan.TemplateProblem(cmp.Or(n.Template, plan.DefaultTemplate)); why != "" {
			return rules.Unsuitable("%s: %s.%s: the template %s", n, n.Table, n.Column, why)
		}
		if !slices.ContainsFunc(p.Plan.Tables, func(t plan.Table) bool { return t.Name == n.Table }) {
			continue // nothing is copied there
		}
		if why := p.unchangeable(n); why != "" {
			p.RefuseValues(n.Table, "%s", why)
			continue
		}
		if err := p.renameIn(ctx, n, t); err != nil {
			return fmt.Errorf("%s: %s.%s: %w", n, n.Table, n.Column, err)
		}
	}
	for _, c := range p.Opts.Copies {
		t, of := p.DBs[0].Table(c.Table), p.DBs[0].Table(c.OfTable)
		switch {
		case t == nil || t.Column(c.Column) == nil || t.Column(c.Key) == nil:
			return rules.Unsuitable("%s: the first world has no table %q with the columns %q and %q", c.What(), c.Table, c.Column, c.Key)
		case of == nil || len(of.Key()) != 1 || p.policy(c.OfTable, c.OfColumn) == nil:
			return rules.Unsuitable("%s: %s.%s copies %s.%s: want a column of names in a table with a key of one column", c.What(), c.Table, c.Column, c.OfTable, c.OfColumn)
		}
		key, ofKey := t.Column(c.Key), of.Column(of.Key()[0])
		if neverEqual(key.Kind, ofKey.Kind) {
			return rules.Unsuitable("%s: %s.%s is %s and can never refer to a row of %s, whose key %s is %s: want the column that holds that key",
				c.What(), c.Table, c.Key, key.Type, c.OfTable, ofKey.Name, ofKey.Type)
		}
		if why := p.Resolved.Unchangeable(c.Table, c.Column); why != "" {
			p.RefuseValues(c.Table, "%s", why)
			continue
		}
		p.Plan.Copies = append(p.Plan.Copies, c)
	}
	return nil
}

// neverEqual reports whether no value of one kind is one of the other. Bytes may be
// the text of an ID, and of other kinds nothing is known.
func neverEqual(a, b catalog.Kind) bool {
	switch {
	case a == b || a == catalog.KindOther || b == catalog.KindOther:
		return false
	default:
		return !(a == catalog.KindText && b == catalog.KindBytes || a == catalog.KindBytes && b == catalog.KindText)
	}
}

// rowOf is a row of a database, by its key.
type rowOf struct {
	db  int
	key string // as a plan has it
}

// named is one row with a value that other rows have too.
type named struct {
	rowOf
	made gameid.ServerID // the server whose ID the key begins with; 0: it begins with none
	name string
	form string // of the name, as the first world compares; sorts
	by   []byte // sorts; nil for NULL
	set  [][]byte
}

func (p *renaming) renameIn(ctx context.Context, n *plan.NamePolicy, t *catalog.Table) error {
	if n.MaxLength < 0 {
		return rules.Unsuitable("%s: the greatest length is %d, want 1 or more", n, n.MaxLength)
	}
	var losers []named
	homes := make(namesakes)
	joined, err := p.joinedRows(ctx, n, t)
	without := make(map[rowOf]bool) // their names do not come
	for _, j := range joined {
		without[j.row.rowOf] = true
	}
	var alike *named // one of two rows that nothing tells apart
	take := func(group []named) {
		if group = slices.DeleteFunc(group, func(row named) bool { return without[row.rowOf] }); len(group) < 2 {
			return
		}
		if rows := make(map[rowOf]bool); alike == nil && t.Key() == nil {
			for i, row := range group {
				if rows[row.rowOf] {
					alike = &group[i]
				}
				rows[row.rowOf] = true
			}
		}
		slices.SortStableFunc(group, func(a, b named) int {
			switch n.Keep {
			case plan.KeepOlder:
				return bytes.Compare(a.by, b.by)
			case plan.KeepActive:
				return bytes.Compare(b.by, a.by)
			}
			return 0
		})
		losers = append(losers, group[1:]...)
		homes.add(group)
	}
	if err == nil {
		err = p.sameNames(ctx, n, t, take)
	}
	if unsupported, ok := errors.AsType[*catalog.UnsupportedError](err); ok {
		p.RefuseValues(n.Table, "the values of %s cannot be compared: %v", n.Column, unsupported)
		return nil
	}
	if err != nil {
		return err
	}
	if alike != nil {
		p.RefuseValues(n.Table, "several rows of %s have the %s %q, and the table has no key that tells them apart: rename all but one of them before the merge", p.DBs[alike.db].Name(), n.Column, alike.name)
		return nil
	}
	if len(losers) > plan.MaxRenames {
		p.RefuseValues(n.Table, "%d values of %s would be renamed, but at most %d can be", len(losers), n.Column, plan.MaxRenames)
		return nil
	}
	if why := rules.Unnamable(p.DBs[0].Known.Engine, t.Column(n.Column), n.MaxLength); why != "" && len(losers) > 0 {
		p.RefuseValues(n.Table, "%s", why)
		return nil
	}
	if i := slices.IndexFunc(losers, func(l named) bool { return !utf8.ValidString(l.name) }); i >= 0 {
		p.RefuseValues(n.Table, "a row of %s has the %s %q, which is not UTF-8: no new name can be made of it", p.DBs[losers[i].db].Name(), n.Column, losers[i].name)
		return nil
	}
	fresh, err := p.invent(ctx, n, t.Column(n.Column), p.limit(n, t), losers)
	if err != nil || fresh == nil {
		return err
	}
	called := make(map[rowOf]string)
	for i, l := range losers {
		r := p.renameOf(n, l, fresh[i])
		called[l.rowOf] = r.New
		homes.rename(l, r)
		if err := p.set(n, l, r); err != nil {
			return err
		}
	}
	if t.Key() == nil && len(losers) > 0 {
		for _, column := range append([]string{n.Column}, slice.Map(n.Set, func(s rules.Setting) string { return s.Column })...) {
			p.Plan.Keyless = append(p.Plan.Keyless, plan.KeylessName{Table: n.Table, Column: column, By: n.Column})
		}
	}
	p.nameJoined(n, joined, called, homes)
	return p.follow(ctx, n, t.Column(n.Column), homes)
}

// renameOf plans that a row gets another name.
func (p *renaming) renameOf(n *plan.NamePolicy, row named, to string) plan.Rename {
	r := plan.Rename{Source: p.DBs[row.db].Name(), Table: n.Table, Column: n.Column, Key: row.key, Old: row.name, New: to}
	if s := p.serverOf(row); s != nil {
		r.World = s.World
	}
	p.Plan.Renames = append(p.Plan.Renames, r)
	p.Plan.Names++
	return r
}

// limit is how long a new value may be, in the column and in those that follow it; 0: nothing says.
type limit struct{ characters, bytes int }

func (l limit) holds(s string) bool {
	return (l.characters == 0 || utf8.RuneCountInString(s) <= l.characters) && (l.bytes == 0 || len(s) <= l.bytes)
}

func (l limit) String() string {
	if l.characters > 0 && (l.bytes == 0 || l.characters <= l.bytes) {
		return fmt.Sprintf("%d characters", l.characters)
	}
	return fmt.Sprintf("%d bytes", l.bytes)
}

func (p *renaming) limit(n *plan.NamePolicy, t *catalog.Table) (l limit) {
	narrow := func(to *int, most int) {
		if most > 0 && (*to == 0 || most < *to) {
			*to = most
		}
	}
	narrow(&l.characters, n.MaxLength)
	for _, at := range append([]plan.ColumnAt{{Table: n.Table, Column: n.Column}}, p.followersOf(n)...) {
		if of := p.DBs[0].Table(at.Table); of != nil && of.Column(at.Column) != nil {
			narrow(&l.characters, rules.Characters(of.Column(at.Column)))
			narrow(&l.bytes, rules.Bytes(of.Column(at.Column)))
		}
	}
	return l
}

// serverOf returns the server that made a row, as far as can be told.
func (p *renaming) serverOf(l named) *catalog.Server {
	world := p.Plan.Worlds[l.db]
	var own *catalog.Server
	for i := range world.Servers {
		s := &world.Servers[i]
		if s.Own && own == nil {
			own = s
		}
		if l.made == s.Server {
			return s
		}
	}
	return own
}

// sameNames gives every group of rows that have the same value in a column, in
// any of the databases, as the first world compares.
func (p *renaming) sameNames(ctx context.Context, n *plan.NamePolicy, t *catalog.Table, take func([]named)) error {
	name := t.Column(n.Column)
	scan := catalog.Scan{Table: n.Table, Order: []catalog.Order{{Column: n.Column, Collation: name.Collation}}, SkipNull: true}
	if n.By != "" {
		scan.Order = append(scan.Order, catalog.Order{Column: n.By, Collation: t.Column(n.By).Collation})
		scan.SkipNull = false
	}
	scan.Carry = append([]string{n.Column}, t.Key()...)
	for _, s := range n.Set {
		scan.Carry = append(scan.Carry, s.Column)
	}
	var scans []check.SourceScan
	var dbs []int // by scan
	for i, s := range p.DBs {
		if s.Table(n.Table) != nil {
			scans, dbs = append(scans, check.SourceScan{Source: s, Scan: scan}), append(dbs, i)
		}
	}
	none := p.Resolved.Declared.NoNames(n.Table, n.Column)
	for rows, err := range check.EqualRows(ctx, scans, 1) {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(rows, func(r check.EqualRow) bool { return none.Has(r.Carry[0]) }) {
			continue
		}
		group := make([]named, len(rows))
		for i, r := range rows {
			var err error
			if group[i], err = namedBy(t, dbs[r.From], r, r.Order[0]); err != nil {
				return err
			}
			if n.By != "" {
				group[i].by = r.Order[1]
			}
		}
		take(group)
	}
	return nil
}

// namedBy is a row that brings its name along, its key and what is set with the name. Without a key the name itself is it.
func namedBy(t *catalog.Table, db int, r check.EqualRow, form []byte) (named, error) {
	end := 1 + len(t.Key())
	row := named{rowOf: rowOf{db: db}, name: string(r.Carry[0]), form: string(form), set: r.Carry[end:]}
	key, err := nameKey(t, r.Carry[1:end])
	if err != nil {
		return row, err
	}
	if t.Key() == nil {
		key = []any{row.name}
	}
	if id, is := key[0].([]byte); is {
		if id, err := gameid.FromBytes(id); err == nil {
			row.made = id.Server()
		}
	}
	row.key, err = world.EncodeKey(key)
	return row, err
}

// nameKey returns the key of a row, as a page would give it.
func nameKey(t *catalog.Table, values [][]byte) ([]any, error) {
	key := make([]any, len(t.Key()))
	for i, name := range t.Key() {
		raw := values[i]
		col := t.Column(name)
		declared := strings.ToLower(col.Type)
		switch {
		case raw == nil:
			return nil, fmt.Errorf("the key column %q is NULL", name)
		case col.Collation != "":
			key[i] = string(raw)
		case strings.Contains(declared, "int"):
			if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
				key[i] = n
			} else if n, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
				key[i] = n
			} else {
				return nil, fmt.Errorf("the key column %q holds %.40q, want an integer", name, raw)
			}
		case col.IsID, strings.Contains(declared, "binary"), strings.Contains(declared, "blob"):
			key[i] = raw
		default:
			return nil, &catalog.UnsupportedError{Table: t.Name, Column: name, Reason: "rows with a key of type " + col.Type + " cannot be renamed"}
		}
	}
	return key, nil
}

// nameKeyText is such a key, as a plan has it.
func nameKeyText(t *catalog.Table, values [][]byte) (string, error) {
	key, err := nameKey(t, values)
	if err != nil {
		return "", err
	}
	return world.EncodeKey(key)
}

// invent finds a new value for every row: not too long, and taken in no
// database and by no other row, as the databases compare. If a row has none, the plan is
// refused, and the result is nil.
func (p *renaming) invent(ctx context.Context, n *plan.NamePolicy, col *catalog.Column, most limit, rows []named) ([]string, error) {
	fresh := make([]string, len(rows))
	attempt := make([]int, len(rows))
	open := make([]int, len(rows)) // those that have no value yet
	for i := range rows {
		open[i] = i
	}
	const rounds = 50
	for round := 0; len(open) > 0; round++ {
		if round == rounds {
			p.RefuseValues(n.Table, "found no free value of %s for %q: choose another template", n.Column, rows[open[0]].name)
			return nil, nil
		}
		for _, i := range open {
			attempt[i]++
			var err error
			if fresh[i], err = p.expand(n, rows[i], attempt[i], most); err != nil {
				p.RefuseValues(n.Table, "%s", err.Error())
				return nil, nil
			}
		}
		taken, err := p.taken(ctx, n, col, fresh, open)
		if err != nil {
			return nil, err
		}
		open = slices.DeleteFunc(open, func(i int) bool { return !taken[i] })
	}
	return fresh, nil
}

func (p *renaming) expand(n *plan.NamePolicy, row named, attempt int, most limit) (string, error) {
	server := "0"
	if s := p.serverOf(row); s != nil {
		server = s.Server.String()
	}
	template := cmp.Or(n.Template, plan.DefaultTemplate)
	if attempt > 1 {
		template += "." + strconv.Itoa(attempt)
	}
	before, after, _ := strings.Cut(template, "{name}")
	fill := strings.NewReplacer("{server}", server, "{source}", p.DBs[row.db].Name())
	before, after = fill.Replace(before), fill.Replace(after)
	for name := row.name; ; {
		fresh := before + strings.TrimRight(name, " ") + after
		if most.holds(fresh) {
			return fresh, nil
		}
		_, last := utf8.DecodeLastRuneInString(name)
		if name = name[:len(name)-last]; name == "" {
			return "", fmt.Errorf("the template %q leaves no room for the name in the %s of %s", template, most, n.Column)
		}
	}
}

// taken tells which of the new values at open exist already: in a database, or
// among the new values before them.
func (p *renaming) taken(ctx context.Context, n *plan.NamePolicy, col *catalog.Column, fresh []string, open []int) (map[int]bool, error) {
	order := settledFirst(len(fresh), open)
	list := make([]string, len(order))
	for at, i := range order {
		list[at] = fresh[i]
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	taken := make(map[int]bool)
	d := p.DBs[0].Dialect
	take := func(row []any) (bool, error) {
		at, err := world.IntIn(row[0], "the place in the list of new names")
		if err != nil {
			return false, err
		}
		first, err := world.IntIn(row[1], "the first place in the list of new names")
		if at != first {
			taken[order[at]] = true
		}
		return true, err
	}
	if err := p.DBs[0].On.Rows(ctx, sameAmong(d, col), false, []any{string(encoded)}, take); err != nil {
		return nil, err
	}
	// A row that names nobody must name nobody afterwards.
	for _, at := range append([]plan.ColumnAt{{Table: n.Table, Column: n.Column}}, p.followersOf(n)...) {
		for _, s := range p.DBs {
			t := s.Table(at.Table)
			if t == nil || t.Column(at.Column) == nil {
				continue
			}
			if err := s.On.Rows(ctx, thereAlready(d, at.Table, t.Column(at.Column), col), false, []any{string(encoded)}, take); err != nil {
				return nil, err
			}
		}
	}
	return taken, nil
}

// settledFirst returns the places of n values in an order in which those at open
// come last, so that the others keep their values.
func settledFirst(n int, open []int) []int {
	isOpen := make([]bool, n)
	for _, i := range open {
		isOpen[i] = true
	}
	order := make([]int, 0, n)
	for i := range n {
		if !isOpen[i] {
			order = append(order, i)
		}
	}
	return append(order, open...)
}

// listed is a table of the texts of a JSON list, t, with their places from 0.
func listed(d world.Dialect) string {
	if d.MySQL() {
		return "(SELECT i - 1 AS i, t FROM JSON_TABLE(?, '$[*]' COLUMNS (i FOR ORDINALITY, t VARCHAR(4000) PATH '$')) AS j) AS l"
	}
	return "(SELECT key AS i, value AS t FROM json_each(?)) AS l"
}

// collated is the text t as a value of a column of names: under its collation, or as bytes.
func collated(d world.Dialect, c *catalog.Column) string {
	switch {
	case c.Kind == catalog.KindBytes:
		return inBytes(d, "l.t")
	case d.MySQL():
		charset, _, _ := strings.Cut(c.Collation, "_")
		return "CONVERT(l.t USING " + charset + ") COLLATE " + c.Collation
	default:
		return "l.t COLLATE " + d.Quote(c.Collation)
	}
}

// inBytes is a text as the bytes of its UTF-8.
func inBytes(d world.Dialect, text string) string {
	if d.MySQL() {
		return "CAST(CONVERT(" + text + " USING utf8mb4) AS BINARY)"
	}
	return "CAST(" + text + " AS BLOB)"
}

// sameAmong gives for every text of a list the place of the first that is equal
// to it.
func sameAmong(d world.Dialect, c *catalog.Column) string {
	first := "MIN(l.i) OVER (PARTITION BY " + collated(d, c) + ")"
	if d.MySQL() {
		first = "CAST(" + first + " AS SIGNED)"
	}
	return "SELECT l.i, " + first + " FROM " + listed(d)
}

// thereAlready gives the texts of a list that a column of a table has already, as the
// column c compares. For IN both databases look the texts up, also if the column has no
// index.
func thereAlready(d world.Dialect, table string, in, c *catalog.Column) string {
	value := "r." + d.Quote(in.Name)
	switch charset, _, _ := strings.Cut(c.Collation, "_"); {
	case c.Kind == catalog.KindBytes && in.Kind != catalog.KindBytes:
		value = inBytes(d, value)
	case c.Kind == catalog.KindBytes:
	case d.MySQL() && !strings.HasPrefix(in.Collation, charset+"_"):
		value = "CONVERT(" + value + " USING " + charset + ")" // texts of two character sets cannot be compared
	case !d.MySQL() && in.Kind == catalog.KindBytes:
		value = "CAST(" + value + " AS TEXT)"
	}
	return "SELECT l.i, -1 FROM " + listed(d) + " WHERE " + collated(d, c) + " IN (SELECT " + value + " FROM " + d.Quote(table) + " AS r)"
}
