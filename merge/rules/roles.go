package rules

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// role is what is declared of a column.
type role struct {
	Kind       roleKind
	References []*Ref // of one column, each for other rows
	Source     statement
	earlier    *role // of an earlier file, for rows that References may not cover
}

type roleKind int

const (
	RoleOpen roleKind = iota // nothing is declared
	RolePlain
	RoleShared
	RoleUndecided
	RoleReference
)

func (k roleKind) String() string {
	return [...]string{"open", "plain", "shared", "undecided", "reference"}[k]
}

// statement is where something is declared.
type statement struct {
	File  int    // which of the files it is in, from 1
	Exact bool   // it names table and column, and is no pattern
	text  string // for messages: `plain "*.level"`

	Pattern string    // in which it names the column
	Number  int       // which of the references of its file it is, from 1
	Schema  *Reviewed // of the file; nil: any
	list    roleKind  // that it is in; 0: none
	lineOf  func(list, text string) int
}

// String is the text, with the line.
func (s statement) String() string {
	if s.list != RoleOpen && s.lineOf != nil {
		if line := s.lineOf(s.list.String(), s.Pattern); line > 0 {
			return fmt.Sprintf("%s:%d", s.text, line)
		}
	}
	return s.text
}

// ColumnName names a column of a table.
type ColumnName struct{ Table, Column string }

func (c ColumnName) String() string { return c.Table + "." + c.Column }

// Beats reports how a statement ranks beside another: more than 0 if it counts in
// its place.
func (s statement) Beats(other statement) int {
	exact := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(exact(s.Exact)-exact(other.Exact), s.File-other.File)
}

// Declared is what the declarations say of all columns.
type Declared struct {
	Roles     map[ColumnName]*role
	Composite []*Ref   // of several columns
	Beaten    []string // statements that another file overrides, for the report
	spaces    map[string]Space
	codecs    keys.Codecs
	gone      Missing                // what is no error, though no world has it
	Said      map[ColumnName][]*role // all that was said of a column, in order
	noNames   map[ColumnsID]keys.Values
}

// Declare resolves the declarations against the tables of the worlds.
func Declare(opts Options, n Names) (*Declared, error) {
	d := &Declared{Roles: make(map[ColumnName]*role), spaces: make(map[string]Space), gone: Missing{n, ReviewedOf(opts)},
		Said: make(map[ColumnName][]*role), codecs: opts.Codecs, noNames: make(map[ColumnsID]keys.Values)}
	if opts.Rekey != nil {
		for _, s := range opts.Rekey.Spaces {
			d.spaces[cmp.Or(s.Name, strings.Join(s.Keys, ""))] = s
		}
	}
	for i, file := range opts.Rules {
		number := i + 1
		for _, list := range []struct {
			kind     roleKind
			patterns []string
		}{{RolePlain, file.Plain}, {RoleShared, file.Shared}, {RoleUndecided, file.Undecided}} {
			for _, text := range list.patterns {
				from := statement{number, false, fmt.Sprintf("%s %q%s", list.kind, text, in(file.File, 0)), text, 0, file.Schema, list.kind, file.LineOf}
				err := d.gone.eachLeft(text, func(at ColumnName, exact bool) error {
					from.Exact = exact
					return d.say(at, &role{Kind: list.kind, Source: from})
				})
				if err != nil {
					return nil, Unsuitable("%s: %v", from, err)
				}
			}
		}
		for k, r := range file.References {
			from := statement{number, false, fmt.Sprintf("reference %d%s", k+1, in(file.File, r.Line)), "", k + 1, file.Schema, RoleOpen, nil}
			if err := d.reference(r, from, n); err != nil {
				return nil, Unsuitable("%s: %v", from.text, err)
			}
		}
	}
	d.keepOtherRows()
	return d, d.leaveNoNames(opts, n)
}

// in says where a statement is; "" if it is in no file. Line 0 is not known.
func in(file string, line int) string {
	switch {
	case file == "":
		return ""
	case line == 0:
		return " in " + file
	}
	return fmt.Sprintf(" in %s:%d", file, line)
}

// each calls use for every column that a pattern of "table.column" matches. It is an
// error if there is none.
func (n Names) each(text string, use func(at ColumnName, exact bool) error) error {
	table, column, err := ParsePlace(text)
	switch {
	case err != nil:
		return err
	case column == nil:
		return fmt.Errorf("%q is not the name of a column: want table.column", text)
	}
	exact := table.Exact != "" && column.Exact != ""
	tables, found := false, false
	var near []string
	for _, t := range slices.Sorted(maps.Keys(n)) {
		if !table.Match(t) {
			continue
		}
		tables = true
		found = found || n[t] == nil // of a table that is not read, the columns are not known
		for _, c := range slices.Sorted(maps.Keys(n[t])) {
			if !column.Match(c) {
				near = append(near, c)
				continue
			}
			found = true
			if err := use(ColumnName{t, c}, exact); err != nil {
				return err
			}
		}
	}
	switch {
	case !tables:
		return fmt.Errorf("%q: no world has a table that matches %s%s", text, table.Text, naming.Hint(table.Exact, slices.Sorted(maps.Keys(n))))
	case !found:
		return fmt.Errorf("%q: no such table has a column that matches %s%s", text, column.Text, naming.Hint(column.Exact, near))
	}
	return nil
}

