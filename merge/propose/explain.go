package propose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// Explanation describes one column: the rules that cover it, and its values.
type Explanation struct {
	Version int    `json:"version"` // that of [verdict.Report]
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
	Proposed    []verdict.ProposedColumn `json:"proposed,omitempty"`
	NotProposed string                   `json:"not_proposed,omitempty"`

	Values []ValuesOf `json:"values"` // of each database
}

// Said is a statement of a file of rules about a column.
type Said struct {
	File string `json:"file,omitempty"` // "": an option of the program
	Line int    `json:"line,omitempty"` // set by programs that read files

	// Kind is "plain", "shared", "undecided", "reference" or "space". Number is
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
	t, c, err := rules.ParsePlace(text)
	switch {
	case err != nil:
		return "", "", err
	case c == nil || t.Exact == "" || c.Exact == "":
		return "", "", errors.New("want the name of one column: table.column, without *; put names that contain a dot in backquotes")
	}
	return t.Exact, c.Exact, nil
}

// Explain describes a column. It only reads: the values of its table, the integer keys of
// all tables, and the unique names that columns may repeat. Its errors are those of [merge.Check].
func Explain(ctx context.Context, sources []catalog.Source, opts rules.Options, table, column string) (*Explanation, error) {
	opts = opts.WithDefaults()
	f, err := check.DescribeAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	if columns, known := f.Names[table]; !known {
		return nil, rules.Unsuitable("no world has a table %q%s", table, naming.Hint(table, slices.Sorted(maps.Keys(f.Names))))
	} else if columns == nil {
		return nil, rules.Unsuitable("the table %q is not read", table)
	} else if columns[column] == nil {
		return nil, rules.Unsuitable("table %q has no column %q%s", table, column, naming.Hint(column, slices.Sorted(maps.Keys(columns))))
	}
	at := rules.ColumnName{Table: table, Column: column}
	e := &Explanation{Version: verdict.ReportVersion, Table: table, Column: column, Rows: rowsText(f, table), Said: saidOf(f, at)}
	e.Class = classText(f, at)
	r := check.NewReader(f, stream.NewProgress(f.Resolved))
	x := new(examination)
	found, err := explainProposed(ctx, f, r, x, at)
	if err != nil {
		return nil, err
	}
	if e.Proposed = found; found == nil {
		e.NotProposed = "the rows of the table stay behind, and are not read"
	}
	for _, db := range f.DBs {
		if t := db.KeyTable(table); t != nil && t.Column(column) != nil {
			v, err := explainValues(ctx, r, db, t.Column(column), at)
			if err != nil {
				return nil, err
			}
			e.Values = append(e.Values, *v)
		}
	}
	return e, nil
}

// rowsText says what a merge does with the rows of a table.
func rowsText(f *check.Facts, table string) string {
	switch {
	case f.Reset[table]:
		return "the table is empty after the merge (policy reset)"
	case f.Skip[table]:
		return "only the first world's rows are copied (policy skip)"
	case f.Same[table]:
		return "every world must have the same rows; they are copied once (policy same)"
	}
	if c := f.Combined[table]; c != nil {
		text := "rows with the same key are combined (policy combine); the others are copied"
		if c.Matched {
			return "of rows of several worlds for the same thing, the first is copied and the others stay behind (match); all other rows are copied"
		}
		for _, of := range c.Columns {
			text += fmt.Sprintf("; %s = %q", of.Column, of.Formula)
		}
		return text
	}
	return "they are copied"
}

// saidOf lists the statements about a column.
func saidOf(f *check.Facts, at rules.ColumnName) (all []Said) {
	wins := f.Declared.Roles[at]
	key := f.Moving != nil && f.Moving.Columns[at] != nil && f.Moving.Columns[at].Key
	names := func(pattern string) bool {
		table, column, err := rules.ParsePlace(pattern)
		return err == nil && column != nil && table.Match(at.Table) && column.Match(at.Column)
	}
	if f.Opts.Rekey != nil {
		for _, s := range f.Opts.Rekey.Spaces {
			for _, text := range s.Keys {
				if names(text) {
					all = append(all, Said{File: s.File, Kind: "space", Pattern: text, Counts: key,
						Text: "[[merge.space]] " + cmp.Or(s.Name, text)})
				}
			}
			for _, text := range s.Match {
				if names(text) {
					all = append(all, Said{File: s.File, Kind: "match", Pattern: text, Counts: f.Moving != nil,
						Text: fmt.Sprintf("[[merge.space]] %s, match = [%s]: rows with the same value are the same thing", cmp.Or(s.Name, strings.Join(s.Keys, ", ")), printable.TOML(text))})
				}
			}
		}
	}
	for _, r := range f.Declared.Said[at] {
		from := r.Source
		s := Said{Kind: r.Kind.String(), Pattern: from.Pattern, Number: from.Number, Text: r.Kind.String() + " = [" + printable.TOML(from.Pattern) + "]"}
		if from.File > 0 {
			s.File = f.Opts.Rules[from.File-1].File
		}
		if r.Kind == rules.RoleReference {
			s.Text = referenceText(r.References[0].Declared)
		}
		switch {
		case !from.Schema.Has(at):
			s.Why = "it is a pattern, and the [schema] of its file does not have the column"
		case wins == nil && key:
			s.Why = "the column is a key of a space, which has precedence over a pattern"
		case wins == nil || wins.Source.Beats(from) == 0 || len(r.References) > 0 && slices.Contains(wins.References, r.References[0]):
			s.Counts = true
		case wins.Source.Exact && !from.Exact:
			s.Why = "an exact name has precedence over a pattern"
		default:
			s.Why = "a later file has precedence over an earlier one"
		}
		all = append(all, s)
	}
	for _, r := range f.Declared.Composite {
		if r.Table == at.Table && slices.Contains(r.Columns, at.Column) {
			all = append(all, Said{Kind: rules.RoleReference.String(), Pattern: strings.Join(r.Columns, ", "), Text: referenceText(r.Declared), Counts: true})
		}
	}
	slice.Foremost(all, func(s Said) bool { return s.Counts })
	return all
}

