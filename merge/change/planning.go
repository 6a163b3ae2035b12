package change

import (
	"context"
	"fmt"

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

	// Elsewhere, if not nil, says why the world of a database must not come, because it continues in another one, as a
	// fleet registry knows; "" if nothing is known of that.
	Elsewhere func(ctx context.Context, d world.Database) (why string, err error)

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

	Summed map[string]map[string]*world.Content // by database and table: rows as they are, summed up while the check read them

	Report   *verdict.Report // of the check
	Same     map[string]bool // tables that the check proved to be the same in all
	Resolved *rules.Resolved // what the options say of the databases
}

// Refuse notes a reason that blocks the merge.
func (p *Planning) Refuse(r plan.Refusal) { p.Plan.Refusals = append(p.Plan.Refusals, r) }

// RefuseValues does so for values in a table of the new database that the merge makes itself.
func (p *Planning) RefuseValues(table, format string, args ...any) {
	p.RefuseIn("", table, format, args...)
}

// RefuseIn does so for values that the merge makes of those in a table of a world.
func (p *Planning) RefuseIn(world, table, format string, args ...any) {
	p.Refuse(plan.Refusal{Place: plan.PlaceValues, Source: world, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// History names the tool whose history of migrations a table is in every database
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
