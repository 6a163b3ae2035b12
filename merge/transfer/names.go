package transfer

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

	"mergesafe/gameid"
	"mergesafe/merge"
)

// Keep says which of several rows with the same unique value keeps it.
type Keep string

// The ways to choose. If two rows are equal, the target's row comes before those of
// the sources, and these come in the order of the plan.
const (
	KeepFirst  Keep = ""       // by that order
	KeepOlder  Keep = "older"  // the smallest value of By: when it was created
	KeepActive Keep = "active" // the largest value of By: when it was last used
)

// DefaultTemplate is the default of [NamePolicy.Template].
const DefaultTemplate = "{name}.s{server}"

// NamePolicy says how to change the values of a column that has to be unique in its
// table, if several databases have the same value.
type NamePolicy struct {
	Table, Column string

	// Keep says which row keeps its value, by the column By. The others are
	// renamed.
	Keep Keep
	By   string

	// Template makes the new value of {name}, {server} (the number of the
	// server that made the row) and {source} (the name of its database in the
	// plan). {name} is cut if the whole would be too long. The default is
	// [DefaultTemplate]. If the value is taken, a number is added.
	Template string

	// None are values that are not names, as in [merge.DeclaredUnique]: several rows may have
	// them, and keep them.
	None []string

	// Set are the values of other columns of a row whose name is changed, such as the
	// flag by which the game asks for another name.
	Set []merge.Setting

	// MaxLength is how many characters the column holds. The default is that of its
	// type; if the type has none, it must be given.
	MaxLength int

	// File and Line are where the policy is, for messages; none if it is in no file.
	File string
	Line int
}

// String names the policy in messages.
func (n *NamePolicy) String() string {
	if n.File == "" {
		return "names"
	}
	return fmt.Sprintf("%s:%d: [[merge.name]]", n.File, n.Line)
}

// NameCopy is a column that is renamed with a row that it names by its key.
type NameCopy = merge.NameCopy

// Renamed are the columns of policies, as a check takes them.
func Renamed(policies []NamePolicy) (all []merge.RenamedColumn) {
	for _, n := range policies {
		all = append(all, merge.RenamedColumn{Table: n.Table, Column: n.Column, First: n.Keep == KeepFirst, MaxLength: n.MaxLength, None: n.None, Set: n.Set, File: n.File, Line: n.Line})
	}
	return all
}

// maxRenames is how many values of one column may be renamed: the database
// compares all of them in one statement.
const maxRenames = 100_000

// policy returns the policy for a unique column, or nil.
func (p *planner) policy(table, column string) *NamePolicy {
	return first(p.opts.Names, func(n *NamePolicy) bool { return n.Table == table && n.Column == column })
}

// rename finds new values for those that several databases have.
func (p *planner) rename(ctx context.Context) error {
	for i := range p.opts.Names {
		n := &p.opts.Names[i]
		t := p.dbs[0].table(n.Table)
		if t == nil || column(t, n.Column) == nil || n.By != "" && column(t, n.By) == nil {
			return fmt.Errorf("%w: %s: the target has no table %q with the columns %q", merge.ErrOptions, n, n.Table, strings.TrimSuffix(n.Column+", "+n.By, ", "))
		}
		if (n.Keep != KeepFirst) != (n.By != "") || !slices.Contains([]Keep{KeepFirst, KeepOlder, KeepActive}, n.Keep) {
			return fmt.Errorf("%w: %s: %s.%s: keep %q by %q: want %q or %q with a column, or neither", merge.ErrOptions, n, n.Table, n.Column, n.Keep, n.By, KeepOlder, KeepActive)
		}
		if !slices.ContainsFunc(p.plan.Tables, func(t Table) bool { return t.Name == n.Table }) {
			continue // nothing is copied there
		}
		if t.Key() == nil {
			continue // refused with the table
		}
		if why := p.unchangeable(n); why != "" {
			p.refuse(Refusal{Table: n.Table, Reason: why})
			continue
		}
		if err := p.renameIn(ctx, n, t); err != nil {
			return fmt.Errorf("%s: %s.%s: %w", n, n.Table, n.Column, err)
		}
	}
	for _, c := range p.opts.Copies {
		t, of := p.dbs[0].table(c.Table), p.dbs[0].table(c.OfTable)
		switch {
		case t == nil || column(t, c.Column) == nil || column(t, c.Key) == nil:
			return fmt.Errorf("%w: copies: the target has no table %q with the columns %q and %q", merge.ErrOptions, c.Table, c.Column, c.Key)
		case of == nil || len(of.Key()) != 1 || p.policy(c.OfTable, c.OfColumn) == nil:
			return fmt.Errorf("%w: copies: %s.%s copies %s.%s: want a column of names, in a table whose key is one column", merge.ErrOptions, c.Table, c.Column, c.OfTable, c.OfColumn)
		}
		key, ofKey := column(t, c.Key), column(of, of.Key()[0])
		if neverEqual(key.Kind, ofKey.Kind) {
			return fmt.Errorf("%w: copies: %s.%s is %s and can never name a row of %s, whose key %s is %s: want the column that holds that key",
				merge.ErrOptions, c.Table, c.Key, key.Type, c.OfTable, ofKey.Name, ofKey.Type)
		}
		if why := p.dbs[0].catalog.Unchangeable(c.Table, c.Column); why != "" {
			p.refuse(Refusal{Table: c.Table, Reason: why})
			continue
		}
		p.plan.Copies = append(p.plan.Copies, c)
	}
	return nil
}

