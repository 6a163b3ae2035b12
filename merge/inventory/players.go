package inventory

import (
	"context"
	"fmt"

	"mergesafe/merge/world"
)

// playersOf counts the players of a world; nil if it is not known which table has them.
func playersOf(ctx context.Context, source *world.Source, o Options) (*Players, error) {
	if o.Players == "" {
		return nil, nil
	}
	a, err := source.Activity(ctx, o.Players, o.Active, o.Now)
	if err != nil {
		return nil, err
	}
	p := &Players{Total: a.Rows}
	for day, n := range a.Days {
		p.Active30 += n
		if day < 7 {
			p.Active7 += n
		}
		if day < 1 {
			p.Active1 += n
		}
		p.Peak = max(p.Peak, n)
	}
	if a.Odd > 0 && p.Active30+a.Before == 0 { // such as seconds of play
		return nil, fmt.Errorf("%s.%s does not hold times: none of its %d values is between 1990 and now", o.Players, o.Active, a.Odd)
	}
	return p, nil
}
