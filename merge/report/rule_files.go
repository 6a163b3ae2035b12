package report

import (
	"fmt"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/rules"
)

// shownColumns limits the columns, and whole tables, that a line about a file of rules
// names.
const shownColumns = 8

// ruleFileText says how far the databases have the schema that a file of rules was
// written for.
func ruleFileText(r rules.RuleFile) string {
	text := "rules of " + r.Name + ": "
	if r.Reviewed == r.Found {
		return text + "the schema is the one for which they were written (fingerprint " + r.Found + ")"
	}
	var parts []string
	add := func(columns []string, one, many, what string) {
		if n := int64(len(columns)); n > 0 {
			parts = append(parts, printable.Count(n, one, many)+what+byTable(columns))
		}
	}
	add(r.New, "column is", "columns are", " new and therefore open: ")
	add(r.Declared, "new column is", "new columns are", " declared otherwise: ")
	add(r.Gone, "column that the rules list is", "columns that the rules list are", " gone: ")
	return text + strings.Join(parts, "; ") + fmt.Sprintf(" (fingerprint %s, written for %s)", r.Found, r.Reviewed)
}

// byTable writes columns, those of one table together: "chars.level, tents (3 columns)".
func byTable(columns []string) string {
	tableOf := func(c string) string {
		if strings.HasSuffix(c, "`") { // a column with a dot
			return c[:strings.LastIndex(c[:len(c)-1], ".`")]
		}
		return c[:strings.LastIndex(c, ".")]
	}
	var parts []string
	for table, of := range slice.Groups(columns, tableOf) {
		if len(of) > 2 {
			of = []string{fmt.Sprintf("%s (%s)", table, printable.Count(int64(len(of)), "column", "columns"))}
		}
		parts = append(parts, of...)
	}
	return printable.List(parts, ", ", shownColumns)
}

// RuleFiles are the lines about files of rules.
func (c *Check) RuleFiles() []string { return slice.Map(c.Report.RuleFiles, ruleFileText) }

// ruleFiles writes a line for each file of rules that says what it was written for.
func (t *text) ruleFiles(all []rules.RuleFile) {
	for _, r := range all {
		t.wrapped(2, "", ruleFileText(r))
	}
}
