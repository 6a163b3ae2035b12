package config

import (
	"fmt"
	"strings"

	"mergesafe/merge/transfer"
)

// Merge is the section [merge]: what becomes of names that several worlds have,
// where they have to be unique. Whether there are such tables and columns is
// for the merge to find out.
type Merge struct {
	Names  []transfer.NamePolicy // [[merge.name]]
	Copies []transfer.NameCopy   // [[merge.copy]]
}

const maxNameLength = 10_000 // characters

// merge reads the section [merge] with all that is below it.
func (s *section) merge() (m Merge) {
	s, ok := s.section("merge")
	if !ok {
		return m
	}
	for _, s := range s.sections("name") {
		m.Names = append(m.Names, transfer.NamePolicy{
			Table: s.tableName("table"), Column: s.columnName("column"),
			Template: s.text("template", template),
			Keep:     transfer.Keep(s.text("keep", keep)), By: s.text("by", label),
			MaxLength: int(s.integer("max_length", 1, maxNameLength)),
		})
		switch {
		case s.has("keep") && !s.has("by"):
			s.lacks("by", `want the column that keep goes by, such as by = "created_at"`)
		case s.has("by") && !s.has("keep"):
			s.lacks("keep", fmt.Sprintf(`want %q or %q, by the column that by names`, transfer.KeepOlder, transfer.KeepActive))
		}
		s.end()
	}
	for _, s := range s.sections("copy") {
		m.Copies = append(m.Copies, transfer.NameCopy{
			Table: s.tableName("table"), Column: s.columnName("column"), Key: s.columnName("key"),
			OfTable: s.tableName("of_table"), OfColumn: s.columnName("of_column"),
		})
		s.end()
	}
	s.end()
	return m
}

func keep(s string) string {
	if k := transfer.Keep(s); k != transfer.KeepOlder && k != transfer.KeepActive {
		return fmt.Sprintf("is %.40q: want %q or %q, or no such key", s, transfer.KeepOlder, transfer.KeepActive)
	}
	return ""
}

func template(s string) string {
	if problem := label(s); problem != "" {
		return problem
	}
	if strings.Count(s, "{name}") != 1 {
		return fmt.Sprintf("is %q: want {name} in it once, as in %q", s, transfer.DefaultTemplate)
	}
	return ""
}
