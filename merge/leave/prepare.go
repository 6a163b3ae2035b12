package leave

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

// Leaving is what may stay behind, as the operator says.
type Leaving struct {
	f      *rules.Resolved
	now    int64
	says   []*said
	tables map[string]*table // of which rows may stay behind
	order  []string          // their names: a table comes after those that it refers to, as far as they do not refer to each other
	edges  []*edge
	cells  []*rules.SeveredReference // with keys inside cells: they are cleared, or block
}

// said is a statement.
type said struct {
	*rules.Leave
	where map[*rules.Database]*condition
	by    []rules.ByColumn
	fewer *edge     // the reference of the rows that are counted
	last  []*ranked // of each group that has too many rows, the last that comes
}

// table is one of which rows may stay behind.
type table struct {
	name         string
	rules.RowKey               // without columns its rows are told by what they refer to
	kept         []keys.Values // of each column, keys of rows that are the same in every world
	keys         [][]string    // that it has in every world: references may name others than the one by which its rows are told
}

func (t *table) keyed() bool { return len(t.Columns) > 0 }

// edge is a reference to a table of which rows may stay behind.
type edge struct {
	*rules.SeveredReference
	key  rules.RowKey // its columns
	to   rules.RowKey // those that it names
	none keys.Values  // names nothing
	says rules.Gone
}

// Prepare resolves what the options say of rows that stay behind; nil if nothing does. An error has all that is wrong with
// the statements, or with what refers to their tables.
func Prepare(f *rules.Resolved) (*Leaving, error) {
	if len(f.Opts.Leave) == 0 {
		return nil, nil
	}
	l := &Leaving{f: f, now: f.Opts.Now.Unix(), tables: make(map[string]*table)}
	if f.Opts.Now.IsZero() {
		l.now = f.Opts.Clock().Unix()
	}
	var wrong []error
	for i := range f.Opts.Leave {
		if err := l.say(&f.Opts.Leave[i]); err != nil {
			wrong = append(wrong, rules.Unsuitable("%s: %v", f.Opts.Leave[i].Place(), err))
		}
	}
	refs := l.follow()
	for _, name := range slices.Sorted(maps.Keys(l.tables)) {
		if err := l.chooseKey(l.tables[name], refs, false); err != nil {
			wrong = append(wrong, err)
		}
	}
	if wrong != nil {
		return nil, errors.Join(wrong...)
	}
	for _, r := range refs {
		if err := l.addEdge(&r); err != nil {
			wrong = append(wrong, rules.Unsuitable("%s.%s: rows of %s stay behind: %v", r.Table, r.Subject(), r.to, err))
		}
	}
	for _, s := range l.says {
		if err := l.resolveFewer(s); err != nil {
			wrong = append(wrong, rules.Unsuitable("%s: fewer: %v", s.Place(), err))
		}
	}
	l.sort()
	return l, errors.Join(wrong...)
}

// say takes a statement.
func (l *Leaving) say(leave *rules.Leave) error {
	f, s := l.f, &said{Leave: leave, where: make(map[*rules.Database]*condition)}
	name := leave.Table
	if f.Names[name] == nil {
		return fmt.Errorf("no world has a table %q%s", name, naming.Hint(name, slices.Sorted(maps.Keys(f.Names))))
	}
	switch {
	case f.Same[name]:
		return fmt.Errorf("the table is the same in every world (policy %q): none of its rows can stay behind",
			rules.PolicySame)
	case !slices.Contains(f.Tables, name):
		return fmt.Errorf("none of its rows are copied: it is skipped or reset")
	case leave.Where == "" && leave.Best == nil && leave.Fewer == nil:
		return fmt.Errorf(`want where, best or fewer, such as where = "level < 30"`)
	}
	l.addTable(name)
	if leave.Where != "" {
		for _, db := range f.DBs {
			if db.Tables[name] == nil {
				continue
			}
			c, err := parse(leave.Where, db, name)
			if err != nil {
				return fmt.Errorf("where: %w", err)
			}
			s.where[db] = c
		}
	}
	if leave.Best != nil {
		if err := l.resolveBest(s); err != nil {
			return fmt.Errorf("best: %w", err)
		}
	}
	for _, other := range l.says {
		if other.Table == name && (other.Best != nil && s.Best != nil || other.Fewer != nil && s.Fewer != nil) {
			return fmt.Errorf("%s also has best, or fewer, for the table: want it once", other.Place())
		}
	}
	l.says = append(l.says, s)
	return nil
}

func (l *Leaving) addTable(name string) {
	if l.tables[name] == nil {
		l.tables[name] = &table{name: name}
	}
}