// neverEqual reports whether no value of one kind is one of the other. Bytes may be
// the text of an ID, and of other kinds nothing is known.
func neverEqual(a, b merge.Kind) bool {
	switch {
	case a == b || a == merge.KindOther || b == merge.KindOther:
		return false
	default:
		return !(a == merge.KindText && b == merge.KindBytes || a == merge.KindBytes && b == merge.KindText)
	}
}

func column(t *merge.Table, name string) *merge.Column {
	return first(t.Columns, func(c *merge.Column) bool { return c.Name == name })
}

// named is one row with a value that other rows have too.
type named struct {
	db   int
	key  []any
	name string
	form string // of the name, as the target compares; sorts
	by   []byte // sorts; nil for NULL
	set  [][]byte
}

func (p *planner) renameIn(ctx context.Context, n *NamePolicy, t *merge.Table) error {
	if n.MaxLength < 0 {
		return fmt.Errorf("%w: the greatest length is %d, want 1 or more", merge.ErrOptions, n.MaxLength)
	}
	var losers []named
	homes := make(namesakes)
	err := p.sameNames(ctx, n, t, func(group []named) {
		slices.SortStableFunc(group, func(a, b named) int {
			switch n.Keep {
			case KeepOlder:
				return bytes.Compare(a.by, b.by)
			case KeepActive:
				return bytes.Compare(b.by, a.by)
			}
			return 0
		})
		losers = append(losers, group[1:]...)
		homes.add(group)
	})
	if unsupported, ok := errors.AsType[*merge.UnsupportedError](err); ok {
		p.refuse(Refusal{Table: n.Table, Reason: fmt.Sprintf("the values of %s cannot be compared: %v", n.Column, unsupported)})
		return nil
	}
	if err != nil {
		return err
	}
	if len(losers) > maxRenames {
		p.refuse(Refusal{Table: n.Table, Reason: fmt.Sprintf("%d values of %s would be renamed, and at most %d can be", len(losers), n.Column, maxRenames)})
		return nil
	}
	if why := column(t, n.Column).Unbounded(n.MaxLength); why != "" && len(losers) > 0 {
		p.refuse(Refusal{Table: n.Table, Reason: why})
		return nil
	}
	fresh, err := p.invent(ctx, n, column(t, n.Column), p.limit(n, t), losers)
	if err != nil || fresh == nil {
		return err
	}
	for i, l := range losers {
		key, err := encodeKey(l.key)
		if err != nil {
			return err
		}
		r := Rename{Source: p.dbs[l.db].Name(), Table: n.Table, Column: n.Column, Key: key, Old: l.name, New: fresh[i]}
		if s := p.serverOf(l); s != nil {
			r.World = s.World
		}
		p.plan.Renames = append(p.plan.Renames, r)
		homes.rename(l, r)
		if err := p.set(n, l, r); err != nil {
			return err
		}
	}
	return p.follow(ctx, n, column(t, n.Column), homes)
}

