package leave

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/nearest"
	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
)

// Leaving is what may stay behind, as the operator says.
type Leaving struct {
	f      *declare.Resolved
	now    int64
	dbs    []*declare.Database // whose rows may stay behind
	says   []*said
	tables map[string]*table // of which rows may stay behind
	order  []string          // their names: a table comes after those that it refers to, as far as they do not refer to each other
	edges  []*edge
	cells  []inCells
}

// said is a statement.
type said struct {
	*declare.Leave
	where map[*declare.Database]*condition
	by    []declare.ByColumn
	fewer *edge     // the reference of the rows that are counted
	last  []*ranked // of each group that has too many rows, the last that comes
}

// table is one of which rows may stay behind.
type table struct {
	name string
	key  string       // of integers; "": its rows are told by what they refer to
	kept rekey.Values // keys of rows that are the same in every world
}

// edge is a reference to a table of which rows may stay behind.
type edge struct {
	*declare.SeveredReference
	none rekey.Values // names nothing
	says declare.RowsPolicy
}

// Prepare resolves what the options say of rows that stay behind; nil if nothing does.
func Prepare(f *declare.Resolved) (*Leaving, error) {
	if len(f.Opts.Leave) == 0 {
		return nil, nil
	}
	l := &Leaving{f: f, now: f.Opts.Now.Unix(), tables: make(map[string]*table), dbs: declare.SourcesOf(f)}
	if f.Opts.Now.IsZero() {
		l.now = f.Opts.Clock().Unix()
	}
	if f.Opts.FirstLeaves {
		l.dbs = f.DBs
	}
	for i := range f.Opts.Leave {
		if err := l.say(&f.Opts.Leave[i]); err != nil {
			return nil, declare.Unsuitable("%s: %v", f.Opts.Leave[i].Place(), err)
		}
	}
	if err := l.follow(); err != nil {
		return nil, err
	}
	for _, s := range l.says {
		if err := l.resolveFewer(s); err != nil {
			return nil, declare.Unsuitable("%s: fewer: %v", s.Place(), err)
		}
	}
	l.sort()
	return l, nil
}

// say takes a statement.
func (l *Leaving) say(leave *declare.Leave) error {
	f, s := l.f, &said{Leave: leave, where: make(map[*declare.Database]*condition)}
	name := leave.Table
	if f.Names[name] == nil {
		return fmt.Errorf("no source has a table %q%s", name, nearest.Hint(name, slices.Sorted(maps.Keys(f.Names))))
	}
	switch {
	case f.Same[name]:
		return fmt.Errorf("the table is the same in every world (policy %q): none of its rows can stay behind",
			declare.PolicySame)
	case !slices.Contains(f.Tables, name):
		return fmt.Errorf("none of its rows comes: it is skipped, reset or excluded")
	case f.Partly[name].When != nil:
		return fmt.Errorf("[[merge.table]] says by when which of its rows stay behind: say both by where")
	case leave.Where == "" && leave.Best == nil && leave.Fewer == nil:
		return fmt.Errorf(`want where, best or fewer, such as where = "level < 30"`)
	}
	t, err := l.addTable(name)
	if err != nil {
		return err
	}
	if t.key == "" {
		return fmt.Errorf("its key is not one column of integers: no where, best or fewer")
	}
	if leave.Where != "" {
		for _, db := range l.dbs {
			if db.Tables[name] == nil {
				continue
			}
			if s.where[db], err = parse(leave.Where, db, name); err != nil {
				return fmt.Errorf("where: %w", err)
			}
		}
	}
	if leave.Best != nil {
		if err := l.resolveBest(s); err != nil {
			return fmt.Errorf("best: %w", err)
		}
	}
	for _, other := range l.says {
		if other.Table == name && (other.Best != nil && s.Best != nil || other.Fewer != nil && s.Fewer != nil) {
			return fmt.Errorf("best, or fewer, of the table is said by %s too: want it once", other.Place())
		}
	}
	l.says = append(l.says, s)
	return nil
}

func (l *Leaving) addTable(name string) (*table, error) {
	if t := l.tables[name]; t != nil {
		return t, nil
	}
	t := &table{name: name}
	for db, of := range l.f.Having(name) {
		if of.Outside != "" {
			return nil, fmt.Errorf("table %s of %s is in no snapshot (%s), so which of its rows stay behind cannot be judged",
				name, db.Name, of.Outside)
		}
		if db.Catalog.NoSnapshot {
			return nil, fmt.Errorf("%s is read without a snapshot, so which of its rows stay behind cannot be judged", db.Name)
		}
		key := of.Key()
		if len(key) != 1 || !l.f.Integers(name, key[0]) || t.key != "" && t.key != key[0] {
			t.key = ""
			break
		}
		t.key = key[0]
	}
	if t.key != "" {
		kept, err := declare.ParseKeep(l.f.Keeps[declare.ColumnName{Table: name, Column: t.key}])
		if err != nil {
			return nil, err
		}
		t.kept = kept
	}
	l.tables[name] = t
	return t, nil
}

func (l *Leaving) resolveBest(s *said) error {
	best := s.Best
	if best.Keep < 1 || len(best.By) == 0 {
		return fmt.Errorf(`want keep of at least 1, and by, such as by = ["level desc"]`)
	}
	for _, text := range best.By {
		by, err := declare.ParseBy(text)
		if err != nil {
			return err
		}
		s.by = append(s.by, by)
	}
	for db, t := range l.f.Having(s.Table) {
		for _, by := range append(slices.Clone(s.by), declare.ByColumn{Column: best.Of}) {
			if t.Column(by.Column) == nil {
				return fmt.Errorf("in %s the table has no column %q", db.Name, by.Column)
			}
		}
	}
	role := l.f.Declared.Role(s.Table, best.Of)
	of := declare.ColumnName{Table: s.Table, Column: best.Of}
	moves := l.f.Moving != nil && l.f.Moving.Columns[of] != nil
	if isID := slices.Contains(l.f.IDColumns(s.Table), best.Of); !isID && !moves && role.Kind != declare.RoleShared &&
		role.Kind != declare.RoleNatural && l.f.Moving != nil {
		return fmt.Errorf("of: it is not said whether one value of %s is the same in all worlds: declare it shared, or a reference", of)
	}
	return nil
}

