package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/slice"
)

// Reviewed is the schema that a file of rules was written for. Patterns of the file, of
// columns or of tables, cover only the columns in the list: another column is new, and
// not declared by it. Another file, which the operator wrote for his own database, may
// declare it. A name that is in the list and in no source is gone: statements about it
// are ignored and are not an error.
type Reviewed struct {
	Name   string `json:"name"`             // for people: "AzerothCore: characters database"
	Source string `json:"source,omitempty"` // the source of its facts

	// Tables are the columns of each table that were reviewed.
	Tables map[string][]string `json:"tables"`
}

// Has reports whether a column is in the list. Without a list, all are.
func (s *Reviewed) Has(at ColumnName) bool {
	return s == nil || slices.Contains(s.Tables[at.Table], at.Column)
}

func (s *Reviewed) hasTable(name string) bool {
	return s == nil || s.Tables[name] != nil
}

// Fingerprint is a short sum over the names of the tables and columns, whatever their order.
func (s *Reviewed) Fingerprint() string {
	var all []ColumnName
	for table, columns := range s.Tables {
		for _, c := range columns {
			all = append(all, ColumnName{table, c})
		}
	}
	return fingerprint(all)
}

func fingerprint(all []ColumnName) string {
	lines := slice.Map(all, func(at ColumnName) string { return Place(at.Table, at.Column) + "\n" })
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(lines), "")))
	return hex.EncodeToString(sum[:6])
}

// Matches reports whether a pattern of a table, or of a column as in [Declarations],
// matches something in the list.
func (s *Reviewed) Matches(pattern string) (bool, error) {
	table, column, err := ParsePlace(pattern)
	if err != nil {
		return false, err
	}
	for name, columns := range s.Tables {
		if table.Match(name) && (column == nil || slices.ContainsFunc(columns, column.Match)) {
			return true, nil
		}
	}
	return false, nil
}

// Exact reports whether a pattern is a name: of a table, or of a column of a table.
func Exact(pattern string) bool {
	table, column, err := ParsePlace(pattern)
	return err == nil && table.Exact != "" && (column == nil || column.Exact != "")
}

// reviewed is what the lists of all files together have.
type reviewed []*Reviewed

func ReviewedOf(opts Options) (all reviewed) {
	for _, r := range opts.Rules {
		if r.Schema != nil {
			all = append(all, r.Schema)
		}
	}
	return all
}

func (all reviewed) has(table string, columns ...string) bool {
	return slices.ContainsFunc(all, func(s *Reviewed) bool {
		return !slices.ContainsFunc(columns, func(c string) bool { return !s.Has(ColumnName{table, c}) }) && s.hasTable(table)
	})
}

// matches reports whether a pattern matches something in a list.
func (all reviewed) matches(text string) bool {
	return slices.ContainsFunc(all, func(s *Reviewed) bool { ok, _ := s.Matches(text); return ok })
}

// Missing tells what lists have and no world has.
type Missing struct {
	Names
	Listed reviewed
}

// columns reports whether some columns of a table are gone.
func (g Missing) columns(table string, columns ...string) bool {
	return g.has("", table, columns...) != nil && g.Listed.has(table, columns...)
}

// place reports whether all that a pattern of a column names is gone.
func (g Missing) place(text string) bool {
	_, column, err := ParsePlace(text)
	return err == nil && column != nil && g.Listed.matches(text) && g.each(text, func(ColumnName, bool) error { return nil }) != nil
}

// eachLeft is each of what the sources have. It is no error if all is gone.
func (g Missing) eachLeft(text string, use func(at ColumnName, exact bool) error) error {
	if len(g.Listed) > 0 && g.place(text) {
		return nil
	}
	return g.each(text, use)
}

// tables reports whether all that a pattern of tables names is gone.
func (g Missing) tables(match func(table string) bool) bool {
	for table := range g.Names {
		if match(table) {
			return false
		}
	}
	return slices.ContainsFunc(g.Listed, func(s *Reviewed) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(s.Tables)), match)
	})
}

