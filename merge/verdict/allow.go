package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
)

// Allowance is one entry of [rules.Options.Allow].
type Allowance struct {
	text, code    string
	table, column *rules.NamePattern // nil: any
}

// AllowIn is the entry of [rules.Options.Allow] that allows a code in one table.
func AllowIn(code, table string) string {
	return code + ":" + catalog.SQLName(table)
}

// unallowable are conflicts with which rows would be lost or mixed up, or the first world would
// refuse them.
var unallowable = []string{
	CodeWorldTwice, CodeWorldReplica, CodeServerConflict, CodeWorldCloned, CodeWorldMerged, CodeKeyCollision,
	CodeUniqueCollision, CodeReferenceRebind, CodeSchemaTable, CodeSchemaColumn,
	CodeTableDiffers, CodeKeySpace, CodeCellFormat, CodeRefusedCheck, CodeRefusedPartition, CodeRefusedValue, CodeRefusedSize,
	CodeTableUncopyable,
}

// Unallowable reports whether a conflict of this code counts, and blocks the merge, though the operator
// allows the code. What is only NOT VERIFIED can be allowed.
func Unallowable(code string) bool { return slices.Contains(unallowable, code) }

// parseAllowance reads CODE, CODE:table or CODE:table.column.
func parseAllowance(s string, all []Code) (a Allowance, err error) {
	code, place, placed := strings.Cut(s, ":")
	a = Allowance{text: s, code: code}
	i := slices.IndexFunc(all, func(c Code) bool { return c.Code == code })
	if i < 0 {
		codes := slice.Map(all, func(c Code) string { return c.Code })
		return a, rules.Unsuitable("allow: no rule has the code %q%s", code, naming.Hint(code, codes))
	}
	if placed {
		if a.table, a.column, err = rules.ParsePlace(place); err != nil {
			return a, rules.Unsuitable("allow: %q: %v: want %s:table or %s:table.column", s, err, code, code)
		}
	}
	single := a.table != nil && a.table.Exact != "" && a.column != nil && a.column.Exact != ""
	if all[i].OneColumn && !single {
		return a, rules.Unsuitable("allow: %q: %s can be allowed for single columns only: want %s:table.column without * and ranges", s, code, code)
	}
	return a, nil
}

// Allows reports whether the operator allows what a result says. A result is about
// a column only if it is about no other that is not named too.
func (a Allowance) Allows(r *Result) bool {
	if a.code != r.Code || a.table != nil && (r.Table == "" || !a.table.Match(r.Table)) {
		return false
	}
	other := func(column string) bool { return !a.column.Match(column) }
	return a.column == nil || len(r.Columns) > 0 && !slices.ContainsFunc(r.Columns, other)
}

// Resolve returns an error if nothing is there that the allowance names.
func (a Allowance) Resolve(n rules.Names) error {
	if a.table == nil {
		return nil
	}
	tables, columns := false, a.column == nil
	var near []string
	for _, table := range slices.Sorted(maps.Keys(n)) {
		if !a.table.Match(table) {
			continue
		}
		tables = true
		// Of a table that no source reads, the columns are not known.
		columns = columns || n[table] == nil
		for _, column := range slices.Sorted(maps.Keys(n[table])) {
			columns = columns || a.column.Match(column)
			near = append(near, column)
		}
	}
	switch {
	case !tables:
		return rules.Unsuitable("allow: %q: no world has a table that matches %s%s", a.text, a.table.Text, naming.Hint(a.table.Exact, slices.Sorted(maps.Keys(n))))
	case !columns:
		return rules.Unsuitable("allow: %q: no such table has a column that matches %s%s", a.text, a.column.Text, naming.Hint(a.column.Exact, near))
	}
	return nil
}

// Allowances reads all entries.
func Allowances(o rules.Options) (all []Allowance, err error) {
	codes := Codes()
	for _, s := range o.Allow {
		a, err := parseAllowance(s, codes)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// AllowedCodes counts the results of a report that the operator allows, by code:
// "51 table-skipped, 1 key-collision"; "" if there are none.
func AllowedCodes(results []Result) string {
	counts := make(map[string]int)
	for _, r := range results {
		if r.Allowed {
			counts[r.Code]++
		}
	}
	var parts []string
	for _, c := range Codes() {
		if n := counts[c.Code]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c.Code))
		}
	}
	return strings.Join(parts, ", ")
}
