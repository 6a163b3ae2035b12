package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// tryNames tries the rows that get new names against what the new database wants of a
// row, with the new names: the check tried them with the old ones.
func tryNames(ctx context.Context, p *renaming) error {
	for i := range p.Plan.Tables {
		of := p.DBs[0].Table(p.Plan.Tables[i].Name)
		for _, c := range of.Conditions {
			if c.Off || c.Kind == catalog.ConditionSize {
				continue
			}
			for _, s := range p.DBs {
				if err := p.tryNamesOf(ctx, s, of, c); err != nil {
					return err
				}
			}
			for _, copied := range p.Plan.Copies {
				if copied.Table == of.Name && slices.Contains(c.Columns, copied.Column) && p.renamesAny(copied.OfTable, copied.OfColumn) {
					p.Refuse(plan.Refusal{Place: plan.PlaceValues, Table: of.Name, Code: verdict.CodeRefusedCheck, Reason: fmt.Sprintf("%s reads the column %s, which is renamed with %s.%s, and the new names cannot be tested against it: drop it during the merge",
						ConditionName(c), copied.Column, copied.OfTable, copied.OfColumn)})
				}
			}
		}
	}
	return nil
}

func (p *renaming) renamesAny(table, column string) bool {
	return slices.ContainsFunc(p.Plan.Renames, func(r plan.Rename) bool { return r.Table == table && r.Column == column })
}

// tryNamesOf tries the rows of one database that get new names against one
// condition.
func (p *renaming) tryNamesOf(ctx context.Context, s *world.World, of *catalog.Table, c catalog.Condition) error {
	byKey := make(map[string]map[string]string) // new values by key and column
	var keys []string
	for _, r := range p.Plan.Renames {
		if r.Source != s.Name() || r.Table != of.Name || !slices.Contains(c.Columns, r.Column) {
			continue
		}
		if byKey[r.Key] == nil {
			byKey[r.Key] = make(map[string]string)
			keys = append(keys, r.Key)
		}
		byKey[r.Key][r.Column] = r.New
	}
	if len(keys) == 0 {
		return nil
	}
	refuse := func(format string, args ...any) {
		p.Refuse(plan.Refusal{Place: plan.PlaceValues, Source: s.Name(), Table: of.Name, Code: verdict.CodeRefusedCheck, Reason: fmt.Sprintf(format, args...)})
	}
	if c.Unclear != "" {
		refuse("the new names cannot be tested against %s: %s", ConditionName(c), c.Unclear)
		return nil
	}
	const atOnce = 100
	var failed []string
	for chunk := range slices.Chunk(keys, atOnce) {
		query, args, err := renamedRows(p.DBs[0].Dialect, of, c, chunk, byKey)
		if err != nil {
			return err
		}
		err = s.On.Rows(ctx, query, false, args, func(row []any) (bool, error) {
			failed = append(failed, world.Text(row[0]))
			return true, nil
		})
		if sqldb.Says(err, sqldb.NeverEvaluates) {
			refuse("the new names cannot be tested against %s: %v", ConditionName(c), err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("table %q of %q: %w", of.Name, s.Name(), err)
		}
	}
	if len(failed) > 0 {
		refuse("%d of the rows that get new names would be refused by %s, for example %q: choose another template or other values to set", len(failed), ConditionName(c), failed[0])
	}
	return nil
}

// renamedRows is the query for those rows with these keys that fail a condition
// with their new values: it returns one of the new values of each.
func renamedRows(d world.Dialect, of *catalog.Table, c catalog.Condition, keys []string, fresh map[string]map[string]string) (query string, args []any, err error) {
	l := world.NewLayout(d, of)
	var rows []string
	for _, key := range keys {
		shown := ""
		var selected []string
		for _, name := range c.Columns {
			value, renamed := fresh[key][name]
			if !renamed {
				selected = append(selected, d.Quote(name))
				continue
			}
			selected = append(selected, Given(d, of.Column(name))+" AS "+d.Quote(name))
			args = append(args, value)
			if of.Column(name).Kind != catalog.KindInteger || shown == "" {
				shown = value
			}
		}
		values, err := world.DecodeKey(key)
		if err != nil {
			return "", nil, err
		}
		rows = append(rows, "SELECT "+strings.Join(selected, ", ")+", "+shownExpression(d)+" AS mergesafe_shown FROM "+d.Quote(of.Name)+" WHERE "+l.Equal(1))
		args = append(append(args, shown), l.Bound(values)...)
	}
	return "SELECT mergesafe_shown FROM (" + strings.Join(rows, " UNION ALL ") + ") AS r WHERE NOT (" + c.Text + ")", args, nil
}

// shownExpression is an argument as a text.
func shownExpression(d world.Dialect) string {
	if d.MySQL() {
		return "CONVERT(? USING utf8mb4)"
	}
	return "CAST(? AS TEXT)"
}