// chooseKey finds what tells the rows of a table: its key, if that is one column of integers; else a key that all
// references name; else, if a statement is about the table, or its rows are wanted, its key. Of other tables none is needed.
func (l *Leaving) chooseKey(t *table, refs []reference, wanted bool) error {
	said := wanted || slices.ContainsFunc(l.says, func(s *said) bool { return s.Table == t.name })
	named := slices.ContainsFunc(refs, func(r reference) bool { return r.to == t.name })
	var keys [][]string // of the first database
	for _, of := range l.f.Having(t.name) {
		mine := of.RowKeys()
		if keys == nil {
			keys = mine
		}
		keys = slices.DeleteFunc(keys, func(key []string) bool {
			return !slices.ContainsFunc(mine, func(other []string) bool { return slices.Equal(key, other) })
		})
	}
	t.keys = keys
	_, model := l.f.ModelOf(t.name)
	names := func(key []string) bool {
		return !slices.ContainsFunc(refs, func(r reference) bool { return r.to == t.name && r.Cells == nil && !r.leadsTo(key) })
	}
	i := slices.IndexFunc(keys, func(key []string) bool {
		return slices.Equal(key, model.Key()) && l.f.KindsOf(t.name, key) == ""
	})
	if i < 0 && (said || named) {
		if i = slices.IndexFunc(keys, names); i < 0 && len(keys) > 0 {
			i = 0
		}
	}
	switch {
	case i < 0 && said:
		return rules.Unsuitable("table %s does not have a key in every world, so the rows that stay behind cannot be identified", t.name)
	case i < 0:
		return nil
	}
	t.Columns, t.Kinds = keys[i], l.f.KindsOf(t.name, keys[i])
	if strings.Contains(string(t.Kinds), "?") {
		return rules.Unsuitable("table %s: its key %s cannot identify rows that stay behind: want integers, texts in UTF-8, or bytes",
			t.name, catalog.ColumnList(t.Columns))
	}
	for _, column := range t.Columns {
		kept, err := rules.ParseKeep(l.f.Keeps[rules.ColumnName{Table: t.name, Column: column}])
		if err != nil {
			return err
		}
		t.kept = append(t.kept, kept)
	}
	return nil
}

func (l *Leaving) resolveBest(s *said) error {
	best := s.Best
	if best.Keep < 1 || len(best.By) == 0 {
		return fmt.Errorf(`want keep of at least 1, and by, such as by = ["level desc"]`)
	}
	for _, text := range best.By {
		by, err := rules.ParseBy(text)
		if err != nil {
			return err
		}
		s.by = append(s.by, by)
	}
	for db, t := range l.f.Having(s.Table) {
		for _, by := range append(slices.Clone(s.by), rules.ByColumn{Column: best.Of}) {
			if t.Column(by.Column) == nil {
				return fmt.Errorf("in %s the table has no column %q", db.Name, by.Column)
			}
		}
	}
	role := l.f.Declared.Role(s.Table, best.Of)
	of := rules.ColumnName{Table: s.Table, Column: best.Of}
	moves := l.f.Moving != nil && l.f.Moving.Columns[of] != nil
	if isID := slices.Contains(l.f.IDColumns(s.Table), best.Of); !isID && !moves && role.Kind != rules.RoleShared && l.f.Moving != nil {
		return fmt.Errorf("of: no rule says whether a value of %s means the same in all worlds: declare it shared, or a reference", of)
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
		if e.place() == s.Fewer.Of && e.To == s.Table && e.ToKey != nil {
			return fmt.Errorf("of = %q refers to a key of %s other than the one that identifies its rows (%s): want that one",
				s.Fewer.Of, s.Table, catalog.ColumnList(e.Told))
		}
		if e.place() == s.Fewer.Of && e.To == s.Table {
			s.fewer = e
			return nil
		}
	}
	return fmt.Errorf("of = %q: want a column, as table.column, that is declared to refer to %s", s.Fewer.Of, s.Table)
}

// reference is one to a table of which rows may stay behind: to columns of it.
type reference struct {
	*rules.Ref
	to      string
	columns []string
}

// leadsTo reports whether it names all columns of a key, and no other.
func (r *reference) leadsTo(key []string) bool {
	return len(key) == len(r.columns) && !slices.ContainsFunc(key, func(name string) bool { return !naming.Among(r.columns, name) })
}

// follow finds the references to the tables of which rows may stay behind, and the tables whose rows
// follow.
func (l *Leaving) follow() (all []reference) {
	seen := make(map[string]bool)
	for more := true; more; {
		more = false
		for _, to := range slices.Sorted(maps.Keys(l.tables)) {
			if seen[to] {
				continue
			}
			seen[to], more = true, true
			for _, r := range l.referringTo(to, l.f.Tables) {
				if all = append(all, r); r.Cells == nil && r.Declared.Gone == rules.GoneDrop && !l.f.Same[r.Table] {
					l.addTable(r.Table)
				}
			}
		}
	}
	return all
}

