package merge

import (
	"maps"
	"slices"

	"mergesafe/internal/printable"
)

// triggerRule reports the triggers of the target that would run for every row
// that is copied into it.
func triggerRule() rule {
	return rule{
		codes:   []string{CodeTriggerFires},
		catalog: judgeTriggers,
	}
}

func judgeTriggers(f *facts) (findings []finding) {
	var quiet int64
	for _, table := range slices.Sorted(maps.Keys(f.target.tables)) {
		r := Result{Code: CodeTriggerFires, Table: table, Read: 1, Message: "triggers would run for every row that is copied into it"}
		for _, trigger := range f.target.tables[table].Triggers {
			if trigger.On(OnInsert) {
				r.Gaps = append(r.Gaps, Gap{f.target.name, trigger.Event + " trigger " + trigger.Name + ": read what it does"})
			}
		}
		if len(r.Gaps) == 0 {
			quiet++
			continue
		}
		findings = append(findings, finding{Result: r})
	}
	r := Result{Code: CodeTriggerFires, Read: quiet, Message: "no trigger of " + printable.Count(quiet, "table", "tables") + " would run when rows are copied"}
	for _, hidden := range f.target.catalog.Hidden {
		if hidden.What == HiddenTriggers {
			r.Message = "triggers cannot be seen"
			r.Gaps = append(r.Gaps, Gap{f.target.name, hidden.String()})
		}
	}
	if quiet > 0 || len(r.Gaps) > 0 {
		findings = append(findings, finding{Result: r})
	}
	return findings
}
