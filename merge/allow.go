package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/nearest"
)

// allowance is one entry of [Options.Allow].
type allowance struct {
	text, code    string
	table, column *namePattern // nil: any
}

// AllowIn is the entry of [Options.Allow] that allows a code in one table.
func AllowIn(code, table string) string {
	return code + ":" + sqlName(table)
}

// unallowable are conflicts with which rows would be lost or mixed up, or the target would
// refuse them.
var unallowable = []string{
	CodeServerConflict, CodeWorldCloned, CodeWorldMerged, CodeKeyCollision,
	CodeUniqueCollision, CodeReferenceRebind, CodeSchemaTable, CodeSchemaColumn,
	CodeTableDiffers, CodeKeySpace, CodeCellFormat, CodeTargetCheck, CodeTargetPartition, CodeTargetValue, CodeTargetSize,
}

// Unallowable reports whether a merge is not planned with a conflict of this code, though
// the operator allows it in a check.
func Unallowable(code string) bool { return slices.Contains(unallowable, code) }

// parseAllowance reads CODE, CODE:table or CODE:table.column.
func parseAllowance(s string, all []Code) (a allowance, err error) {
	code, place, placed := strings.Cut(s, ":")
	a = allowance{text: s, code: code}
	i := slices.IndexFunc(all, func(c Code) bool { return c.Code == code })
	if i < 0 {
		var codes []string
		for _, c := range all {
			codes = append(codes, c.Code)
		}
		return a, unsuitable("allow: no rule has the code %q%s", code, nearest.Hint(code, codes))
	}
	if placed {
		if a.table, a.column, err = parsePlace(place); err != nil {
			return a, unsuitable("allow: %q: %v: want %s:table or %s:table.column", s, err, code, code)
		}
	}
	single := a.table != nil && a.table.exact != "" && a.column != nil && a.column.exact != ""
	if all[i].OneColumn && !single {
		return a, unsuitable("allow: %q: %s can be allowed for single columns only: want %s:table.column without * and ranges", s, code, code)
	}
	return a, nil
}

// allows reports whether the operator allows what a result says. A result is about
// a column only if it is about no other that is not named too.
func (a allowance) allows(r *Result) bool {
	if a.code != r.Code || a.table != nil && (r.Table == "" || !a.table.match(r.Table)) {
		return false
	}
	other := func(column string) bool { return !a.column.match(column) }
	return a.column == nil || len(r.Columns) > 0 && !slices.ContainsFunc(r.Columns, other)
}

// resolve returns an error if nothing is there that the allowance names.
func (a allowance) resolve(n names) error {
	if a.table == nil {
		return nil
	}
	tables, columns := false, a.column == nil
	var near []string
	for _, table := range slices.Sorted(maps.Keys(n)) {
		if !a.table.match(table) {
			continue
		}
		tables = true
		// Of a table that no source reads, the columns are not known.
		columns = columns || n[table] == nil
		for _, column := range slices.Sorted(maps.Keys(n[table])) {
			columns = columns || a.column.match(column)
			near = append(near, column)
		}
	}
	switch {
	case !tables:
		return unsuitable("allow: %q: no source has a table that matches %s%s", a.text, a.table.text, nearest.Hint(a.table.exact, slices.Sorted(maps.Keys(n))))
	case !columns:
		return unsuitable("allow: %q: no such table has a column that matches %s%s", a.text, a.column.text, nearest.Hint(a.column.exact, near))
	}
	return nil
}

// allowances reads all entries.
func (o Options) allowances() (all []allowance, err error) {
	codes := Codes()
	for _, s := range o.Allow {
		a, err := parseAllowance(s, codes)
		if err != nil {
			return nil, err
		}
		if a.table == nil && slices.Contains(o.FailOn, a.code) {
			return nil, unsuitable("%s cannot be both allowed and a failure", a.code)
		}
		all = append(all, a)
	}
	return all, nil
}

// allowed reports whether the operator allows what a result says.
func (f *facts) allowed(r *Result) bool {
	return slices.ContainsFunc(f.allowances, func(a allowance) bool { return a.allows(r) })
}

// AllowedCodes counts the results of a report that the operator allows, by code:
// "51 table-skipped, 1 key-collision"; "" if there are none.
func AllowedCodes(results []Result) string {
	counts := make(map[string]int)
	for _, r := range results {
		if r.CountsAs == Pass {
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
