package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/nearest"
	"mergesafe/internal/printable"
)

// Explanation describes one column: the rules that cover it, and its values.
type Explanation struct {
	Version int    `json:"version"` // that of [Report]
	Table   string `json:"table"`
	Column  string `json:"column"`

	// Class says how a merge treats the column, in words, and Rows what it does with the
	// rows of the table.
	Class string `json:"class"`
	Rows  string `json:"rows"`

	// Said are the statements about the column, those that count first.
	Said []Said `json:"said,omitempty"`

	// Proposed is what the column seems to be: several entries, if that depends on another
	// column. NotProposed says why there is none.
	Proposed    []ProposedColumn `json:"proposed,omitempty"`
	NotProposed string           `json:"not_proposed,omitempty"`

	Values []ValuesOf `json:"values"` // of each database
}

// Said is a statement of a file of rules about a column.
type Said struct {
	File string `json:"file,omitempty"` // "": an option of the program
	Line int    `json:"line,omitempty"` // set by programs that read files

	// Kind is "plain", "natural", "shared", "undecided", "reference" or "space". Number is
	// which of the references of its file it is, from 1.
	Kind   string `json:"kind"`
	Number int    `json:"number,omitempty"`

	Pattern string `json:"pattern"`       // by which it names the column
	Text    string `json:"text"`          // what it says, as TOML
	Counts  bool   `json:"counts"`        // it is what the column is
	Why     string `json:"why,omitempty"` // why it does not count
}

// ParseColumn reads the name of one column, "table.column".
func ParseColumn(text string) (table, column string, err error) {
	t, c, err := parsePlace(text)
	switch {
	case err != nil:
		return "", "", err
	case c == nil || t.exact == "" || c.exact == "":
		return "", "", errors.New("want the name of one column: table.column, without *; put a name with a dot in backquotes")
	}
	return t.exact, c.exact, nil
}

// Explain describes a column. It only reads: the values of its table, the integer keys of
// all tables, and the unique names that columns may repeat. Its errors are those of [Check].
func Explain(ctx context.Context, sources []Source, opts Options, table, column string) (*Explanation, error) {
	opts = opts.withDefaults()
	f, err := describeAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	if columns, known := f.names[table]; !known {
		return nil, unsuitable("no source has a table %q%s", table, nearest.Hint(table, slices.Sorted(maps.Keys(f.names))))
	} else if columns == nil {
		return nil, unsuitable("the table %q is not read", table)
	} else if columns[column] == nil {
		return nil, unsuitable("table %q has no column %q%s", table, column, nearest.Hint(column, slices.Sorted(maps.Keys(columns))))
	}
	at := columnName{table, column}
	e := &Explanation{Version: ReportVersion, Table: table, Column: column, Rows: rowsText(f, table), Said: saidOf(f, at)}
	e.Class = classText(f, at)
	r := newReader(f, newProgress(f.resolved))
	x := new(examination)
	found, err := explainProposed(ctx, f, r, x, at)
	if err != nil {
		return nil, err
	}
	if e.Proposed = found; found == nil {
		e.NotProposed = "the rows of the table stay behind, and are not read"
	}
	for _, db := range f.dbs {
		if t := db.keyTable(table); t != nil && t.column(column) != nil {
			v, err := explainValues(ctx, r, db, t.column(column), at)
			if err != nil {
				return nil, err
			}
			v.Keys = keysNamed(x, db, at)
			e.Values = append(e.Values, *v)
		}
	}
	return e, nil
}

// rowsText says what a merge does with the rows of a table.
func rowsText(f *facts, table string) string {
	excluded := func(db *database) bool { return slices.Contains(db.excluded, table) }
	switch {
	case f.reset[table]:
		return "the table is empty after the merge (policy reset)"
	case f.skip[table]:
		return "the target's rows stay, the sources' rows are left behind (policy skip)"
	case f.same[table]:
		return "every world must have the same rows; the target's rows stay (policy same)"
	case slices.ContainsFunc(f.dbs, excluded):
		return "the table is excluded, so nothing in it is verified"
	}
	if c := f.combined[table]; c != nil {
		text := "rows with the same key are combined (policy combine); the others are copied"
		if c.Matched {
			return "rows of the same thing as a row of another world stay behind, and that row stays (match); the others are copied"
		}
		for _, of := range c.Columns {
			text += fmt.Sprintf("; %s = %q", of.Column, of.Formula)
		}
		return text
	}
	return "they are copied"
}

