package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// PlanOptions configures [planner.NewPlan]. The zero value means the defaults.
type PlanOptions struct {
	// Check configures the check that the plan rests on. [planner.NewPlan] sets Renames and Copies.
	// Results that Allow names may be NOT VERIFIED, and some may FAIL: none by which rows are lost or mixed up.
	Check rules.Options

	// Names say how to change values that have to be unique and are not. Without a
	// policy, such a value is a refusal.
	Names []plan.NamePolicy

	// Copies are columns that repeat a column of Names elsewhere.
	Copies []plan.NameCopy

	// Free, if not nil, says how many bytes are left where a database is, or would be made; known is false if it does
	// not know.
	Free func(ctx context.Context, d world.Database) (bytes int64, known bool)

	// Report, if not nil, is called with the report of the check that the plan rests
	// on, with the samples that Check asks for.
	Report func(*verdict.Report)

	// Progress, if not nil, is called with the state of the reading. Several goroutines
	// may call it at a time.
	Progress func(job.Progress)

	RangeRows int64 // how many rows a range has at least; only tests choose it
}

// Planning is a plan in the making.
type Planning struct {
	Opts *PlanOptions
	Plan *plan.Plan
	DBs  []*world.World              // the worlds
	Rows map[string]map[string]int64 // by database and table, as counted by the check

	Report   *verdict.Report // of the check
	Same     map[string]bool // tables that the check proved to be the same in all
	Resolved *rules.Resolved // what the options say of the databases
}

// Refuse notes a reason that blocks the merge.
func (p *Planning) Refuse(r plan.Refusal) { p.Plan.Refusals = append(p.Plan.Refusals, r) }

// RefuseValues does so for values in a table of the new database that the merge makes itself.
func (p *Planning) RefuseValues(table, format string, args ...any) {
	p.Refuse(plan.Refusal{Place: plan.PlaceValues, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// history names the tool whose history of migrations a table is in every database
// that has it, as the check sees it; "" if it is none.
func (p *Planning) History(table string) (tool string) {
	for _, s := range p.DBs {
		if t := s.Table(table); t != nil {
			if tool = t.History(); tool == "" {
				return ""
			}
		}
	}
	return tool
}

// RefuseOutside refuses tables of the first world whose engine has no transactions, and
// lists the statements that give them one that has.
func (p *Planning) RefuseOutside(ctx context.Context, chosen []*catalog.Table) error {
	var engines []string
	n := 0
	for _, t := range chosen {
		if t.Outside == "" {
			continue
		}
		n++
		if !slices.Contains(engines, t.Engine) {
			engines = append(engines, t.Engine)
		}
		statement, err := p.toInnoDB(ctx, t)
		if err != nil {
			return err
		}
		p.Plan.Prepare = append(p.Plan.Prepare, statement)
	}
	if n > 0 {
		p.Refuse(plan.Refusal{Place: plan.PlaceEngine, Source: p.Plan.Worlds[0].Name, Reason: fmt.Sprintf(
			"the engine of %s (%s) has no transactions, so a merge that is interrupted could not be resumed or undone: run the ALTER TABLE statements of this plan, then plan again",
			printable.Count(int64(n), "table", "tables"), strings.Join(engines, ", "))})
	}
	return nil
}

// toInnoDB is the statement that gives a table an engine with transactions. Options of the old
// engine that InnoDB refuses, or takes for something else, go.
func (p *Planning) toInnoDB(ctx context.Context, t *catalog.Table) (string, error) {
	d, made := p.DBs[0].Dialect, ""
	err := p.DBs[0].On.Rows(ctx, "SHOW CREATE TABLE "+d.Quote(t.Name), false, nil, func(row []any) (bool, error) {
		made = world.Text(row[1])
		return true, nil
	})
	if err != nil {
		return "", fmt.Errorf("table %q of %q: %w", t.Name, p.Plan.Worlds[0].Name, err)
	}
	statement := "ALTER TABLE " + d.Quote(t.Name) + " ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0"
	leads := func(column string) bool { // a key
		return slices.ContainsFunc(strings.Split(made, "\n"), func(line string) bool {
			return strings.Contains(line, "KEY ") && strings.Contains(line, " ("+d.Quote(column))
		})
	}
	if c := t.AutoIncrement; c != nil && !leads(c.Column) {
		statement += ", ADD KEY (" + d.Quote(c.Column) + ")"
		p.Refuse(plan.Refusal{Place: plan.PlaceEngine, Source: p.Plan.Worlds[0].Name, Table: t.Name, Reason: fmt.Sprintf(
			"its column %s counts anew for each value of the columns before it in the key, as only %s does: "+
				"after the ALTER TABLE of this plan it counts through the whole table; "+
				"if the game needs the numbers as they are now, leave the table out of the merge", c.Column, t.Engine)})
	}
	if p.Plan.Engine == "mariadb" && strings.Contains(made, " DIRECTORY='") {
		// InnoDB takes no other directory for indexes, and no ALTER TABLE takes the option off.
		statement = "SET STATEMENT innodb_strict_mode=OFF FOR " + statement
	}
	return statement + ";", nil
}
