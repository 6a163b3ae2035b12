package merge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
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

// has reports whether a column is in the list. Without a list, all are.
func (s *Reviewed) has(at columnName) bool {
	return s == nil || slices.Contains(s.Tables[at.table], at.column)
}

func (s *Reviewed) hasTable(name string) bool {
	return s == nil || s.Tables[name] != nil
}

// Fingerprint is a short sum over the names of the tables and columns, whatever their order.
func (s *Reviewed) Fingerprint() string {
	var all []columnName
	for table, columns := range s.Tables {
		for _, c := range columns {
			all = append(all, columnName{table, c})
		}
	}
	return fingerprint(all)
}

func fingerprint(all []columnName) string {
	var lines []string
	for _, at := range all {
		lines = append(lines, place(at.table, at.column)+"\n")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(lines), "")))
	return hex.EncodeToString(sum[:6])
}

// Matches reports whether a pattern of a table, or of a column as in [Declarations],
// matches something in the list.
func (s *Reviewed) Matches(pattern string) (bool, error) {
	table, column, err := parsePlace(pattern)
	if err != nil {
		return false, err
	}
	for name, columns := range s.Tables {
		if table.match(name) && (column == nil || slices.ContainsFunc(columns, column.match)) {
			return true, nil
		}
	}
	return false, nil
}

// Exact reports whether a pattern is a name: of a table, or of a column of a table.
func Exact(pattern string) bool {
	table, column, err := parsePlace(pattern)
	return err == nil && table.exact != "" && (column == nil || column.exact != "")
}

// reviewed is what the lists of all files together have.
type reviewed []*Reviewed

func reviewedOf(opts Options) (all reviewed) {
	for _, r := range opts.Rules {
		if r.Schema != nil {
			all = append(all, r.Schema)
		}
	}
	return all
}

func (all reviewed) has(table string, columns ...string) bool {
	return slices.ContainsFunc(all, func(s *Reviewed) bool {
		return !slices.ContainsFunc(columns, func(c string) bool { return !s.has(columnName{table, c}) }) && s.hasTable(table)
	})
}

// matches reports whether a pattern matches something in a list.
func (all reviewed) matches(text string) bool {
	return slices.ContainsFunc(all, func(s *Reviewed) bool { ok, _ := s.Matches(text); return ok })
}

// missing tells what lists have and no source has.
type missing struct {
	names
	listed reviewed
}

// columns reports whether some columns of a table are gone.
func (g missing) columns(table string, columns ...string) bool {
	return g.has("", table, columns...) != nil && g.listed.has(table, columns...)
}

// place reports whether all that a pattern of a column names is gone.
func (g missing) place(text string) bool {
	_, column, err := parsePlace(text)
	return err == nil && column != nil && g.listed.matches(text) && g.each(text, func(columnName, bool) error { return nil }) != nil
}

// eachLeft is each of what the sources have. It is no error if all is gone.
func (g missing) eachLeft(text string, use func(at columnName, exact bool) error) error {
	if len(g.listed) > 0 && g.place(text) {
		return nil
	}
	return g.each(text, use)
}

// tables reports whether all that a pattern of tables names is gone.
func (g missing) tables(text string, match func(table string) bool) bool {
	for table := range g.names {
		if match(table) {
			return false
		}
	}
	return slices.ContainsFunc(g.listed, func(s *Reviewed) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(s.Tables)), match)
	})
}

// without returns the options without the statements about names that are gone. Rules
// are left as they are: see declare.
func (g missing) without(o Options) Options {
	if len(g.listed) == 0 {
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
			table, column, err := parsePlace(text)
			return err == nil && column == nil && g.tables(text, table.match)
		})
	}
	glob := func(text string) bool {
		return g.tables(text, func(table string) bool { ok, _ := path.Match(text, table); return ok })
	}
	o.Exclude = slices.DeleteFunc(slices.Clone(o.Exclude), glob)
	if included := slices.DeleteFunc(slices.Clone(o.Include), glob); len(included) > 0 {
		o.Include = included // none would be all
	}
	if o.Rekey != nil {
		o.Rekey = g.withoutSpaces(*o.Rekey)
	}
	return o
}

// withoutSpaces returns what moves without the keys that are gone, the spaces of which
// all keys are, and their counters.
func (g missing) withoutSpaces(r Rekey) *Rekey {
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
func (g missing) when(at string, w *When) bool {
	table, _, err := parsePlace(at)
	return err == nil && table.exact != "" && g.columns(table.exact, w.Column)
}

// Gone returns a function that reports whether columns of a table are gone: a file of
// rules lists them, and none of the databases has one of them.
func (o Options) Gone(catalogs []*Catalog) func(table string, columns ...string) bool {
	return missing{namesIn(catalogs), reviewedOf(o)}.columns
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

// ruleFiles compares the databases with the list of each file that has one.
func ruleFiles(f *resolved) (all []RuleFile) {
	if f.names == nil {
		return nil // of a pair, of which no report is shown
	}
	var found []columnName
	for table, columns := range f.names {
		for column := range columns {
			found = append(found, columnName{table, column})
		}
	}
	slices.SortFunc(found, func(a, b columnName) int { return strings.Compare(a.String(), b.String()) })
	for _, r := range f.opts.Rules {
		s := r.Schema
		if s == nil {
			continue
		}
		file := RuleFile{File: r.File, Name: s.Name, Source: s.Source, Reviewed: s.Fingerprint(), Found: fingerprint(found)}
		for _, at := range found {
			switch {
			case s.has(at):
			case isDeclared(f, at):
				file.Declared = append(file.Declared, place(at.table, at.column))
			default:
				file.New = append(file.New, place(at.table, at.column))
			}
		}
		for _, table := range slices.Sorted(maps.Keys(s.Tables)) {
			if columns, known := f.names[table]; known && columns == nil {
				continue // it is not read, and its columns are not known
			}
			for _, column := range slices.Sorted(slices.Values(s.Tables[table])) {
				if f.names[table][column] == nil {
					file.Gone = append(file.Gone, place(table, column))
				}
			}
		}
		all = append(all, file)
	}
	return all
}

// isDeclared reports whether any statement, or a foreign key, says what a column is.
func isDeclared(f *resolved, at columnName) bool {
	switch f.declared.role(at.table, at.column).kind {
	case roleOpen, roleUndecided:
	default:
		return true
	}
	moved := f.moving != nil && f.moving.columns[at] != nil
	return moved || f.same[at.table] || f.skip[at.table] || foreignKey(f, at.table, at.column)
}

// notListed is the error of a file that names a column that its list does not have.
func notListed(at columnName) error {
	return fmt.Errorf("%s is not in [schema.tables] of the same file: add it there", place(at.table, at.column))
}