func (l *Leaving) referringTo(to string, tables []string) (all []reference) {
	for _, name := range tables {
		refs := rules.AllReferences(l.f, name)
		for _, r := range l.f.Declared.Severally(name) {
			refs = append(refs, *r)
		}
		for _, r := range refs {
			r.Table = name
			columns := r.ToColumns
			if i := slices.IndexFunc(r.Or, func(at rules.ColumnName) bool { return at.Table == to }); i >= 0 && r.ToTable != to {
				columns = []string{r.Or[i].Column}
			} else if r.ToTable != to {
				continue
			}
			if r.Space == "" {
				all = append(all, reference{&r, to, columns})
			}
		}
	}
	return all
}

func (l *Leaving) addEdge(r *reference) error {
	t := l.tables[r.to]
	to, own := t.RowKey, l.tables[r.Table]
	if i := slices.IndexFunc(t.keys, r.leadsTo); i >= 0 && t.keyed() && !r.leadsTo(to.Columns) && r.Cells == nil {
		to = rules.RowKey{Columns: t.keys[i], Kinds: l.f.KindsOf(t.name, t.keys[i])}
		if r.Declared.Gone == rules.GoneNone {
			return fmt.Errorf("%s identifies the rows, and gone = %q is only for references to that key: want gone = %q",
				catalog.ColumnList(t.Columns), rules.GoneNone, rules.GoneDrop)
		}
		if own != nil && !own.keyed() { // its rows are in the plan then
			if err := l.chooseKey(own, nil, true); err != nil {
				return err
			}
		}
	}
	switch {
	case r.Cells != nil && (r.Declared.Gone == rules.GoneDrop || r.Declared.Gone == rules.GoneNone && !r.Clearable()):
		return fmt.Errorf("gone = %q, and the keys are inside cells: none of these are followed, and only words and bits are cleared (gone = %q)",
			r.Declared.Gone, rules.GoneNone)
	case len(r.Or) > 0 && r.Declared.Gone == rules.GoneNone:
		return fmt.Errorf("it refers to rows of several tables, but gone = %q is for one: declare which rows refer to which (when)", rules.GoneNone)
	case len(r.Except) > 0:
		return fmt.Errorf("it leaves out rows that other statements cover, so it cannot be followed: give it a when")
	case !r.leadsTo(to.Columns) || r.Cells != nil && t.Kinds != "" || strings.Contains(string(to.Kinds), "?"):
		return fmt.Errorf("%s does not identify rows of %s (%s does): declare the "+
			"column plain, and select the rows that stay with a where of its own table", catalog.ColumnList(r.columns), t.name,
			cmp.Or(catalog.ColumnList(t.Columns), "none"))
	}
	says := r.Declared.Gone
	if r.Cells != nil && says == "" {
		l.cells = append(l.cells, &rules.SeveredReference{Ref: r.Ref,
			Severed: rules.Severed{Table: r.Table, Column: r.Columns[0], To: t.name, ToColumn: t.Columns[0]}})
		return nil
	}
	rows := says
	if says == "" {
		rows = rules.GoneDrop // what would be blocked is counted as if it followed
	}
	follows, err := rules.Following(l.f, r.Ref, t.name, to, t.RowKey, rows)
	if err != nil {
		return err
	}
	if r.Cells != nil {
		l.cells = append(l.cells, follows)
		return nil
	}
	none, err := keys.ParseValues(follows.None)
	if err != nil {
		return err
	}
	l.edges = append(l.edges, &edge{follows, rules.RowKey{Columns: follows.Columns(), Kinds: to.Kinds}, to, none, says})
	if says == rules.GoneDrop && l.f.Same[r.Table] {
		return fmt.Errorf("%s is the same in every world (policy %q): none of its rows can stay behind", r.Table, rules.PolicySame)
	}
	return nil
}

// place is where the reference is, as declarations name it: of several columns in parentheses.
func (e *edge) place() string {
	if len(e.And) == 0 {
		return rules.Place(e.Table, e.Column)
	}
	return e.Table + "." + catalog.ColumnList(e.Columns())
}

// sort finds the order in which tables are read.
func (l *Leaving) sort() {
	rest := slices.Sorted(maps.Keys(l.tables))
	for len(rest) > 0 {
		i := max(0, slices.IndexFunc(rest, func(name string) bool {
			return !slices.ContainsFunc(l.edges, func(e *edge) bool {
				return e.Table == name && e.says == rules.GoneDrop && e.To != name && slices.Contains(rest, e.To)
			})
		}))
		l.order, rest = append(l.order, rest[i]), slices.Delete(rest, i, i+1)
	}
}

// drops are the references by which rows of a table follow.
func (l *Leaving) drops(table string) (all []*edge) {
	for _, e := range l.edges {
		if e.Table == table && e.says == rules.GoneDrop {
			all = append(all, e)
		}
	}
	return all
}

// Now is the number of :now, in seconds since 1970.
func (l *Leaving) Now() int64 { return l.now }

// Tables are those of which rows may stay behind.
func (l *Leaving) Tables() iter.Seq[string] { return maps.Keys(l.tables) }

var _ catalog.Withheld = (*rules.Stays)(nil)
