package config

import (
	"fmt"
	"path"

	"mergesafe/merge"
)

// Check is the section [check]: what a merge check should know of the tables
// beyond what the databases say themselves. Whether there are such tables and
// columns is for the check to find out.
type Check struct {
	// Include are patterns of the tables to check, Exclude of those to leave
	// out, as [path.Match] has them. No Include means all tables.
	Include, Exclude []string

	Uniques    []merge.DeclaredUnique    // [[check.unique]]
	References []merge.DeclaredReference // [[check.reference]]
	IDs        []merge.IDColumn          // [[check.id]]
	Accounts   []merge.AccountColumn     // [[check.account]]
}

const maxPerAccount = 1_000_000

// check reads the section [check] with all that is below it.
func (s *section) check() (c Check) {
	s, ok := s.section("check")
	if !ok {
		return c
	}
	c.Include = s.texts("include", pattern)
	c.Exclude = s.texts("exclude", pattern)
	for _, s := range s.sections("unique") {
		c.Uniques = append(c.Uniques, merge.DeclaredUnique{
			Table: s.tableName("table"), Columns: s.columnNames("columns"), Name: s.text("name", label),
		})
		s.end()
	}
	for _, s := range s.sections("reference") {
		r := merge.DeclaredReference{
			Table: s.tableName("table"), Columns: s.columnNames("columns"),
			ToTable: s.tableName("to_table"), ToColumns: s.columnNames("to_columns"),
			ZeroIsNone: s.boolean("zero_is_none"),
		}
		if from, to := len(r.Columns), len(r.ToColumns); from > 0 && to > 0 && from != to {
			s.problem("to_columns", fmt.Sprintf("names %d, but columns names %d: want as many, in the same order", to, from))
		}
		if r.ZeroIsNone && len(r.Columns) > 1 {
			s.problem("zero_is_none", "is for a reference of one column only")
		}
		c.References = append(c.References, r)
		s.end()
	}
	for _, s := range s.sections("id") {
		c.IDs = append(c.IDs, merge.IDColumn{Table: s.tableName("table"), Column: s.columnName("column")})
		s.end()
	}
	for _, s := range s.sections("account") {
		c.Accounts = append(c.Accounts, merge.AccountColumn{
			Table: s.tableName("table"), Column: s.columnName("column"), Max: int(s.integer("max", 1, maxPerAccount)),
		})
		s.end()
	}
	s.end()
	return c
}

func (s *section) tableName(key string) string {
	if !s.has(key) {
		s.lacks(key, fmt.Sprintf(`want the name of a table, such as %s = "characters"`, key))
	}
	return s.text(key, label)
}

func (s *section) columnName(key string) string {
	if !s.has(key) {
		s.lacks(key, fmt.Sprintf(`want the name of a column, such as %s = "account"`, key))
	}
	return s.text(key, label)
}

func (s *section) columnNames(key string) []string {
	if !s.has(key) {
		s.lacks(key, fmt.Sprintf(`want the names of columns, such as %s = ["name"]`, key))
	}
	return s.texts(key, label)
}

func pattern(s string) string {
	if problem := label(s); problem != "" {
		return problem
	}
	if _, err := path.Match(s, ""); err != nil {
		return `is no pattern of names: want *, ? and [a-z] as in "log_*", and a \ before what is to stand for itself`
	}
	return ""
}