// resolveFewer finds the reference by which rows are counted.
func (l *Leaving) resolveFewer(s *said) error {
	if s.Fewer == nil {
		return nil
	}
	if s.Fewer.Than < 1 {
		return fmt.Errorf("than is %d: want at least 1", s.Fewer.Than)
	}
	for _, e := range l.edges {
		if declare.Place(e.Table, e.Column) == s.Fewer.Of && e.To == s.Table {
			s.fewer = e
			return nil
		}
	}
	return fmt.Errorf("of = %q: want a column, as table.column, that is declared to refer to %s", s.Fewer.Of, s.Table)
}

// follow finds the references to the tables of which rows may stay behind, and the tables whose rows
// follow.
func (l *Leaving) follow() error {
	seen := make(map[string]bool)
	for more := true; more; {
		more = false
		for _, to := range slices.Sorted(maps.Keys(l.tables)) {
			if seen[to] {
				continue
			}
			seen[to], more = true, true
			if err := l.followTo(to); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Leaving) followTo(to string) error {
	for _, name := range l.f.Tables {
		var refs []*declare.Ref
		for _, r := range declare.AllReferences(l.f, name) {
			refs = append(refs, &r)
		}
		refs = append(refs, l.f.Declared.Severally(name)...)
		for _, r := range refs {
			i := slices.IndexFunc(read(r), func(at declare.ColumnName) bool { return at.Table == to })
			if i < 0 {
				continue
			}
			if err := l.addEdge(name, r, read(r)[i]); err != nil {
				return declare.Unsuitable("%s.%s: rows of %s stay behind: %v", name, r.Subject(), to, err)
			}
		}
	}
	return nil
}

// read are the keys of which each value of a reference names one.
func read(r *declare.Ref) []declare.ColumnName {
	if r.Space != "" {
		return nil
	}
	return append([]declare.ColumnName{{Table: r.ToTable, Column: r.ToColumns[0]}}, r.Or...)
}

func (l *Leaving) addEdge(name string, r *declare.Ref, to declare.ColumnName) error {
	switch {
	case len(r.Columns) != 1:
		return fmt.Errorf("the reference is of %d columns, and only one column can be followed", len(r.Columns))
	case r.Cells != nil && r.Declared.Gone != "":
		return fmt.Errorf("gone is for references of whole values, and these keys are inside cells")
	case len(r.Or) > 0 && r.Declared.Gone == declare.RowsNone:
		return fmt.Errorf("it names rows of several tables, and gone = %q can be said of one: declare which rows name which (when)", declare.RowsNone)
	case len(r.Except) > 0:
		return fmt.Errorf("it is not about rows that other statements cover, which cannot be followed: give it a when")
	case l.tables[to.Table].key == "" || !strings.EqualFold(l.tables[to.Table].key, to.Column):
		return fmt.Errorf("%s is not the one column of integers that is the key of %s", to, to.Table)
	}
	table := r.Table
	if table == "" {
		table = name
	}
	of := *r
	of.Table = table
	if r.Cells != nil {
		l.cells = append(l.cells, inCells{&of, to})
		return nil
	}
	says := r.Declared.Gone
	rows := says
	if says == "" {
		rows = declare.RowsDrop // what would be blocked is counted as if it followed
	}
	follows, err := declare.Following(l.f, &of, to, rows)
	if err != nil {
		return err
	}
	none, err := rekey.ParseValues(follows.Zero, follows.None)
	if err != nil {
		return err
	}
	l.edges = append(l.edges, &edge{follows, none, says})
	for db, t := range l.f.Having(table) {
		if says != "" && t.Key() == nil {
			return fmt.Errorf("%s has no key in %s, so its rows could not be told apart by the proof and by an undo: give it a key, or let all "+
				"of it stay behind: [[merge.table]] tables = [%s], policy = \"skip\"", table, db.Name, printable.TOML(table))
		}
	}
	if says == declare.RowsDrop {
		if l.f.Same[table] {
			return fmt.Errorf("%s is the same in every world (policy %q): none of its rows can stay behind", table,
				declare.PolicySame)
		}
		_, err = l.addTable(table)
	}
	return err
}

// sort finds the order in which tables are read.
func (l *Leaving) sort() {
	rest := slices.Sorted(maps.Keys(l.tables))
	for len(rest) > 0 {
		i := max(0, slices.IndexFunc(rest, func(name string) bool {
			return !slices.ContainsFunc(l.edges, func(e *edge) bool {
				return e.Table == name && e.says == declare.RowsDrop && e.To != name && slices.Contains(rest, e.To)
			})
		}))
		l.order, rest = append(l.order, rest[i]), slices.Delete(rest, i, i+1)
	}
}

// drops are the references by which rows of a table follow.
func (l *Leaving) drops(table string) (all []*edge) {
	for _, e := range l.edges {
		if e.Table == table && e.says == declare.RowsDrop {
			all = append(all, e)
		}
	}
	return all
}

// Now is the number of :now, in seconds since 1970.
func (l *Leaving) Now() int64 { return l.now }

var _ catalog.Withheld = (*declare.Stays)(nil)
