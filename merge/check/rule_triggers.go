package check

import (
	"maps"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/verdict"
)

// triggerRule reports the triggers of the target that would run for every row
// that is copied into it.
var triggerRule = rule.Rule{
	Codes:   []string{verdict.CodeTriggerFires},
	Single:  true,
	Catalog: judgeTriggers,
}

func judgeTriggers(f *read.Facts) (findings []rule.Finding) {
	if f.Opts.Into {
		return []rule.Finding{{Result: verdict.Result{Code: verdict.CodeTriggerFires, Read: int64(len(f.Target.Tables)),
			Message: "triggers are made after the rows, so none runs for a row that is copied"}}}
	}
	var quiet int64
	for _, table := range slices.Sorted(maps.Keys(f.Target.Tables)) {
		r := verdict.Result{Code: verdict.CodeTriggerFires, Table: table, Read: 1, Message: "triggers would run for every row that is copied into it"}
		for _, trigger := range f.Target.Tables[table].Triggers {
			if trigger.On(catalog.OnInsert) {
				r.Gaps = append(r.Gaps, verdict.Gap{Source: f.Target.Name, Reason: trigger.Event + " trigger " + trigger.Name + ": read what it does"})
			}
		}
		if len(r.Gaps) == 0 {
			quiet++
			continue
		}
		findings = append(findings, rule.Finding{Result: r})
	}
	r := verdict.Result{Code: verdict.CodeTriggerFires, Read: quiet, Message: "no trigger of " + printable.Count(quiet, "table", "tables") + " would run when rows are copied"}
	for _, hidden := range f.Target.Catalog.Hidden {
		if hidden.What == catalog.HiddenTriggers {
			r.Message = "triggers cannot be seen"
			r.Gaps = append(r.Gaps, verdict.Gap{Source: f.Target.Name, Reason: hidden.String()})
		}
	}
	if quiet > 0 || len(r.Gaps) > 0 {
		findings = append(findings, rule.Finding{Result: r})
	}
	return findings
}