// say notes what is declared of a column.
func (d *Declared) say(at ColumnName, r *role) error {
	d.Said[at] = append(d.Said[at], r)
	if !r.Source.Schema.Has(at) {
		if r.Source.Exact {
			return fmt.Errorf("%s is not in [schema.tables] of the same file: add it there", Place(at.Table, at.Column))
		}
		return nil // the pattern was not written with the column in mind
	}
	old := d.Roles[at]
	if old == nil {
		d.Roles[at] = r
		return nil
	}
	rank := r.Source.Beats(old.Source)
	switch {
	case rank > 0 && r.Kind == RoleReference && old.Kind == RoleReference && r.Source.Exact == old.Source.Exact:
		r.earlier = old
		d.Roles[at] = r
	case rank > 0:
		d.beat(at, r, old)
		d.Roles[at] = r
	case rank < 0:
		if old.Source.File != r.Source.File {
			d.Beaten = append(d.Beaten, fmt.Sprintf("%s: %s is used, not %s", at, old.Source.text, r.Source.text))
		}
	case old.Kind != r.Kind:
		return fmt.Errorf("%s is also declared by %s: remove one of the two", at, old.Source)
	case r.Kind == RoleReference:
		for _, mine := range r.References {
			for _, theirs := range old.References {
				if mine.Same(theirs) {
					return nil
				}
				if !mine.When.Excludes(theirs.When) && !mine.apart(theirs) {
					return fmt.Errorf("%s is also declared by %s, and both may cover the same row: give each a when that excludes the other", at, old.Source)
				}
			}
		}
		old.References = append(old.References, r.References...)
	}
	return nil
}

func (d *Declared) beat(at ColumnName, r, old *role) {
	if old.Source.File == r.Source.File {
		return
	}
	said := fmt.Sprintf("%s: %s is used, not %s", at, r.Source.text, old.Source.text)
	for _, theirs := range old.References {
		format := theirs.Declared.Format
		if format != "" && !slices.ContainsFunc(r.References, func(mine *Ref) bool { return mine.Declared.Format == format }) {
			said += fmt.Sprintf(", with the format %q", format)
		}
	}
	d.Beaten = append(d.Beaten, said)
}

// keepOtherRows keeps the references of earlier files that are for other rows than those of later
// ones: a file that says what rows of one kind name does not make the other kinds name nothing.
func (d *Declared) keepOtherRows() {
	byName := func(a, b ColumnName) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
	}
	for _, at := range slices.SortedFunc(maps.Keys(d.Roles), byName) {
		r := d.Roles[at]
		for old := r.earlier; old != nil; old = old.earlier {
			last := len(r.References)
			for _, theirs := range old.References {
				if !slices.ContainsFunc(r.References[:last], func(mine *Ref) bool { return !mine.When.Excludes(theirs.When) }) {
					r.References = append(r.References, theirs)
				}
			}
			if len(r.References) < last+len(old.References) {
				d.beat(at, r, old)
			}
		}
	}
}