// saidOf lists the statements about a column.
func saidOf(f *facts, at columnName) (all []Said) {
	wins := f.declared.roles[at]
	key := f.moving != nil && f.moving.columns[at] != nil && f.moving.columns[at].key
	if f.opts.Rekey != nil {
		for _, s := range f.opts.Rekey.Spaces {
			for _, text := range s.Keys {
				if table, column, err := parsePlace(text); err == nil && column != nil && table.match(at.table) && column.match(at.column) {
					all = append(all, Said{File: s.File, Kind: "space", Pattern: text, Counts: key,
						Text: "[[merge.space]] " + cmp.Or(s.Name, text)})
				}
			}
			for _, text := range s.Match {
				if table, column, err := parsePlace(text); err == nil && column != nil && table.match(at.table) && column.match(at.column) {
					all = append(all, Said{File: s.File, Kind: "match", Pattern: text, Counts: f.moving != nil,
						Text: fmt.Sprintf("[[merge.space]] %s, match = [%s]: rows with the same value are the same thing", cmp.Or(s.Name, strings.Join(s.Keys, ", ")), printable.TOML(text))})
				}
			}
		}
	}
	for _, r := range f.declared.said[at] {
		from := r.source
		s := Said{Kind: r.kind.String(), Pattern: from.pattern, Number: from.number, Text: r.kind.String() + " = [" + printable.TOML(from.pattern) + "]"}
		if from.file > 0 {
			s.File = f.opts.Rules[from.file-1].File
		}
		if r.kind == roleReference {
			s.Text = referenceText(r.references[0].declared)
		}
		switch {
		case !from.schema.has(at):
			s.Why = "it is a pattern, and the [schema] of its file does not have the column"
		case wins == nil && key:
			s.Why = "the column is a key of a space, which has precedence over a pattern"
		case wins == nil || wins.source.beats(from) == 0:
			s.Counts = true
		case wins.source.exact && !from.exact:
			s.Why = "an exact name has precedence over a pattern"
		default:
			s.Why = "a later file has precedence over an earlier one"
		}
		all = append(all, s)
	}
	for _, r := range f.declared.composite {
		if r.table == at.table && slices.Contains(r.Columns, at.column) {
			all = append(all, Said{Kind: roleReference.String(), Pattern: strings.Join(r.Columns, ", "), Text: referenceText(r.declared), Counts: true})
		}
	}
	slices.SortStableFunc(all, func(a, b Said) int {
		switch {
		case a.Counts == b.Counts:
			return 0
		case a.Counts:
			return -1
		}
		return 1
	})
	return all
}

// classText says what a merge takes a column for.
func classText(f *facts, at columnName) string {
	if f.moving != nil {
		if m := f.moving.columns[at]; m != nil && m.key {
			return "a key of the space " + m.cases[0].space.Name + ", which gets new values"
		}
	}
	role := f.declared.role(at.table, at.column)
	switch role.kind {
	case rolePlain:
		return "plain: it names nothing"
	case roleNatural:
		return "natural: a key of the game's own data, the same in every world"
	case roleShared:
		return "shared: the same value is the same thing in all worlds"
	case roleUndecided:
		return "undecided: NOT VERIFIED until a person says what it is"
	case roleReference:
		var all []string
		for _, r := range role.references {
			all = append(all, referenceClass(*r))
		}
		return strings.Join(all, "; ")
	}
	for _, ref := range f.references(at.table) {
		if slices.Contains(ref.Columns, at.column) {
			text := "a reference to " + qualifiedText(ref.ToTable, ref.ToColumns)
			if len(ref.Columns) > 1 {
				text += ", by " + columnList(ref.Columns) + " together"
			}
			if ref.declared.At == nil && ref.declared.Table == "" {
				text += " (a foreign key)"
			}
			return text
		}
	}
	if slices.Contains(f.idColumns(at.table), at.column) {
		return "an ID: it names the row that has it"
	}
	if _, model := keyModel(f.resolved, at.table); model != nil {
		if col := model.column(at.column); col != nil && col.Opaque != "" {
			return "open: nothing declares it, and keys may be inside its values (" + col.Opaque + ")"
		}
		if slices.Contains(model.Key(), at.column) {
			return "part of the key, and nothing declares whether it numbers things of the world or of the game"
		}
	}
	return "open: nothing declares it; a check judges it by its values"
}

