package change

import (
	"context"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/plan"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// keysTogether refuses databases in which other rows are the same thing than when the plan was made.
func keysTogether(ctx context.Context, f *Flight) error {
	if f.Hooks.Blind || f.Plan.Rekey == nil || !slices.ContainsFunc(f.Plan.Rekey.Spaces, func(s verdict.RekeyedSpace) bool { return s.By != nil }) {
		return nil
	}
	var all []catalog.Source
	for i, c := range f.Worlds {
		s, err := world.OpenWorld(ctx, c.Database)
		if err != nil {
			return err
		}
		defer s.Close()
		if i > 0 {
			s.Withhold(f.Plan.RowsWithheld())
		}
		all = append(all, s)
	}
	now, err := check.Matches(ctx, all, f.Plan.Rekey)
	if err != nil {
		return err
	}
	for i := range f.Plan.Rekey.Spaces {
		s := &f.Plan.Rekey.Spaces[i]
		if s.By == nil {
			continue
		}
		if twice := now[s.Name].Twice; len(twice) > 0 {
			f.Changed(f.Plan.Worlds[0].Name, s.By.Table, "values of %s now occur more than once, as that world compares: %s", s.By, strings.Join(twice, "; "))
		}
		for _, of := range s.Worlds {
			if found := now[s.Name].Pairs[of.World]; !found.Equal(of.Matched) {
				f.Changed(of.World, s.By.Table, "%s of the space %s by %s, but the plan was made for %s, or for different ones: %s", printable.Count(int64(found.Len()), "key is matched", "keys are matched"),
					s.Name, s.By, printable.Count(int64(of.Matched.Len()), "was", "were"), plan.FirstDifference(of.Matched, found))
			}
		}
	}
	return nil
}