// limit is how many characters a new value may have, in the column and in those that
// follow it.
func (p *planner) limit(n *NamePolicy, t *merge.Table) int {
	limit := column(t, n.Column).Characters()
	narrow := func(most int) {
		if most > 0 && (limit == 0 || most < limit) {
			limit = most
		}
	}
	narrow(n.MaxLength)
	for _, at := range p.along(n) {
		if of := p.dbs[0].table(at.table); of != nil && column(of, at.column) != nil {
			narrow(column(of, at.column).Characters())
		}
	}
	return limit
}

// serverOf returns the server that made a row, as far as can be told.
func (p *planner) serverOf(l named) *merge.Server {
	world := p.plan.worlds()[l.db]
	var own *merge.Server
	for i := range world.Servers {
		s := &world.Servers[i]
		if s.Own && own == nil {
			own = s
		}
		if id, ok := l.key[0].([]byte); ok {
			if id, err := gameid.FromBytes(id); err == nil && id.Server() == s.Server {
				return s
			}
		}
	}
	return own
}

// sameNames gives every group of rows that have the same value in a column, in
// any of the databases, as the target compares.
func (p *planner) sameNames(ctx context.Context, n *NamePolicy, t *merge.Table, take func([]named)) error {
	name := column(t, n.Column)
	scan := merge.Scan{Table: n.Table, Order: []merge.Order{{Column: n.Column, Collation: name.Collation}}, SkipNull: true}
	if n.By != "" {
		scan.Order = append(scan.Order, merge.Order{Column: n.By, Collation: column(t, n.By).Collation})
		scan.SkipNull = false
	}
	scan.Carry = append([]string{n.Column}, t.Key()...)
	for _, s := range n.Set {
		scan.Carry = append(scan.Carry, s.Column)
	}
	var scans []merge.SourceScan
	var dbs []int // by scan
	for i, s := range p.dbs {
		if s.table(n.Table) != nil {
			scans, dbs = append(scans, merge.SourceScan{Source: s, Scan: scan}), append(dbs, i)
		}
	}
	options := p.opts.Check
	options.Renames = Renamed(p.opts.Names)
	none, err := merge.NoNames(options, n.Table, n.Column)
	if err != nil {
		return err
	}
	for rows, err := range merge.EqualRows(ctx, scans, 1) {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(rows, func(r merge.EqualRow) bool { return none.Has(r.Carry[0]) }) {
			continue
		}
		group := make([]named, len(rows))
		for i, r := range rows {
			set := 1 + len(t.Key())
			key, err := keyOf(t, r.Carry[1:set])
			if err != nil {
				return err
			}
			group[i] = named{db: dbs[r.From], key: key, name: string(r.Carry[0]), form: string(r.Order[0]), set: r.Carry[set:]}
			if n.By != "" {
				group[i].by = r.Order[1]
			}
		}
		take(group)
	}
	return nil
}

// keyOf returns the key of a row, as a page would give it.
func keyOf(t *merge.Table, values [][]byte) ([]any, error) {
	key := make([]any, len(t.Key()))
	for i, name := range t.Key() {
		raw := values[i]
		col := column(t, name)
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
			return nil, &merge.UnsupportedError{Table: t.Name, Column: name, Reason: "rows with a key of type " + col.Type + " cannot be renamed"}
		}
	}
	return key, nil
}