func qualifiedText(table string, columns []string) string {
	return strings.Join(qualified(table, columns), ", ")
}

func referenceClass(r reference) string {
	text := "a reference to "
	if r.space != "" {
		text += "the space " + r.space
	} else {
		all := qualified(r.ToTable, r.ToColumns)
		for _, at := range r.or {
			all = append(all, place(at.table, at.column))
		}
		text += strings.Join(all, " or ")
	}
	if r.cells != nil {
		text += ", in cells by " + r.cells.String()
	}
	if r.when != nil {
		text += ", when " + r.when.String()
		if r.others == OthersPlain {
			text += "; plain in the other rows"
		}
	}
	if len(r.declared.None) > 0 || r.declared.ZeroIsNone {
		none := r.declared.None
		if r.declared.ZeroIsNone {
			none = append([]string{"0"}, none...)
		}
		text += "; none: " + strings.Join(none, ", ")
	}
	return text
}

// explainProposed returns what -propose would say of a column if nothing were declared of
// it, as far as its own table and the keys of all others tell.
func explainProposed(ctx context.Context, f *facts, r *reader, x *examination, at columnName) ([]ProposedColumn, error) {
	if !slices.Contains(f.tables, at.table) {
		return nil, nil
	}
	if err := proposeKeys(ctx, f, r, x); err != nil {
		return nil, err
	}
	if err := examine(ctx, f, r, x, at.table); err != nil {
		return nil, err
	}
	// The keys that are those of other rows again are known by their values.
	own := x.columns
	for _, s := range x.spaces {
		if s.table != at.table && slices.Contains(f.tables, s.table) {
			if err := examineColumns(ctx, f, r, x, s.table, func(c *Column) bool { return c.Name == s.column }); err != nil {
				return nil, err
			}
		}
	}
	// What is declared of the column itself would be the answer.
	without, others, said := *f, *f.resolved, *f.declared
	said.roles = maps.Clone(said.roles)
	delete(said.roles, at)
	others.declared = &said
	without.resolved = &others
	bare := newReader(&without, r.progress)
	bare.kept = r.kept
	if err := proposeRepeats(ctx, &without, bare, x, at.table); err != nil {
		return nil, err
	}
	c := classify(&without, x)
	i := slices.IndexFunc(own, func(e *examined) bool { return e.column.Name == at.column })
	if i < 0 {
		return nil, nil
	}
	if c.mixed(own[i]) {
		if err := splitCases(ctx, r, c, own[i]); err != nil {
			return nil, err
		}
	}
	return c.proposedColumns(own[i]), nil
}

// referenceText writes a declared reference without the columns that it is about.
func referenceText(r DeclaredReference) string {
	var parts []string
	for _, key := range []struct {
		name string
		list []string
	}{{"to", r.To}, {"columns", r.Columns}, {"to_columns", r.ToColumns}} {
		if len(key.list) > 0 {
			parts = append(parts, key.name+" = "+printable.TOMLList(key.list))
		}
	}
	if r.ToTable != "" {
		parts = append(parts, "to_table = "+printable.TOML(r.ToTable))
	}
	if r.Format != "" {
		parts = append(parts, "format = "+printable.TOML(r.Format))
	}
	if r.When != nil {
		parts = append(parts, "when "+r.When.String())
	}
	if r.Others != "" {
		parts = append(parts, "others = "+printable.TOML(r.Others))
	}
	if len(r.None) > 0 {
		parts = append(parts, "none = "+tomlValues(r.None))
	}
	if len(r.Dangling) > 0 {
		parts = append(parts, "dangling = "+tomlValues(r.Dangling))
	}
	return fmt.Sprintf("[[check.reference]] %s", strings.Join(parts, ", "))
}