// Without returns the options without the statements about names that are gone. Rules
// are left as they are: see declare.
func (g Missing) Without(o Options) Options {
	if len(g.Listed) == 0 {
		return o
	}
	o.Uniques = slices.DeleteFunc(slices.Clone(o.Uniques), func(u DeclaredUnique) bool { return g.columns(u.Table, u.Columns...) })
	o.IDs = slices.DeleteFunc(slices.Clone(o.IDs), func(c IDColumn) bool { return g.columns(c.Table, c.Column) })
	o.Accounts = slices.DeleteFunc(slices.Clone(o.Accounts), func(c AccountColumn) bool { return g.columns(c.Table, c.Column) })
	o.Renames = slices.DeleteFunc(slices.Clone(o.Renames), func(c RenamedColumn) bool { return g.columns(c.Table, c.Column) })
	for i := range o.Renames {
		c := &o.Renames[i]
		c.Set = slices.DeleteFunc(slices.Clone(c.Set), func(s Setting) bool { return g.columns(c.Table, s.Column) })
	}
	o.Copies = slices.DeleteFunc(slices.Clone(o.Copies), func(c NameCopy) bool {
		return g.columns(c.Table, c.Column) || g.columns(c.Table, c.Key) || g.columns(c.OfTable, c.OfColumn)
	})
	o.Worlds = slices.DeleteFunc(slices.Clone(o.Worlds), func(w WorldKey) bool { return g.place(w.At) })
	o.Tables = slices.Clone(o.Tables)
	for i := range o.Tables {
		o.Tables[i].Tables = slices.DeleteFunc(slices.Clone(o.Tables[i].Tables), func(text string) bool {
			table, column, err := ParsePlace(text)
			return err == nil && column == nil && g.tables(table.Match)
		})
	}
	if o.Rekey != nil {
		o.Rekey = g.withoutSpaces(*o.Rekey)
	}
	return o
}

// withoutSpaces returns what moves without the keys that are gone, the spaces of which
// all keys are, and their counters.
func (g Missing) withoutSpaces(r Rekey) *Rekey {
	var spaces []Space
	out := make(map[string]bool)
	for _, s := range r.Spaces {
		had := len(s.Keys)
		s.Keys = slices.DeleteFunc(slices.Clone(s.Keys), g.place)
		if had > 0 && len(s.Keys) == 0 {
			out[s.Name] = true
			continue
		}
		spaces = append(spaces, s)
	}
	r.Spaces = spaces
	r.Counters = slices.DeleteFunc(slices.Clone(r.Counters), func(c CounterRow) bool {
		return g.place(c.At) || g.place(c.Space) || out[c.Space] && c.Space != "" || c.When != nil && g.when(c.At, c.When)
	})
	return &r
}

// when reports whether the column of a condition is gone, of rows of an exact place.
func (g Missing) when(at string, w *When) bool {
	table, _, err := ParsePlace(at)
	return err == nil && table.Exact != "" && g.columns(table.Exact, w.Column)
}

// Gone reports whether columns of a table are gone: a file of rules lists them, and none of the
// databases has one of them.
func (f *Resolved) Gone(table string, columns ...string) bool {
	return f.Declared.gone.columns(table, columns...)
}

// RuleFile compares the databases with the schema that a file of rules was written for.
type RuleFile struct {
	File   string `json:"file,omitempty"`
	Name   string `json:"name"`
	Source string `json:"source,omitempty"`

	// Reviewed and Found are the fingerprints of the file's list and of the databases:
	// a short sum over the names of all tables and columns.
	Reviewed string `json:"reviewed"`
	Found    string `json:"found"`

	// New are columns that the list does not have, and that no other statement declares:
	// they are open. Declared are those that another statement declares.
	New      []string `json:"new,omitempty"`
	Declared []string `json:"declared,omitempty"`

	// Gone are columns of the list that no database has.
	Gone []string `json:"gone,omitempty"`
}

// RuleFiles compares the databases with the list of each file that has one.
func RuleFiles(f *Resolved) (all []RuleFile) {
	var found []ColumnName
	for table, columns := range f.Names {
		for column := range columns {
			found = append(found, ColumnName{table, column})
		}
	}
	slices.SortFunc(found, func(a, b ColumnName) int { return strings.Compare(a.String(), b.String()) })
	for _, r := range f.Opts.Rules {
		s := r.Schema
		if s == nil {
			continue
		}
		file := RuleFile{File: r.File, Name: s.Name, Source: s.Source, Reviewed: s.Fingerprint(), Found: fingerprint(found)}
		for _, at := range found {
			switch {
			case s.Has(at):
			case isDeclared(f, at):
				file.Declared = append(file.Declared, Place(at.Table, at.Column))
			default:
				file.New = append(file.New, Place(at.Table, at.Column))
			}
		}
		for _, table := range slices.Sorted(maps.Keys(s.Tables)) {
			if columns, known := f.Names[table]; known && columns == nil {
				continue // it is not read, and its columns are not known
			}
			for _, column := range slices.Sorted(slices.Values(s.Tables[table])) {
				if f.Names[table][column] == nil {
					file.Gone = append(file.Gone, Place(table, column))
				}
			}
		}
		all = append(all, file)
	}
	return all
}

// isDeclared reports whether any statement, or a foreign key, says what a column is.
func isDeclared(f *Resolved, at ColumnName) bool {
	kind, moved := f.Declared.Role(at.Table, at.Column).Kind, f.Moving != nil && f.Moving.Columns[at] != nil
	return kind != RoleOpen && kind != RoleUndecided || moved || f.Same[at.Table] || f.Skip[at.Table] || ForeignKey(f, at.Table, at.Column)
}
