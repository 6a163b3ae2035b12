package transfer

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge"
	"mergesafe/merge/rekey"
)

// severs reports whether it is said what becomes of the rows of a table that refer to those
// of another, which stay behind.
func (p *Plan) severs(table, to string) bool {
	return slices.ContainsFunc(p.Severed, func(s merge.Severed) bool { return s.Table == table && s.To == to })
}

// rowsWithheld are the rows of the sources that do not come.
func (p *Plan) rowsWithheld() (all []merge.Withheld) {
	for i := range p.Severed {
		if p.Severed[i].Rows == merge.RowsDrop {
			all = append(all, &p.Severed[i])
		}
	}
	for i := range p.LeftRows {
		all = append(all, &p.LeftRows[i])
	}
	if p.Rekey == nil {
		return all
	}
	for _, c := range p.Rekey.Columns {
		if space := p.Rekey.Space(c.Cases[0].Space); c.Key && space.Keep != "" {
			all = append(all, &merge.KeptRows{Table: c.Table, Column: c.Column, Keys: space.Keep})
		}
	}
	return all
}

// stayingBehind are the tables of which it is said what becomes of rows that refer there,
// for a check of the merged target.
func (p *Plan) stayingBehind() (all []merge.TablePolicy) {
	for _, s := range p.Severed {
		if s.Left != nil {
			continue // others of its rows came
		}
		all = append(all, merge.TablePolicy{Tables: []string{merge.Name(s.To)}, Policy: merge.PolicySkip, Rows: s.Rows})
	}
	return all
}

// withheld are the conditions for the rows of the sources that do not come, by table.
func (p *Plan) withheld(d dialect) map[string]string {
	conditions := make(map[string][]string)
	for _, rows := range p.rowsWithheld() {
		conditions[rows.Of()] = append(conditions[rows.Of()], rows.SQL(d.Quote))
	}
	all := make(map[string]string)
	for table, of := range conditions {
		all[table] = strings.Join(of, " OR ")
	}
	return all
}

// comes is the condition for the rows of a table that take part in the merge; "" if all do.
func (c *connection) comes(table string) string {
	if out := c.withheld[table]; out != "" {
		return "NOT (" + out + ")"
	}
	return ""
}

// inPlace returns what changes the rows of a table of a source beside its keys; nil if
// nothing does.
func (c *changes) inPlace(source string, l *layout) changer {
	rename, cuts := c.renamer.of(source, l), c.cuts(l)
	if len(cuts) == 0 || source == c.target {
		return rename
	}
	return func(row []any) (changed bool, err error) {
		for i := range cuts { // by the row as it is: what names change are not integers
			if cuts[i].refers(row) {
				row[cuts[i].column], changed = cuts[i].nobody, true
			}
		}
		if rename == nil {
			return changed, nil
		}
		renamed, err := rename(row)
		return changed || renamed, err
	}
}

// cut is a column of which values that refer to what stays behind become nobody's.
type cut struct {
	column int
	none   rekey.Values
	when   *merge.When
	on     int // the column of the condition
	nobody any
}

func (c *changes) cuts(l *layout) (all []cut) {
	for _, s := range c.severed {
		if s.Table != l.table || s.Rows != merge.RowsNone {
			continue
		}
		none, err := rekey.ParseValues(s.Zero, s.None)
		if err != nil {
			panic(err) // the plan was validated
		}
		one := cut{column: slices.Index(l.columns, s.Column), none: none, when: s.When}
		if s.When != nil {
			one.on = slices.Index(l.columns, s.When.Column)
		}
		if s.Becomes != nil {
			n, _ := rekey.ParseInteger([]byte(*s.Becomes))
			one.nobody, _ = as(int64(0), n)
		}
		all = append(all, one)
	}
	return all
}

func (c *cut) refers(row []any) bool {
	value := printed(row[c.column])
	return value != nil && !c.none.Has(value) && (c.when == nil || c.when.Holds(printed(row[c.on])))
}

// validateSevered returns an error unless the plan can be carried out.
func (p *Plan) validateSevered() error {
	for _, l := range p.LeftRows {
		if t := p.table(l.Table); l.When.Validate() != nil || l.When == nil || t != nil && !slices.Contains(t.Columns, l.When.Column) {
			return fmt.Errorf("transfer: the plan contradicts itself in the rows of %s that stay behind", l.Table)
		}
	}
	for _, s := range p.Severed {
		t := p.table(s.Table)
		if t == nil {
			continue // none of its rows comes
		}
		_, err := rekey.ParseValues(s.Zero, s.None)
		if err == nil && s.Becomes != nil {
			if _, ok := rekey.ParseInteger([]byte(*s.Becomes)); !ok {
				err = fmt.Errorf("%.40q is not an integer", *s.Becomes)
			}
		}
		if err != nil || !slices.Contains(t.Columns, s.Column) || s.When != nil && !slices.Contains(t.Columns, s.When.Column) {
			return fmt.Errorf("transfer: the plan contradicts itself in the new values of %s.%s: %w", s.Table, s.Column, err)
		}
	}
	return nil
}
