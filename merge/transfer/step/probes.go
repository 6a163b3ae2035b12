package step

import (
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// Probe is a statement that needs a right, and changes nothing.
type Probe struct {
	Table, Statement string
	Right            string // the same for an account that only reads, which asks by EXPLAIN; "" if that does not tell
	Fails            bool   // it is meant to fail for another reason
}

// Probes are those of a plan: of the tables that rows come to, and of the changes.
func Probes(changes []Change, p *plan.Plan, d rowio.Dialect, layout func(table string) *rowio.Layout) (all []Probe) {
	for _, t := range p.Tables {
		table, columns, first := d.Quote(t.Name), d.QuoteAll(t.Columns), d.Quote(t.Columns[0])
		all = append(all, Probe{Table: t.Name, Right: "INSERT", Statement: "INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM " + table + " WHERE 1 = 0"},
			Probe{Table: t.Name, Right: "DELETE", Statement: "DELETE FROM " + table + " WHERE 1 = 0"}) // for an undo
		if t.Counter != nil && d.MySQL() {
			// Without a word of what to alter, nothing is altered.
			all = append(all, Probe{Table: t.Name, Statement: "ALTER TABLE " + table})
		}
		if t.WritesOver() {
			all = append(all, Probe{Table: t.Name, Right: "UPDATE", Statement: "UPDATE " + table + " SET " + first + " = " + first + " WHERE 1 = 0"})
		}
	}
	for _, c := range changes {
		if c.Probes != nil {
			all = append(all, c.Probes(p, d, layout)...)
		}
	}
	return all
}
