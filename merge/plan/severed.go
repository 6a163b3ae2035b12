package plan

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// RowsWithheld are the rows of all worlds but the first that do not come.
func (p *Plan) RowsWithheld() (all []catalog.Withheld) {
	for i := range p.Severed {
		if p.Severed[i].Gone == rules.GoneDrop {
			all = append(all, &p.Severed[i])
		}
	}
	if p.Rekey == nil {
		return all
	}
	for _, c := range p.Rekey.Columns {
		if space := p.Rekey.Space(c.Cases[0].Space); c.Key && space.Keep != "" {
			all = append(all, &rules.KeptRows{Table: c.Table, Column: c.Column, Keys: space.Keep})
		}
	}
	return all
}

// Withheld are the conditions for the rows of the sources that do not come, by table.
func (p *Plan) Withheld(d world.Dialect) map[string]string {
	conditions := make(map[string][]string)
	for _, rows := range p.RowsWithheld() {
		conditions[rows.Of()] = append(conditions[rows.Of()], rows.SQL(d.Quote))
	}
	all := make(map[string]string)
	for table, of := range conditions {
		all[table] = strings.Join(of, " OR ")
	}
	return all
}

// validateSevered returns an error unless the plan can be carried out.
func (p *Plan) validateSevered() error {
	for _, s := range p.Severed {
		t := p.Table(s.Table)
		if t == nil {
			continue // none of its rows comes
		}
		_, err := keys.ParseValues(s.None)
		texts := s.Partly && p.Leaving != nil && slices.ContainsFunc(p.Leaving.Stays, func(of Stays) bool {
			return of.Stays != nil && of.Table == s.To && of.Kinds != ""
		})
		if err == nil && s.Becomes != nil && !texts {
			if _, ok := keys.ParseInteger([]byte(*s.Becomes)); !ok {
				err = fmt.Errorf("%.40q is not an integer", *s.Becomes)
			}
		}
		if err == nil && s.Format != "" {
			err = validateFormat(&s, t.Columns)
		}
		if err != nil || !slices.Contains(t.Columns, s.Column) || s.When != nil && !slices.Contains(t.Columns, s.When.Column) {
			return fmt.Errorf("merge: the plan contradicts itself in the new values of %s.%s: %w", s.Table, s.Column, err)
		}
	}
	return nil
}

// validateFormat returns an error unless keys in cells of a table with these columns can be cleared.
func validateFormat(s *rules.Severed, columns []string) error {
	cells, err := keys.ParseRow(s.Format, s.Column, nil)
	lacks := func(name string) bool { return !slices.Contains(columns, name) }
	if err == nil && (!s.Partly || s.Becomes == nil || slices.ContainsFunc(cells.Columns(), lacks)) {
		err = fmt.Errorf("the keys of %q cannot be cleared", s.Format)
	}
	return err
}
