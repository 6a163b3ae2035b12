package planner

import (
	"fmt"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// multiset decides whether a table without a key can be copied, and refuses it if
// not.
func (p *Planner) multiset(t *catalog.Table) {
	refuse := func(s *rowio.Source, format string, args ...any) {
		r := plan.Refusal{Table: t.Name, Reason: fmt.Sprintf(format, args...)}
		if s != nil {
			r.Source = s.Name()
		}
		p.refuse(r)
	}
	most := p.opts.MaxKeyless
	if most == 0 {
		most = rowio.DefaultMaxKeyless
	}
	const otherwise = "give it a key of columns that differ between the worlds (a new column that counts from 1 in each would collide at once), exclude it"
	for _, s := range p.DBs[1:] {
		if n := p.Rows[s.Name()][t.Name]; n > max(most, 0) {
			refuse(s, "it has no primary key and no UNIQUE key of NOT NULL columns, so its %d rows would have to be copied in one transaction, and at most %d are: %s, or raise -max-keyless", n, max(most, 0), otherwise)
		}
	}
	if n := len(t.Columns); n >= 2000 {
		refuse(nil, "it has no key and %d columns: SQLite returns at most 2000, and to identify a row takes one more: %s", n, otherwise)
	}
	for i := range p.DBs[0].Known.Tables {
		other := &p.DBs[0].Known.Tables[i]
		if slices.ContainsFunc(other.References, func(r catalog.Reference) bool { return r.ToTable == t.Name }) {
			refuse(nil, "it has no key and %q refers to it, so a reference does not identify a row: %s", other.Name, otherwise)
		}
	}
	for _, s := range p.Plan.Severed {
		if s.Table == t.Name && s.Rows == declare.RowsNone {
			refuse(nil, "it has no key, and references by %s are to be cleared, so an undo could not identify its rows: %s, or let them stay behind: rows = %q in the [[merge.table]] of %s", s.Column, otherwise, declare.RowsDrop, s.To)
		}
	}
	if p.Plan.Rekey != nil && p.Plan.Rekey.Moves() {
		for _, c := range p.Plan.Rekey.Columns {
			col := t.Column(c.Column)
			if c.Table == t.Name && (slices.ContainsFunc(c.Cases, func(of verdict.RekeyedCase) bool { return of.When != nil || of.Format != "" }) || col != nil && col.Kind != catalog.KindInteger) {
				refuse(nil, "it has no key, and only some values of %s get new ones, or they are texts, so an undo could not identify its rows: %s, or leave the rows of the sources behind: [[merge.table]] tables = [%q], policy = \"skip\"", c.Column, otherwise, t.Name)
			}
		}
	}
	if slices.ContainsFunc(p.opts.Names, func(n plan.NamePolicy) bool { return n.Table == t.Name }) ||
		slices.ContainsFunc(p.opts.Copies, func(c plan.NameCopy) bool { return c.Table == t.Name }) {
		refuse(nil, "it has no key, so its rows cannot be renamed: %s", otherwise)
	}
}
