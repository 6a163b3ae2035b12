package campaign

import (
	"context"
	"slices"
	"strings"

	"mergesafe/merge"
	"mergesafe/merge/report"
)

// Who says which table has a row for each player, and its column with the name.
type Who struct{ Table, Column string }

// EachFate calls each with what becomes of rows in every merge, in the order of the campaign: of every row of the table that who
// names, see [merge.EachFateOf]; or, if who is the zero value, from the plans alone, see [merge.EachFate].
//
// Merges that were skipped, refused, or undone, and those without a plan, are left out, and
// returned.
func (b *Book) EachFate(ctx context.Context, o Options, who Who, each func(merge.Fate) error) (left []string, err error) {
	merges, left, err := b.announced(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range merges {
		plan, err := b.readPlan(m.Name())
		if err != nil {
			return nil, err
		}
		switch {
		case plan == nil:
			left = append(left, m.Name())
		case who == Who{}:
			err = merge.EachFate(plan, each)
		default:
			err = o.eachFateOf(ctx, plan, m, who, each)
		}
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

func (o Options) eachFateOf(ctx context.Context, plan *merge.Plan, m *record, who Who, each func(merge.Fate) error) error {
	all, err := o.databasesOf(m.Worlds)
	if err != nil {
		return err
	}
	codecs, stop, err := o.codecsOf(ctx, plan)
	if err != nil {
		return err
	}
	defer stop()
	return merge.EachFateOf(ctx, plan, all, who.Table, who.Column, codecs, each)
}

// LaterMerges says of the merges with these names, or of all, what [report.LaterMerge] says of each that was opened.
func (b *Book) LaterMerges(ctx context.Context, names []string) (all []string, err error) {
	err = b.look(ctx, func(ctx context.Context, s state) error {
		all = nil
		for _, m := range b.campaign.Merges {
			if len(names) > 0 && !slices.Contains(names, m.Name()) {
				continue
			}
			rec, err := s.merge(ctx, m)
			if err != nil {
				return err
			}
			plan, err := b.readPlan(m.Name())
			if err != nil || plan == nil || !rec.Open {
				continue // whose undo says why
			}
			if unknown := report.LaterMerge(plan, merge.StateOpen); unknown != "" {
				all = append(all, unknown)
			}
		}
		return nil
	})
	return all, err
}

// announced are the merges that players are told of, and the names of the others.
func (b *Book) announced(ctx context.Context) (merges []*record, left []string, err error) {
	err = b.look(ctx, func(ctx context.Context, s state) error {
		merges, left = nil, nil
		for _, m := range b.campaign.Merges {
			r, err := s.merge(ctx, m)
			if err != nil {
				return err
			}
			switch r.Phase {
			case Skipped, Refused, Undone, Undoing:
				left = append(left, m.Name())
			default:
				merges = append(merges, r)
			}
		}
		return nil
	})
	return merges, left, err
}

// renames are the players of a merge whose names change, by the old name as people write it.
type renames struct {
	plan   string // its ID
	who    Who
	byName map[string][]merge.Fate
}

// Players answers where a player of a world is now. If the name changed, it says so; if not,
// it is the name that was asked for: whether there is such a player is not checked, and no
// database is read. An empty world finds all players who had that name and have another one
// now. The answer is empty if the campaign does not concern them.
func (b *Book) Players(ctx context.Context, who Who, world, name string) ([]merge.Fate, error) {
	merges, _, err := b.announced(ctx)
	if err != nil {
		return nil, err
	}
	var found []merge.Fate
	for _, m := range merges {
		if world != "" && !slices.Contains(m.Worlds, world) {
			continue
		}
		all, err := b.renamesOf(m, who)
		if err != nil {
			return nil, err
		}
		n := len(found)
		for _, p := range all[asWritten(name)] {
			if world == "" || p.OldWorld == world {
				found = append(found, p)
			}
		}
		if world != "" && len(found) == n {
			found = append(found, merge.Fate{OldWorld: world, NewWorld: m.Name(), OldName: name, NewName: name})
		}
	}
	return found, nil
}

// asWritten is a name without what people get wrong.
func asWritten(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// renamesOf are the players of a merge whose names change. A plan is read again if the state
// has another one.
func (b *Book) renamesOf(m *record, who Who) (map[string][]merge.Fate, error) {
	if m.Plan == "" {
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.renamed[m.Name()]; k.plan == m.Plan && k.who == who {
		return k.byName, nil
	}
	plan, err := b.readPlan(m.Name())
	if err != nil || plan == nil {
		return nil, err
	}
	all := make(map[string][]merge.Fate)
	_ = merge.EachFate(plan, func(f merge.Fate) error {
		if f.Stays == "" && (who == Who{} || who == Who{f.Table, f.Column}) {
			all[asWritten(f.OldName)] = append(all[asWritten(f.OldName)], f)
		}
		return nil
	})
	b.renamed[m.Name()] = renames{m.Plan, who, all}
	return all, nil
}
