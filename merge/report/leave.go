package report

import (
	"fmt"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// staying is what is shown of the rows that stay behind by a plan; nil if none may.
func staying(p *merge.Plan) *verdict.Staying {
	if p.Leaving == nil {
		return nil
	}
	return p.Leaving.Shown
}

// stayingSections say which rows stay behind, why, and how many come.
func stayingSections(s *verdict.Staying) []Section {
	if s == nil {
		return nil
	}
	stays := Section{ID: "staying", Title: "Rows that stay behind", Head: []string{"table", "world", "stay", "come", "because"}}
	if len(s.Tables) == 0 {
		stays.Words = []string{"none"}
	}
	for _, of := range s.Tables {
		why := slice.Map(of.Why, func(w verdict.StayingWhy) string {
			return w.Why + ": " + printable.Number(w.Rows) + suchAs(w.SuchAs) + took(w.Took)
		})
		stays.Rows = append(stays.Rows, []string{of.Table, of.World, printable.Number(of.Stay), printable.Number(of.Come), strings.Join(why, "; ")})
		for _, sum := range of.Sums {
			stays.Items = append(stays.Items, fmt.Sprintf("sum of %s of %s of %s: %s stays behind, %s is copied", sum.Column, of.Table, of.World, digits(sum.Stay), digits(sum.Come)))
		}
	}
	return []Section{stays,
		{ID: "close", Title: "Rows that are copied but nearly stayed behind", Items: slice.Map(s.Close, func(c verdict.CloseRows) string {
			return fmt.Sprintf("%s of %s: %s%s: %s", c.Table, c.World, printable.Count(c.Rows, "row", "rows"), suchAs(c.SuchAs), c.Why)
		})},
		{ID: "cascades", Title: "Rows that take most others along", Items: slice.Map(s.Cascades, func(c verdict.Cascade) string {
			return fmt.Sprintf("%s %s of %s (%s): %s", c.Table, c.Key, c.World, c.Why, followers(c))
		})},
	}
}

// followers are the rows of a cascade: "14 rows: 11 of items, 3 of mail".
func followers(c verdict.Cascade) string {
	return printable.Count(c.Rows, "row", "rows") + ": " + printable.List(slice.Map(c.Follow,
		func(of verdict.CascadeRows) string {
			return printable.Number(of.Rows) + " of " + printable.Text(of.Table)
		}), ", ", 8)
}

// suchAs names the first of some keys.
func suchAs(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return ", such as " + printable.Text(strings.Join(keys, ", "))
}

// Judging says how long the server of a world has judged a condition.
func Judging(world, condition string, took time.Duration) string {
	return fmt.Sprintf("the database server of %s has been evaluating for %s: %.60s", world, took.Round(time.Second), condition)
}

// Again says that the rows of a table are read once more, and why.
func Again(world, table, why string) string {
	return printable.Text(fmt.Sprintf("reading the rows of %s in %s again: %s", table, world, why))
}

// took says how long a condition took.
func took(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return "; the database server took " + printable.Seconds(seconds)
}

// digits is a whole number of any size, with commas.
func digits(s string) string {
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return printable.Text(s)
}

func stay(rows int64) string { return printable.Count(rows, "row stays behind", "rows stay behind") }
