package change

import (
	"cmp"
	"slices"

	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// Before returns the rows of the target that may have come from a source, with the keys
// that they had there, and the place of each among all.
func (c *Changes) Before(p *plan.Plan, source int, l *rowio.Layout, rows [][]any) (olds [][]any, at []int, err error) {
	moves := c.WorldsIn(p, l, plan.OfTarget).moves[source]
	for i, row := range rows {
		old, came := slices.Clone(row), true
		for k := range moves {
			olds, err := moves[k].before(nil, row)
			if err != nil {
				return nil, nil, cmp.Or(l.CodecFails(err, moves[k].Column, row), err)
			}
			put(old, olds)
			again, err := imagesOfMove(&moves[k].Move, nil, old) // as a value of the source it would have moved
			if failed := l.CodecFails(err, moves[k].Column, row); failed != nil {
				return nil, nil, failed
			}
			moved := slices.Clone(old)
			put(moved, again)
			touched := slices.Concat(olds, again)
			came = came && err == nil && !slices.ContainsFunc(touched, func(c change) bool { return !rowio.Same(moved[c.column], row[c.column]) })
		}
		if came {
			olds, at = append(olds, old), append(at, i)
		}
	}
	return olds, at, nil
}
