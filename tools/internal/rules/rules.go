// Package rules reads what the sections [check] and [merge] of a file say of the
// tables of the databases.
package rules

import (
	"mergesafe/internal/strict"
	"mergesafe/merge"
	"mergesafe/merge/transfer"
)

// Rules are what a file says of the tables. Whether a database has such tables
// and columns is for the check and the merge to find out.
type Rules struct {
	Check  merge.Options         // [check]
	Names  []transfer.NamePolicy // [[merge.name]]
	Copies []transfer.NameCopy   // [[merge.copy]]
}

// Read reads the sections of a file.
func (r *Rules) Read(root *strict.Section) {
	r.Check = check(root)
	r.Names, r.Copies = names(root)
}

func table(s *strict.Section, key string) string {
	need(s, key, `want the name of a table, such as %s = "characters"`)
	return s.Text(key, strict.Label)
}

func column(s *strict.Section, key string) string {
	need(s, key, `want the name of a column, such as %s = "account"`)
	return s.Text(key, strict.Label)
}

func columns(s *strict.Section, key string) []string {
	need(s, key, `want the names of columns, such as %s = ["name"]`)
	return s.Texts(key, strict.Label)
}

// need reports that a section lacks a key; want has a place for its name.
func need(s *strict.Section, key, want string) {
	if !s.Has(key) {
		s.Lacks(key, want, key)
	}
}