// classText says what a merge takes a column for.
func classText(f *check.Facts, at rules.ColumnName) string {
	if f.Moving != nil {
		if m := f.Moving.Columns[at]; m != nil && m.Key {
			return "a key of the space " + m.Cases[0].Space.Name + ", which gets new values"
		}
	}
	role := f.Declared.Role(at.Table, at.Column)
	switch role.Kind {
	case rules.RolePlain:
		return "plain: it refers to nothing"
	case rules.RoleShared:
		return "shared: the same value is the same thing in all worlds"
	case rules.RoleUndecided:
		return "undecided: NOT VERIFIED until a person declares it"
	case rules.RoleReference:
		all := slice.Map(role.References, func(r *rules.Ref) string { return referenceClass(*r) })
		if slices.ContainsFunc(role.References, func(r *rules.Ref) bool { return r.When != nil && r.Declared.Others == rules.OthersPlain }) {
			all = append(all, "the other rows are plain")
		}
		return strings.Join(all, "; ")
	}
	for _, ref := range f.References(at.Table) {
		if slices.Contains(ref.Columns, at.Column) {
			text := "a reference to " + strings.Join(rules.Qualified(ref.ToTable, ref.ToColumns), ", ")
			if len(ref.Columns) > 1 {
				text += ", by " + catalog.ColumnList(ref.Columns) + " together"
			}
			if ref.Declared.At == nil && ref.Declared.Table == "" {
				text += " (a foreign key)"
			}
			return text
		}
	}
	if slices.Contains(f.IDColumns(at.Table), at.Column) {
		return "an ID: it refers to the row that has it"
	}
	if _, model := rules.KeyModel(f.Resolved, at.Table); model != nil {
		if col := model.Column(at.Column); col != nil && col.Opaque != "" {
			return "open: no rule declares it, and keys may be inside its values (" + col.Opaque + ")"
		}
		if slices.Contains(model.Key(), at.Column) {
			return "part of the key, and no rule says whether it numbers things of the world or of the game"
		}
	}
	return "open: no rule declares it; a check judges it by its values"
}

func referenceClass(r rules.Ref) string {
	text := "a reference to "
	if r.Space != "" {
		text += "the space " + r.Space
	} else {
		all := rules.Qualified(r.ToTable, r.ToColumns)
		for _, at := range r.Or {
			all = append(all, rules.Place(at.Table, at.Column))
		}
		text += strings.Join(all, " or ")
	}
	if r.Cells != nil {
		text += ", in cells by " + r.Cells.String()
	}
	if r.When != nil {
		text += ", when " + r.When.String()
	}
	if len(r.Declared.None) > 0 {
		text += "; none: " + strings.Join(r.Declared.None, ", ")
	}
	return text
}

// explainProposed returns what -propose would say of a column if nothing were declared of
// it, as far as its own table and the keys of all others tell.
func explainProposed(ctx context.Context, f *check.Facts, r *check.Reader, x *examination, at rules.ColumnName) ([]verdict.ProposedColumn, error) {
	if !slices.Contains(f.Tables, at.Table) {
		return nil, nil
	}
	if err := proposeKeys(ctx, f, r, x); err != nil {
		return nil, err
	}
	if err := examine(ctx, f, r, x, at.Table, ""); err != nil {
		return nil, err
	}
	// The keys that are those of other rows again are known by their values.
	own := x.columns
	for _, s := range x.spaces {
		if s.Table != at.Table && slices.Contains(f.Tables, s.Table) {
			if err := examine(ctx, f, r, x, s.Table, s.Column); err != nil {
				return nil, err
			}
		}
	}
	// What is declared of the column itself would be the answer.
	without, others, said := *f, *f.Resolved, *f.Declared
	said.Roles = maps.Clone(said.Roles)
	delete(said.Roles, at)
	others.Declared = &said
	without.Resolved = &others
	bare := check.NewReader(&without, r.Progress)
	bare.Kept = r.Kept
	if err := proposeRepeats(ctx, &without, bare, x, at.Table); err != nil {
		return nil, err
	}
	c := classify(&without, x)
	i := slices.IndexFunc(own, func(e *examined) bool { return e.column.Name == at.Column })
	if i < 0 {
		return nil, nil
	}
	if err := apart(ctx, r, c, at.Table, own); err != nil {
		return nil, err
	}
	c.followNames()
	return c.proposedColumns(own[i]), nil
}

// referenceText writes a declared reference without the columns that it is about.
func referenceText(r rules.DeclaredReference) string {
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
		parts = append(parts, "none = "+verdict.TomlValues(r.None))
	}
	if len(r.Dangling) > 0 {
		parts = append(parts, "dangling = "+verdict.TomlValues(r.Dangling))
	}
	return fmt.Sprintf("[[check.reference]] %s", strings.Join(parts, ", "))
}
