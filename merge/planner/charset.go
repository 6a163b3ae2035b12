package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// sentWhole begin the collations of character sets of which every code comes back from utf8mb4 as it was.
var sentWhole = []string{"utf8mb4", "utf8mb3", "utf8", "latin1", "uca1400"}

// refuseUnsent refuses the rows to be copied, or found to be the same, that have text which utf8mb4,
// in which rows are sent, does not give back: a backslash of sjis, or a byte that is no character of
// cp1251. No proof would show it, since its sums are made of what was sent.
func refuseUnsent(ctx context.Context, p *Planner) error {
	for i := range p.DBs[0].Known.Tables {
		name := p.DBs[0].Known.Tables[i].Name
		var from []*world.World
		switch t := p.Plan.Table(name); {
		case t == nil:
		case !t.Only || p.Same[name]:
			from = p.DBs
		default:
			from = p.DBs[:1]
		}
		for _, s := range from {
			if t := s.Table(name); t != nil {
				if err := p.refuseUnsentIn(ctx, s, t); err != nil {
					return fmt.Errorf("database %q: reading the text of table %q: %w", s.Name(), name, err)
				}
			}
		}
	}
	return nil
}

// unsent is the condition for the values of a column that utf8mb4 does not give back; "" if there
// can be none. What a server cannot convert, it may make NULL.
func unsent(d world.Dialect, c *catalog.Column) string {
	charset, _, isText := strings.Cut(c.Collation, "_")
	if !d.MySQL() || !isText || c.Generated != "" || slices.Contains(sentWhole, charset) {
		return ""
	}
	back := fmt.Sprintf("CONVERT(CONVERT(%s USING utf8mb4) USING %s)", d.Quote(c.Name), charset)
	return "NOT (CAST(" + d.Quote(c.Name) + " AS BINARY) <=> CAST(" + back + " AS BINARY))"
}

// refuseUnsentIn does that for one table of one database, which is read once.
func (p *Planner) refuseUnsentIn(ctx context.Context, s *world.World, t *catalog.Table) error {
	var columns []*catalog.Column
	var counts []string
	for i := range t.Columns {
		if condition := unsent(s.Dialect, &t.Columns[i]); condition != "" {
			columns, counts = append(columns, &t.Columns[i]), append(counts, "COUNT(IF("+condition+", 1, NULL))")
		}
	}
	if len(columns) == 0 {
		return nil
	}
	lost, from := make([]int64, len(columns)), " FROM "+s.Dialect.Quote(t.Name)+world.Where(s.On.Comes(t.Name))
	err := s.On.Rows(ctx, "SELECT "+strings.Join(counts, ", ")+from, false, nil, func(row []any) (_ bool, err error) {
		for i := 0; i < len(lost) && err == nil; i++ {
			lost[i], err = world.IntIn(row[i], "a number of rows")
		}
		return true, err
	})
	for i := 0; i < len(lost) && err == nil; i++ {
		if lost[i] > 0 {
			err = p.refuseUnsentColumn(ctx, s, t, columns[i], lost[i])
		}
	}
	return err
}

func (p *Planner) refuseUnsentColumn(ctx context.Context, s *world.World, t *catalog.Table, c *catalog.Column,
	lost int64) (err error) {
	those, such := " FROM "+s.Dialect.Quote(t.Name)+world.Where(s.On.Comes(t.Name), unsent(s.Dialect, c)), ""
	if l := world.NewLayout(s.Dialect, t).KeysOnly(); !l.Multiset() {
		query := "SELECT " + strings.Join(l.Reads, ", ") + those + " LIMIT 1"
		err = s.On.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
			l.Tidy(row)
			such = ", such as row " + l.KeyText(row)
			return true, nil
		})
	}
	charset, _, _ := strings.Cut(c.Collation, "_")
	p.refuse(plan.Refusal{Place: plan.PlaceEngine, Source: s.Name(), Table: t.Name, Reason: fmt.Sprintf(
		"the column %q has text in %s that would change, because rows are sent in utf8mb4, in %s%s: "+
			"correct the values that SELECT *%s finds", c.Name, charset, record.CountRows(lost), such, those)})
	return err
}