// reference notes a declared reference.
func (d *Declared) reference(r DeclaredReference, from statement, n Names) error {
	none, err := keys.ParseValues(r.None)
	if err != nil {
		err = fmt.Errorf("none has %w", err)
	} else {
		err = r.When.Validate()
	}
	dangling, danglingErr := keys.ParseValues(r.Dangling)
	if danglingErr != nil {
		err = fmt.Errorf("dangling has %w", danglingErr)
	}
	for _, v := range r.Dangling {
		if slices.Contains(r.None, v) {
			err = fmt.Errorf("none and dangling both have %q: write it in none if it means no row, in dangling if its row was deleted", v)
		}
	}
	if err != nil {
		return err
	}
	if r.Others != "" && (r.Others != OthersPlain || r.When == nil && r.Format == "") {
		return fmt.Errorf("others is %q: want %q, together with a when or a format; or remove it", r.Others, OthersPlain)
	}
	if len(r.At) == 0 && len(r.To) == 0 {
		return d.together(r, none, n)
	}
	if r.Table != "" || r.ToTable != "" || len(r.Columns)+len(r.ToColumns) > 0 {
		return fmt.Errorf("it has both at and to, and table, columns, to_table or to_columns: want one form")
	}
	if len(r.At) == 0 || len(r.To) == 0 {
		return fmt.Errorf(`it lacks at or to: want at = ["mail.receiver"] and to = "characters.guid"`)
	}
	to, space, err := d.named(r.To)
	if err != nil {
		return err
	}
	if space == "" && len(to) == 0 {
		return nil // of tables that are not read
	}
	if err := integers(to, n, r.Format); err != nil {
		return err
	}
	target := catalog.Reference{}
	if len(to) > 0 {
		target = catalog.Reference{ToTable: to[0].Table, ToColumns: []string{to[0].Column}}
	}
	var named []ColumnName
	for _, text := range r.At {
		err := d.gone.eachLeft(text, func(at ColumnName, exact bool) error {
			if r.When != nil && n[at.Table][r.When.Column] == nil {
				if exact && !d.gone.columns(at.Table, r.When.Column) {
					return fmt.Errorf("when: %s", n.lacks(at.Table, r.When.Column))
				}
				return nil
			}
			if err := neverHolds(r.When, at.Table, n); err != nil {
				return err
			}
			if !exact && slices.Contains(to, at) {
				return nil // a key does not refer to itself
			}
			if r.Format == "" {
				if err := n.mayName(at, to...); err != nil {
					return err
				}
				named = append(named, at)
			}
			ref := &Ref{Reference: target, Table: at.Table, Space: space, Or: to[min(1, len(to)):], None: none, Dangling: dangling, Declared: r, When: r.When}
			ref.Columns = []string{at.Column}
			from := from
			from.Exact, from.Pattern = exact, text
			if r.Format != "" {
				return d.inCells(at, ref, from, n)
			}
			return d.say(at, &role{Kind: RoleReference, References: []*Ref{ref}, Source: from})
		})
		if err != nil {
			return err
		}
	}
	return cmp.Or(n.takes("none", r.None, named...), n.takes("dangling", r.Dangling, named...)) // of no row of these columns
}

// takes returns an error if none of some columns can have one of some values; key is what lists these.
func (n Names) takes(key string, values []string, at ...ColumnName) error {
	if len(at) == 0 {
		return nil
	}
	for _, v := range values {
		if slices.ContainsFunc(at, func(c ColumnName) bool { col := n[c.Table][c.Column]; return col == nil || refuses(col, v) == "" }) {
			continue
		}
		if strings.HasPrefix(v, "<") || strings.HasPrefix(v, ">") {
			continue // a bound
		}
		col := n[at[0].Table][at[0].Column]
		return fmt.Errorf("%s has %q, but %s is %s: no row can have that value; want %s", key, v, at[0], col.Declared(), refuses(col, v))
	}
	return nil
}

// refuses says what a column takes if it can never have a value; "" if it may.
func refuses(c *catalog.Column, v string) string {
	if c.Type == "" {
		return "" // it is not known, or SQLite, which then takes any value
	}
	declared := strings.ToLower(c.Type)
	switch {
	case c.Kind == catalog.KindInteger:
		if _, ok := keys.ParseInteger([]byte(v)); !ok {
			return "numbers"
		}
	case c.Kind == catalog.KindDecimal || c.Kind == catalog.KindReal:
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return "numbers"
		}
	case strings.HasPrefix(declared, "enum(") && v != "" && !strings.ContainsAny(v, `\',`):
		if words := strings.Split(strings.TrimSuffix(c.Type[len("enum("):], ")"), ","); !slices.Contains(words, "'"+v+"'") {
			return "one of its words" + naming.Hint("'"+v+"'", words)
		}
	}
	return ""
}

// mayName returns an error if no value of a column can be one of the keys, by their types: a
// database compares them nevertheless, each with each, which takes hours.
func (n Names) mayName(at ColumnName, to ...ColumnName) error {
	classes := map[catalog.Kind]string{
		catalog.KindInteger: "numbers", catalog.KindDecimal: "numbers", catalog.KindReal: "numbers",
		catalog.KindText: "texts", catalog.KindBytes: "bytes", catalog.KindTime: "times", catalog.KindJSON: "documents",
	}
	kinds := func(of ColumnName) (c *catalog.Column, kind string) {
		if c = n[of.Table][of.Column]; c != nil {
			kind = classes[c.Kind]
		}
		return c, kind
	}
	from, mine := kinds(at)
	for _, key := range to {
		c, theirs := kinds(key)
		switch {
		case mine == theirs || mine == "" || theirs == "":
		case mine == "texts" && c.Kind == catalog.KindInteger: // its digits
		case (mine == "texts" || mine == "bytes") && (theirs == "texts" || theirs == "bytes"): // one is written in the other
		default:
			return fmt.Errorf("%s is %s, but %s is %s: no value of one can be a key of the other; "+
				"set to to the column whose keys it holds, or declare it plain if it holds none", at, from.Type, key, c.Type)
		}
	}
	return nil
}

