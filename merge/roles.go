package merge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/nearest"
	"mergesafe/merge/cell"
	"mergesafe/merge/rekey"
)

// role is what is declared of a column.
type role struct {
	kind       roleKind
	references []*reference // of one column, each for other rows
	source     statement
	older      bool // declared by the older words
}

type roleKind int

const (
	roleOpen roleKind = iota // nothing is declared
	rolePlain
	roleNatural
	roleShared
	roleUndecided
	roleReference
)

func (k roleKind) String() string {
	return [...]string{"open", "plain", "natural", "shared", "undecided", "reference"}[k]
}

// statement is where something is declared.
type statement struct {
	file  int    // of the declarations
	exact bool   // it names table and column, and is no pattern
	text  string // for messages: `plain "*.level"`

	pattern string    // in which it names the column
	number  int       // which of the references of its file it is, from 1
	schema  *Reviewed // of the file; nil: any
}

// columnName names a column of a table.
type columnName struct{ table, column string }

func (c columnName) String() string { return c.table + "." + c.column }

// beats reports how a statement ranks beside another: more than 0 if it counts in
// its place.
func (s statement) beats(other statement) int {
	exact := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(exact(s.exact)-exact(other.exact), s.file-other.file)
}

// declared is what the declarations say of all columns.
type declared struct {
	roles     map[columnName]*role
	composite []*reference // of several columns, or by the older words
	beaten    []string     // statements that another file overrides, for the report
	spaces    map[string]Space
	codecs    cell.Codecs
	gone      missing                // what is no error, though no source has it
	said      map[columnName][]*role // all that was said of a column, in order
}

