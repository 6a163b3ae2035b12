package plan

import (
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
)

// NameKept names the tables that keep rows of the target for an undo: those of tables that are
// emptied, then those of tables that are combined. The names follow from the ID.
func (p *Plan) NameKept() {
	for i, kept := range p.kept() {
		*kept = fmt.Sprintf("%s%.8s_%d", sqldb.KeptPrefix, p.ID, i+1)
	}
}

func (p *Plan) kept() (all []*string) {
	for i := range p.Resets {
		all = append(all, &p.Resets[i].Kept)
	}
	for i := range p.Tables {
		if c := p.Tables[i].Combine; c != nil {
			all = append(all, &c.Kept)
		}
	}
	return all
}

// withoutKept is a plan without these names, which shares nothing with them.
func (p *Plan) withoutKept() *Plan {
	q := *p
	q.Resets, q.Tables = slices.Clone(p.Resets), slices.Clone(p.Tables)
	for i := range q.Tables {
		if c := q.Tables[i].Combine; c != nil {
			unnamed := *c
			q.Tables[i].Combine = &unnamed
		}
	}
	for _, kept := range q.kept() {
		*kept = ""
	}
	return &q
}

// validateKept makes sure that the tables that keep rows are named as they should.
func (p *Plan) validateKept() error {
	named := p.withoutKept()
	named.NameKept()
	if !slices.EqualFunc(named.kept(), p.kept(), func(a, b *string) bool { return *a == *b }) {
		return errors.New("transfer: the plan was changed after it was made: change the options and plan again")
	}
	return nil
}
