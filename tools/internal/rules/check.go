package rules

import (
	"path"

	"mergesafe/internal/strict"
	"mergesafe/merge"
)

const maxPerAccount = 1_000_000

// check reads the section [check] with all that is below it.
func check(root *strict.Section) (o merge.Options) {
	root.Section("check", func(s *strict.Section) {
		o.Include = s.Texts("include", pattern)
		o.Exclude = s.Texts("exclude", pattern)
		s.Sections("unique", func(s *strict.Section) {
			o.Uniques = append(o.Uniques, merge.DeclaredUnique{Table: table(s, "table"), Columns: columns(s, "columns"), Name: s.Text("name", strict.Label)})
		})
		s.Sections("reference", func(s *strict.Section) { o.References = append(o.References, reference(s)) })
		s.Sections("id", func(s *strict.Section) {
			o.IDs = append(o.IDs, merge.IDColumn{Table: table(s, "table"), Column: column(s, "column")})
		})
		s.Sections("account", func(s *strict.Section) {
			o.Accounts = append(o.Accounts, merge.AccountColumn{Table: table(s, "table"), Column: column(s, "column"), Max: int(s.Integer("max", 1, maxPerAccount))})
		})
	})
	return o
}

func reference(s *strict.Section) merge.DeclaredReference {
	r := merge.DeclaredReference{
		Table: table(s, "table"), Columns: columns(s, "columns"),
		ToTable: table(s, "to_table"), ToColumns: columns(s, "to_columns"),
		ZeroIsNone: s.Boolean("zero_is_none"),
	}
	if from, to := len(r.Columns), len(r.ToColumns); from > 0 && to > 0 && from != to {
		s.Problem("to_columns", "names %d, but columns names %d: want as many, in the same order", to, from)
	}
	if r.ZeroIsNone && len(r.Columns) > 1 {
		s.Problem("zero_is_none", "is for a reference of one column only")
	}
	return r
}

func pattern(s string) string {
	if problem := strict.Label(s); problem != "" {
		return problem
	}
	if _, err := path.Match(s, ""); err != nil {
		return `is no pattern of names: want *, ? and [a-z] as in "log_*", and a \ before what is to stand for itself`
	}
	return ""
}