// neverHolds returns an error if a condition has a value that no row can have.
func neverHolds(w *When, table string, n Names) error {
	if w == nil || n[table] == nil || n[table][w.Column] == nil {
		return nil
	}
	c := n[table][w.Column]
	for _, v := range slices.Concat(w.Is, w.Not) {
		if want := refuses(c, v); want != "" {
			is := map[bool]string{true: "is not an integer"}[c.Kind == catalog.KindInteger]
			return fmt.Errorf("when: %q %s, but column %q of table %q is %s: no row can have that value; want %s",
				v, cmp.Or(is, "is not a value of it"), w.Column, table, c.Type, want)
		}
	}
	return nil
}

// named returns the keys that a reference names, or the space if it has none.
func (d *Declared) named(texts []string) (to []ColumnName, space string, err error) {
	for i := 0; i < len(texts); i++ {
		text := texts[i]
		if name, is := strings.CutPrefix(text, SpacePrefix); is {
			s, known := d.spaces[name]
			switch {
			case !known:
				return nil, "", fmt.Errorf("to is %q, and no space has that name%s", text, naming.Hint(name, slices.Sorted(maps.Keys(d.spaces))))
			case len(s.Keys) == 0 && len(texts) > 1:
				return nil, "", fmt.Errorf("to lists the space %q, which has no keys, together with others: want only that space", name)
			case len(s.Keys) == 0:
				return nil, name, nil
			}
			texts = slices.Insert(slices.Clone(texts), i+1, s.Keys...)
			continue
		}
		err := d.gone.eachLeft(text, func(at ColumnName, exact bool) error {
			if !exact {
				return fmt.Errorf("to is %q: want the name of one key column, not a pattern", text)
			}
			to = append(to, at)
			return nil
		})
		if err != nil {
			return nil, "", err
		}
	}
	return to, "", nil
}

// together notes a reference of several columns together.
func (d *Declared) together(r DeclaredReference, none keys.Values, n Names) error {
	if d.gone.columns(r.Table, r.Columns...) || d.gone.columns(r.ToTable, r.ToColumns...) {
		return nil
	}
	if err := n.has("", r.Table, r.Columns...); err != nil {
		return trimmed(err)
	}
	if err := n.has("", r.ToTable, r.ToColumns...); err != nil {
		return trimmed(err)
	}
	switch {
	case r.Format != "":
		return fmt.Errorf("format needs at and to")
	case len(r.Columns) != len(r.ToColumns):
		return fmt.Errorf("it pairs %s with %d: want the same number on both sides",
			printable.Count(int64(len(r.Columns)), "column", "columns"), len(r.ToColumns))
	case len(r.Columns) == 1:
		return fmt.Errorf("it has one column: want at and to")
	case !none.Empty() || r.When != nil:
		return fmt.Errorf("none and when need a reference of one column, this one has %d", len(r.Columns))
	}
	for i, name := range r.Columns {
		if err := n.mayName(ColumnName{r.Table, name}, ColumnName{r.ToTable, r.ToColumns[i]}); err != nil {
			return err
		}
	}
	d.Composite = append(d.Composite, &Ref{
		Reference: catalog.Reference{Columns: r.Columns, ToTable: r.ToTable, ToColumns: r.ToColumns},
		Table:     r.Table, Declared: r,
	})
	return nil
}

// trimmed takes the name of the statement, which is none, off a message.
func trimmed(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), ": "))
}

// Severally returns the references of a table of which each value names a row of one of
// several tables, and those with keys in cells.
func (d *Declared) Severally(table string) []*Ref {
	return d.Those(table, func(r *Ref) bool { return r.Space == "" && (len(r.Or) > 0 || r.Cells != nil) })
}

// OfSpaces returns the references of a table to numbers that are keys of no table.
func (d *Declared) OfSpaces(table string) []*Ref {
	return d.Those(table, func(r *Ref) bool { return r.Space != "" })
}

func (d *Declared) Those(table string, wanted func(*Ref) bool) (all []*Ref) {
	for at, r := range d.Roles {
		for _, ref := range r.References {
			if at.Table == table && !ref.part && wanted(ref) {
				all = append(all, ref)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Ref) int { return strings.Compare(a.Identity(), b.Identity()) })
	return all
}

// Role returns what is declared of a column.
func (d *Declared) Role(table, column string) *role {
	if r := d.Roles[ColumnName{table, column}]; r != nil {
		return r
	}
	return &role{}
}