// declare resolves the declarations against the tables of the sources.
func declare(opts Options, n names) (*declared, error) {
	d := &declared{roles: make(map[columnName]*role), spaces: make(map[string]Space), gone: missing{n, reviewedOf(opts)}, said: make(map[columnName][]*role), codecs: opts.Codecs}
	if opts.Rekey != nil {
		for _, s := range opts.Rekey.Spaces {
			d.spaces[cmp.Or(s.Name, strings.Join(s.Keys, ""))] = s
		}
	}
	older := Declarations{References: opts.References}
	for i, file := range append([]Declarations{older}, opts.Rules...) {
		for _, list := range []struct {
			kind     roleKind
			patterns []string
		}{{rolePlain, file.Plain}, {roleNatural, file.Natural}, {roleShared, file.Shared}, {roleUndecided, file.Undecided}} {
			for _, text := range list.patterns {
				from := statement{i, false, fmt.Sprintf("%s %q%s", list.kind, text, in(file.File, 0)), text, 0, file.Schema}
				err := d.gone.eachLeft(text, func(at columnName, exact bool) error {
					from.exact = exact
					return d.say(at, &role{kind: list.kind, source: from})
				})
				if err != nil {
					return nil, unsuitable("%s: %v", from.text, err)
				}
			}
		}
		for k, r := range file.References {
			from := statement{i, false, fmt.Sprintf("reference %d%s", k+1, in(file.File, r.Line)), "", k + 1, file.Schema}
			if err := d.reference(r, from, n); err != nil {
				return nil, unsuitable("%s: %v", from.text, err)
			}
		}
	}
	return d, d.leaveNoNames(opts)
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
func (n names) each(text string, use func(at columnName, exact bool) error) error {
	table, column, err := parsePlace(text)
	switch {
	case err != nil:
		return err
	case column == nil:
		return fmt.Errorf("%q names no column: want table.column", text)
	}
	exact := table.exact != "" && column.exact != ""
	tables, found := false, false
	var near []string
	for _, t := range slices.Sorted(maps.Keys(n)) {
		if !table.match(t) {
			continue
		}
		tables = true
		found = found || n[t] == nil // of a table that is not read, the columns are not known
		for _, c := range slices.Sorted(maps.Keys(n[t])) {
			if !column.match(c) {
				near = append(near, c)
				continue
			}
			found = true
			if err := use(columnName{t, c}, exact); err != nil {
				return err
			}
		}
	}
	switch {
	case !tables:
		return fmt.Errorf("%q: no source has a table that matches %s%s", text, table.text, nearest.Hint(table.exact, slices.Sorted(maps.Keys(n))))
	case !found:
		return fmt.Errorf("%q: no such table has a column that matches %s%s", text, column.text, nearest.Hint(column.exact, near))
	}
	return nil
}

// say notes what is declared of a column.
func (d *declared) say(at columnName, r *role) error {
	d.said[at] = append(d.said[at], r)
	if !r.source.schema.has(at) {
		if r.source.exact {
			return notListed(at)
		}
		return nil // the pattern was not written with the column in mind
	}
	old := d.roles[at]
	if old == nil {
		d.roles[at] = r
		return nil
	}
	rank := r.source.beats(old.source)
	switch {
	case rank > 0:
		if old.source.file != r.source.file && old.source.file > 0 {
			d.beaten = append(d.beaten, fmt.Sprintf("%s: %s counts, not %s", at, r.source.text, old.source.text))
		}
		d.roles[at] = r
	case rank < 0:
		if old.source.file != r.source.file && r.source.file > 0 {
			d.beaten = append(d.beaten, fmt.Sprintf("%s: %s counts, not %s", at, old.source.text, r.source.text))
		}
	case r.older && old.older: // each of them must hold
		old.references = append(old.references, r.references...)
	case old.kind != r.kind:
		return fmt.Errorf("%s is also declared by %s: remove one of the two", at, old.source.text)
	case r.kind == roleReference:
		for _, mine := range r.references {
			for _, theirs := range old.references {
				if mine.same(theirs) {
					return nil
				}
				if !mine.when.Excludes(theirs.when) && !mine.apart(theirs) {
					return fmt.Errorf("%s is also declared by %s, and both may cover a row: give each a when that excludes the other", at, old.source.text)
				}
			}
		}
		old.references = append(old.references, r.references...)
	}
	return nil
}

// reference notes a declared reference.
func (d *declared) reference(r DeclaredReference, from statement, n names) error {
	none, err := rekey.ParseValues(r.ZeroIsNone, r.None)
	if err != nil {
		err = fmt.Errorf("none has %w", err)
	} else {
		err = r.When.Validate()
	}
	dangling, danglingErr := rekey.ParseValues(false, r.Dangling)
	if danglingErr != nil {
		err = fmt.Errorf("dangling has %w", danglingErr)
	}
	for _, v := range r.Dangling {
		if slices.Contains(r.None, v) {
			err = fmt.Errorf("none and dangling both have %q: write it in none if it names no row, in dangling if its row is gone", v)
		}
	}
	if err != nil {
		return err
	}
	if r.Others != "" && (r.Others != OthersPlain || r.When == nil && r.Format == "") {
		return fmt.Errorf("others is %q: want %q, beside a when or a format, or remove it", r.Others, OthersPlain)
	}
	if len(r.At) == 0 && len(r.To) == 0 {
		return d.older(r, none, from, n)
	}
	if r.Table != "" || r.ToTable != "" || len(r.Columns)+len(r.ToColumns) > 0 {
		return fmt.Errorf("it has at and to beside table, columns, to_table or to_columns: want one or the other")
	}
	if len(r.At) == 0 || len(r.To) == 0 {
		return fmt.Errorf(`it lacks at or to: want at = ["mail.receiver"] and to = "characters.guid"`)
	}
	to, space, err := d.named(r.To, n)
	if err != nil {
		return err
	}
	if space == "" && len(to) == 0 {
		return nil // of tables that are not read
	}
	if err := integers(to, n, r.Format); err != nil {
		return err
	}
	target := Reference{}
	if len(to) > 0 {
		target = Reference{ToTable: to[0].table, ToColumns: []string{to[0].column}}
	}
	for _, text := range r.At {
		err := d.gone.eachLeft(text, func(at columnName, exact bool) error {
			if r.When != nil && n[at.table][r.When.Column] == nil {
				if exact && !d.gone.columns(at.table, r.When.Column) {
					return fmt.Errorf("when: table %q has no column %q%s", at.table, r.When.Column, nearest.Hint(r.When.Column, slices.Sorted(maps.Keys(n[at.table]))))
				}
				return nil
			}
			if err := neverHolds(r.When, at.table, n); err != nil {
				return err
			}
			if !exact && slices.Contains(to, at) {
				return nil // a key does not refer to itself
			}
			if r.Format == "" {
				if err := n.mayName(at, to...); err != nil {
					return err
				}
			}
			ref := &reference{Reference: target, table: at.table, space: space, or: to[min(1, len(to)):], none: none, dangling: dangling, declared: r, when: r.When, others: r.Others}
			ref.Columns = []string{at.column}
			from := from
			from.exact, from.pattern = exact, text
			if r.Format != "" {
				return d.inCells(at, ref, from, n)
			}
			return d.say(at, &role{kind: roleReference, references: []*reference{ref}, source: from})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mayName returns an error if no value of a column can be one of the keys, by their types: a
// database compares them nevertheless, each with each, which takes hours.
func (n names) mayName(at columnName, to ...columnName) error {
	classes := map[Kind]string{
		KindInteger: "numbers", KindDecimal: "numbers", KindReal: "numbers",
		KindText: "texts", KindBytes: "bytes", KindTime: "times", KindJSON: "documents",
	}
	kinds := func(of columnName) (c *Column, kind string) {
		if c = n[of.table][of.column]; c != nil {
			kind = classes[c.Kind]
		}
		return c, kind
	}
	from, mine := kinds(at)
	for _, key := range to {
		c, theirs := kinds(key)
		switch {
		case mine == theirs || mine == "" || theirs == "":
		case mine == "texts" && c.Kind == KindInteger: // its digits
		case (mine == "texts" || mine == "bytes") && (theirs == "texts" || theirs == "bytes"): // one is written in the other
		default:
			return fmt.Errorf("%s is %s, and %s is %s: no value of one can name a row by the other; "+
				"write in to the column whose keys it holds, or declare it plain if it holds none", at, from.Type, key, c.Type)
		}
	}
	return nil
}

// neverHolds returns an error if a condition has a word for a column of integers: no row has it.
func neverHolds(w *When, table string, n names) error {
	if w == nil || n[table] == nil || n[table][w.Column] == nil || n[table][w.Column].Kind != KindInteger {
		return nil
	}
	for _, v := range slices.Concat(w.Is, w.Not) {
		if _, ok := rekey.ParseInteger([]byte(v)); !ok {
			return fmt.Errorf("when: %q is not an integer, and column %q of table %q is %s: no row can have that value; want numbers", v, w.Column, table, n[table][w.Column].Type)
		}
	}
	return nil
}

// named returns the keys that a reference names, or the space if it has none.
func (d *declared) named(texts []string, n names) (to []columnName, space string, err error) {
	for i := 0; i < len(texts); i++ {
		text := texts[i]
		if name, is := strings.CutPrefix(text, spacePrefix); is {
			s, known := d.spaces[name]
			switch {
			case !known:
				return nil, "", fmt.Errorf("to is %q, and no space has that name%s", text, nearest.Hint(name, slices.Sorted(maps.Keys(d.spaces))))
			case len(s.Keys) == 0 && len(texts) > 1:
				return nil, "", fmt.Errorf("to names the space %q, which has no keys, beside others: want it alone", name)
			case len(s.Keys) == 0:
				return nil, name, nil
			}
			texts = slices.Insert(slices.Clone(texts), i+1, s.Keys...)
			continue
		}
		err := d.gone.eachLeft(text, func(at columnName, exact bool) error {
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

// older notes a reference in the older words, of one column or several.
func (d *declared) older(r DeclaredReference, none rekey.Values, from statement, n names) error {
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
		return fmt.Errorf("format is beside at and to only")
	case len(r.Columns) != len(r.ToColumns):
		return fmt.Errorf("it pairs %d columns with %d", len(r.Columns), len(r.ToColumns))
	case (!none.Empty() || r.When != nil) && len(r.Columns) != 1:
		return fmt.Errorf("zero_is_none needs a reference of one column, this one has %d", len(r.Columns))
	case r.When != nil && n[r.Table] != nil && n[r.Table][r.When.Column] == nil:
		return fmt.Errorf("when: table %q has no column %q", r.Table, r.When.Column)
	}
	if err := neverHolds(r.When, r.Table, n); err != nil {
		return err
	}
	for i, name := range r.Columns {
		if err := n.mayName(columnName{r.Table, name}, columnName{r.ToTable, r.ToColumns[i]}); err != nil {
			return err
		}
	}
	ref := &reference{
		Reference: Reference{Columns: r.Columns, ToTable: r.ToTable, ToColumns: r.ToColumns},
		table:     r.Table, none: none, declared: r, when: r.When, others: r.Others,
	}
	ref.dangling, _ = rekey.ParseValues(false, r.Dangling)
	if len(r.Columns) == 1 && n[r.Table] != nil {
		from.exact, from.pattern = true, place(r.Table, r.Columns[0])
		return d.say(columnName{r.Table, r.Columns[0]}, &role{roleReference, []*reference{ref}, from, true})
	}
	d.composite = append(d.composite, ref)
	return nil
}

// trimmed takes the name of the statement, which is none, off a message.
func trimmed(err error) error {
	_, rest, _ := strings.Cut(err.Error(), ": : ")
	return fmt.Errorf("%s", rest)
}

// severally returns the references of a table of which each value names a row of one of
// several tables, and those with keys in cells.
func (d *declared) severally(table string) []*reference {
	return d.those(table, func(r *reference) bool { return r.space == "" && (len(r.or) > 0 || r.cells != nil) })
}

// ofSpaces returns the references of a table to numbers that are keys of no table.
func (d *declared) ofSpaces(table string) []*reference {
	return d.those(table, func(r *reference) bool { return r.space != "" })
}

func (d *declared) those(table string, wanted func(*reference) bool) (all []*reference) {
	for at, r := range d.roles {
		for _, ref := range r.references {
			if at.table == table && !ref.part && wanted(ref) {
				all = append(all, ref)
			}
		}
	}
	slices.SortFunc(all, func(a, b *reference) int { return strings.Compare(a.identity(), b.identity()) })
	return all
}

// role returns what is declared of a column.
func (d *declared) role(table, column string) *role {
	if r := d.roles[columnName{table, column}]; r != nil {
		return r
	}
	return &role{}
}