// invent finds a new value for every row: not too long, and taken in no
// database and by no other row, as the databases compare. If a row has none, the plan is
// refused, and the result is nil.
func (p *planner) invent(ctx context.Context, n *NamePolicy, col *merge.Column, limit int, rows []named) ([]string, error) {
	fresh := make([]string, len(rows))
	attempt := make([]int, len(rows))
	open := make([]int, len(rows)) // those that have no value yet
	for i := range rows {
		open[i] = i
	}
	const most = 50
	for round := 0; len(open) > 0; round++ {
		if round == most {
			p.refuse(Refusal{Table: n.Table, Reason: fmt.Sprintf("no free value for %s was found, for %q: choose another template", n.Column, rows[open[0]].name)})
			return nil, nil
		}
		for _, i := range open {
			attempt[i]++
			var err error
			if fresh[i], err = p.expand(n, rows[i], attempt[i], limit); err != nil {
				p.refuse(Refusal{Table: n.Table, Reason: err.Error()})
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

func (p *planner) expand(n *NamePolicy, row named, attempt, limit int) (string, error) {
	server := "0"
	if s := p.serverOf(row); s != nil {
		server = s.Server.String()
	}
	template := cmp.Or(n.Template, DefaultTemplate)
	if attempt > 1 {
		template += "." + strconv.Itoa(attempt)
	}
	before, after, found := strings.Cut(template, "{name}")
	fill := strings.NewReplacer("{server}", server, "{source}", p.dbs[row.db].Name())
	before, after = fill.Replace(before), fill.Replace(after)
	room := limit - len([]rune(before)) - len([]rune(after))
	name := []rune(row.name)
	if !found || room < 1 {
		return "", fmt.Errorf("the template %q leaves no room for the name in the %d characters of %s", template, limit, n.Column)
	}
	if len(name) > room {
		name = name[:room]
	}
	return before + strings.TrimRight(string(name), " ") + after, nil
}

// taken tells which of the new values at open exist already: in a database, or
// among the new values before them.
func (p *planner) taken(ctx context.Context, n *NamePolicy, col *merge.Column, fresh []string, open []int) (map[int]bool, error) {
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
	d := p.dbs[0].dialect
	take := func(row []any) (bool, error) {
		at, err := intIn(row[0], "the place in the list of new names")
		if err != nil {
			return false, err
		}
		first, err := intIn(row[1], "the first place in the list of new names")
		if at != first {
			taken[order[at]] = true
		}
		return true, err
	}
	if err := p.dbs[0].on.rows(ctx, d.sameAmong(col), false, []any{string(encoded)}, take); err != nil {
		return nil, err
	}
	// A row that names nobody must name nobody afterwards.
	for _, at := range append([]columnAt{{n.Table, n.Column}}, p.along(n)...) {
		for _, s := range p.dbs {
			t := s.table(at.table)
			if t == nil || column(t, at.column) == nil {
				continue
			}
			if err := s.on.rows(ctx, d.thereAlready(at.table, column(t, at.column), col), false, []any{string(encoded)}, take); err != nil {
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
func (d dialect) listed() string {
	if d.mysql() {
		return "(SELECT i - 1 AS i, t FROM JSON_TABLE(?, '$[*]' COLUMNS (i FOR ORDINALITY, t VARCHAR(4000) PATH '$')) AS j) AS l"
	}
	return "(SELECT key AS i, value AS t FROM json_each(?)) AS l"
}

// collated is the text t under the collation of a column.
func (d dialect) collated(c *merge.Column) string {
	if d.mysql() {
		charset, _, _ := strings.Cut(c.Collation, "_")
		return "CONVERT(l.t USING " + charset + ") COLLATE " + c.Collation
	}
	return "l.t COLLATE " + d.Quote(c.Collation)
}

// sameAmong gives for every text of a list the place of the first that is equal
// to it.
func (d dialect) sameAmong(c *merge.Column) string {
	first := "MIN(l.i) OVER (PARTITION BY " + d.collated(c) + ")"
	if d.mysql() {
		first = "CAST(" + first + " AS SIGNED)"
	}
	return "SELECT l.i, " + first + " FROM " + d.listed()
}

// thereAlready gives the texts of a list that a column of a table has already, as the
// column c compares. For IN both databases look the texts up, also if the column has no
// index.
func (d dialect) thereAlready(table string, in, c *merge.Column) string {
	value := "r." + d.Quote(in.Name)
	if charset, _, _ := strings.Cut(c.Collation, "_"); d.mysql() && !strings.HasPrefix(in.Collation, charset+"_") {
		value = "CONVERT(" + value + " USING " + charset + ")" // texts of two character sets cannot be compared
	}
	return "SELECT l.i, -1 FROM " + d.listed() + " WHERE " + d.collated(c) + " IN (SELECT " + value + " FROM " + d.Quote(table) + " AS r)"
}
