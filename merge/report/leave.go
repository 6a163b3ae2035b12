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

// staying writes which rows stay behind, why, and how many come.
func (t *text) staying(s *verdict.Staying) {
	if s == nil {
		return
	}
	t.section("Rows that stay behind, by table, world and reason:")
	if len(s.Tables) == 0 {
		t.line(2, "none")
	}
	t.some(len(s.Tables), shownTables, andMore, func(i int) {
		of := s.Tables[i]
		why, come := "", printable.Count(of.Come, "row comes", "rows come")
		if len(of.Why) == 1 {
			why = suchAs(of.Why[0].SuchAs) + " (" + printable.Text(of.Why[0].Why) + took(of.Why[0].Took) + ")"
		}
		t.line(2, fmt.Sprintf("%s of %s: %s%s, and %s", printable.Text(of.Table), printable.Text(of.World), stay(of.Stay),
			why, come))
		for _, why := range of.Why {
			if len(of.Why) > 1 {
				t.line(4, printable.Text(why.Why)+": "+printable.Number(why.Rows)+suchAs(why.SuchAs)+took(why.Took))
			}
		}
		for _, sum := range of.Sums {
			t.line(4, printable.Text(sum.Column)+" in sum: "+digits(sum.Stay)+" stays behind, and "+digits(sum.Come)+" comes")
		}
	})
	t.list("Rows that come, and nearly stayed behind:", len(s.Close), len(s.Close), func(i int) string {
		c := &s.Close[i]
		rows := printable.Count(c.Rows, "row", "rows")
		return fmt.Sprintf("%s of %s: %s%s: %s", c.Table, c.World, rows, suchAs(c.SuchAs), c.Why)
	})
	t.list("Rows that most others follow:", len(s.Cascades), len(s.Cascades), func(i int) string {
		c := s.Cascades[i]
		return fmt.Sprintf("%s %s of %s (%s): %s", c.Table, c.Key, c.World, c.Why, followers(c))
	})
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
	return fmt.Sprintf("%s has judged for %s: %.60s", world, took.Round(time.Second), condition)
}

// took says how long a condition took.
func took(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return "; the server took " + printable.Seconds(seconds)
}

// digits is a whole number of any size, with commas.
func digits(s string) string {
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return printable.Text(s)
}

func stay(rows int64) string { return printable.Count(rows, "row stays behind", "rows stay behind") }
