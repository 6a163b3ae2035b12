package planner

import (
	"cmp"
	"fmt"

	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// refuseLarge refuses a table without a key that has more rows than are copied in one transaction.
func (p *Planner) refuseLarge(t *catalog.Table) {
	most := max(cmp.Or(p.opts.MaxKeyless, rowio.DefaultMaxKeyless), 0)
	for _, s := range p.DBs[1:] {
		if n := p.Rows[s.Name()][t.Name]; n > most {
			p.refuse(plan.Refusal{Place: plan.PlaceRoom, Source: s.Name(), Table: t.Name, Reason: fmt.Sprintf(
				"it has no primary key and no UNIQUE key of NOT NULL columns, so its %d rows would have to be copied in one transaction, and at most %d are: "+
					"give it a key of columns that differ between the worlds (a new column that counts from 1 in each would collide at once), let it stay behind, or raise -max-keyless", n, most)})
		}
	}
}
