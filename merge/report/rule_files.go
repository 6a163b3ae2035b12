package report

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/declare"
)

// shownColumns limits the columns, and whole tables, that a line about a file of rules
// names.
const shownColumns = 8

// ruleFileText says how far the databases have the schema that a file of rules was
// written for.
func ruleFileText(r declare.RuleFile) string {
	text := "rules of " + r.Name + ": "
	if r.Reviewed == r.Found {
		return text + "the schema is the one that they were written for (fingerprint " + r.Found + ")"
	}
	columns := func(list []string) string {
		return printable.Count(int64(len(list)), "column that the rules list is", "columns that the rules list are")
	}
	var parts []string
	if n := int64(len(r.New)); n > 0 {
		parts = append(parts, printable.Count(n, "column is", "columns are")+" new and therefore open: "+byTable(r.New))
	}
	if n := int64(len(r.Declared)); n > 0 {
		parts = append(parts, printable.Count(n, "new column is", "new columns are")+" declared otherwise: "+byTable(r.Declared))
	}
	if len(r.Gone) > 0 {
		parts = append(parts, columns(r.Gone)+" gone: "+byTable(r.Gone))
	}
	return text + strings.Join(parts, "; ") + fmt.Sprintf(" (fingerprint %s, written for %s)", r.Found, r.Reviewed)
}

// byTable writes columns, those of one table together: "chars.level, tents (3 columns)".
func byTable(columns []string) string {
	type group struct {
		table   string
		columns []string
	}
	var groups []group
	for _, c := range columns {
		table := c[:strings.LastIndex(c, ".")]
		if strings.HasSuffix(c, "`") { // a column with a dot
			table = c[:strings.LastIndex(c[:len(c)-1], ".`")]
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.table == table })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{table: table})
		}
		groups[i].columns = append(groups[i].columns, c)
	}
	var parts []string
	for _, g := range groups {
		if len(g.columns) > 2 {
			parts = append(parts, fmt.Sprintf("%s (%s)", g.table, printable.Count(int64(len(g.columns)), "column", "columns")))
		} else {
			parts = append(parts, g.columns...)
		}
	}
	return printable.List(parts, ", ", shownColumns)
}

// RuleFiles are the lines about files of rules.
func (c *Check) RuleFiles() (lines []string) {
	return slice.Map(c.Report.RuleFiles, ruleFileText)
}

// ruleFiles writes a line for each file of rules that says what it was written for.
func (t *text) ruleFiles(all []declare.RuleFile) {
	for _, r := range all {
		t.wrapped(2, "", ruleFileText(r))
	}
}
