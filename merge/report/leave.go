package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// staying is what is shown of the rows that stay behind by a plan; nil if none may.
func staying(p *transfer.Plan) *verdict.Staying {
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

// LeftRow is a row that stays behind by a plan.
type LeftRow struct {
	World string `json:"world"`
	Table string `json:"table"`
	Key   string `json:"key"`
	Why   string `json:"why"`
}

// eachLeft calls use for each row that stays behind, of tables that the plan knows by their keys: of others it knows only
// to which rows they refer.
func eachLeft(p *transfer.Plan, use func(LeftRow) error) error {
	if p.Leaving == nil {
		return nil
	}
	for _, s := range p.Leaving.Stays {
		for _, r := range s.Why {
			if r.Keys == nil {
				continue
			}
			for n := range r.Keys.Keys() {
				if err := use(LeftRow{s.World, s.Table, n.String(), r.Why}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// WriteLeft writes what stays behind as text.
func WriteLeft(w io.Writer, o TextOptions, p *transfer.Plan) error {
	t := newText(o)
	t.line(0, stay(p.Leaving.Rows()))
	t.staying(staying(p))
	return t.to(w)
}

// LeftNames are the names of one table, which the plan does not know: Each calls use for its rows of a world that stay.
type LeftNames struct {
	Table string
	Each  func(world string, use func(key, name, why string) error) error
}

// WriteLeftCSV writes the rows that stay behind as CSV, with a line of headings: use it for a page where players look
// up whether they come. names may be nil: then there is no column for them.
func WriteLeftCSV(w io.Writer, p *transfer.Plan, names *LeftNames) error {
	c := csv.NewWriter(w)
	write := func(line ...string) error {
		if names == nil { // which are the last column
			line = line[:len(line)-1]
		}
		return c.Write(line)
	}
	write("world", "table", "key", "why", "name")
	err := eachLeft(p, func(r LeftRow) error {
		if names != nil && r.Table == names.Table {
			return nil
		}
		return write(r.World, r.Table, r.Key, r.Why, "")
	})
	if names != nil && p.Leaving != nil {
		for _, s := range p.Leaving.Stays {
			if s.Table != names.Table || err != nil {
				continue
			}
			err = names.Each(s.World, func(key, name, why string) error {
				return write(s.World, s.Table, key, why, name)
			})
		}
	}
	c.Flush()
	return cmp.Or(err, c.Error())
}

// WritePlanned says that a row stayed behind, or what its key became.
func WritePlanned(w io.Writer, o TextOptions, s *transfer.Planned) error {
	t := newText(o)
	became := "stayed behind: " + printable.Text(s.Why)
	if s.Why == "" {
		became = fmt.Sprintf("became %s, if %[2]s had it: of such keys there is only the plan on record", printable.Text(s.Became),
			printable.Text(s.Source))
	}
	t.line(0, fmt.Sprintf("%s %s of %s %s  (merge %s)", printable.Text(s.Table), printable.Text(s.Key),
		printable.Text(s.Source), became, s.Merge))
	return t.to(w)
}

// Left are the rows that stay behind by a plan. Their JSON form is the output of servermerge left -json.
type Left struct {
	Version int       `json:"version"`
	Plan    string    `json:"plan"` // its ID
	Rows    []LeftRow `json:"rows"`
}

// WriteLeftJSON writes the rows that stay behind as JSON.
func WriteLeftJSON(w io.Writer, p *transfer.Plan) error {
	all := Left{documentVersion, p.ID, []LeftRow{}}
	if err := eachLeft(p, func(r LeftRow) error { all.Rows = append(all.Rows, r); return nil }); err != nil {
		return err
	}
	return writeJSON(w, all, false)
}
