package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer"
)

// leaving writes which rows stay behind, why, and how many come.
func (t *text) leaving(p *transfer.Plan) {
	if p.Leaving == nil {
		return
	}
	t.section("Rows that stay behind, by table, world and reason:")
	for _, s := range p.Leaving.Stays {
		if s.Rows() == 0 {
			continue
		}
		come := int64(0)
		if of := p.Table(s.Table); of != nil {
			at := slices.IndexFunc(p.Worlds(), func(w transfer.World) bool { return w.Name == s.Source })
			come = of.In(at).Rows
		}
		t.line(2, fmt.Sprintf("%s of %s: %s, and %s", printable.Text(s.Table), printable.Text(s.Source),
			stay(s.Rows()), printable.Count(come, "row comes", "rows come")))
		for _, r := range s.Why {
			t.line(4, printable.Text(r.Why)+": "+printable.Number(r.Rows))
		}
	}
	for _, l := range p.Leaving.Says {
		for _, w := range l.Worlds {
			if w.Nulls > 0 {
				t.line(2, fmt.Sprintf("%s of %s: the condition is NULL for %s, which %s: %s", printable.Text(l.Table),
					printable.Text(w.Source),
					printable.Count(w.Nulls, "row", "rows"), map[bool]string{true: "comes", false: "come"}[w.Nulls == 1],
					printable.Text(l.Where)))
			}
		}
	}
}

func stay(rows int64) string { return printable.Count(rows, "row stays behind", "rows stay behind") }

// LeftRow is a row that stays behind by a plan.
type LeftRow struct {
	World string `json:"world"`
	Table string `json:"table"`
	Key   string `json:"key"`
	Why   string `json:"why"`
}

// EachLeft calls use for each row that stays behind, of tables with a key of integers: of others the plan knows only
// to which rows they refer.
func EachLeft(p *transfer.Plan, use func(LeftRow) error) error {
	if p.Leaving == nil {
		return nil
	}
	for _, s := range p.Leaving.Stays {
		for _, r := range s.Why {
			if r.Keys == nil {
				continue
			}
			for n := range r.Keys.All() {
				if err := use(LeftRow{s.Source, s.Table, n.String(), r.Why}); err != nil {
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
	rows := int64(0)
	if p.Leaving != nil {
		for _, s := range p.Leaving.Stays {
			rows += s.Rows()
		}
	}
	t.line(0, stay(rows))
	t.leaving(p)
	return t.to(w)
}

// WriteLeftCSV writes the rows that stay behind as CSV, with a line of headings: use it for a page where players look
// up whether they come.
func WriteLeftCSV(w io.Writer, p *transfer.Plan) error {
	c := csv.NewWriter(w)
	c.Write([]string{"world", "table", "key", "why"})
	err := EachLeft(p, func(r LeftRow) error { return c.Write([]string{r.World, r.Table, r.Key, r.Why}) })
	c.Flush()
	if err == nil {
		err = c.Error()
	}
	return err
}

// WriteStayed says that a row stayed behind.
func WriteStayed(w io.Writer, o TextOptions, s *transfer.Stayed) error {
	t := newText(o)
	t.line(0, fmt.Sprintf("%s %s of %s stayed behind: %s  (merge %s)", printable.Text(s.Table), s.Key,
		printable.Text(s.Source), printable.Text(s.Why), s.Merge))
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
	if err := EachLeft(p, func(r LeftRow) error { all.Rows = append(all.Rows, r); return nil }); err != nil {
		return err
	}
	return writeJSON(w, all, false)
}
