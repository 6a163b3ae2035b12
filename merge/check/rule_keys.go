package check

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// keyRule compares the keys of all worlds.
var keyRule = Rule{
	Codes:  []string{verdict.CodeKeyCollision},
	Single: true,
	Key:    judgeKey,
}

// judgeKey reports the values of a key that are there more than once.
func judgeKey(f *Facts, k *keyReading) Outcome {
	if f.Same[k.Table] {
		return Outcome{}
	}
	result := verdict.Result{Code: verdict.CodeKeyCollision, Table: k.Table}
	if k.Key == nil { // whole rows are merged, each as often as it is there: nothing can collide
		_, model := f.ModelOf(k.Table)
		for db := range f.Having(k.Table) {
			result.Read += db.Rows[k.Table]
		}
		result.Message = model.Keyless() + ": its rows are merged as they are, including equal ones"
		return Found(result)
	}
	result.Subject, result.Columns = catalog.ColumnList(k.Key), k.Key
	result.Gaps, result.Samples, result.Read = slices.Clip(k.Gaps), k.Samples, k.RowsRead()
	nulls, in := int64(0), []string(nil)
	for _, p := range k.Parts {
		if nulls += p.Nulls; p.Nulls > 0 {
			result.Gaps = append(result.Gaps, verdict.Gap{World: p.DB.Name, Reason: printable.Count(p.Nulls, "row has", "rows have") + " NULL in the key"})
			in = append(in, "in "+p.DB.Name+" find them with "+strings.Join(k.Key, " IS NULL OR ")+" IS NULL")
		}
	}
	describeRepeats(&result, k.Repeats, "key", comparedOtherwise(f, k.Table, k.Key))
	resolveByCombining(&result, f.Combined[k.Table], k.Repeats)
	if why := result.ResolveByRenaming(f.Resolved, 0); why != "" {
		result.Message += "; [[merge.name]] cannot resolve it: " + why
	}
	o := Outcome{Disjoint: map[rules.ColumnsID]bool{rules.IDOf(k.Table, k.Key...): k.Values+k.Repeats.Renamed == 0 && len(result.Gaps) == 0}}
	action := keyAction(f, k.Table)
	if way := matchedAction(f, k.Table, k.Key); way != "" && result.Count > 0 {
		result.Message += "; " + way
	}
	if looksAlike(f, &result, k) {
		o.Alike, result.Alike = []string{k.Table}, true
		result.Message += ": the same in every database, and the rows shown are equal"
		action = "if this is the game's own data, which every world has, declare it the same ([[merge.table]] tables = " + printable.TOMLList([]string{k.Table}) +
			", policy = \"same\"); otherwise " + action
	}
	o.Findings = []finding{{Result: result, Action: action}}
	allowed, _ := f.Allowed(&verdict.Result{Code: result.Code, Table: k.Table, Columns: k.Key,
		Verdict: verdict.NotVerified})
	if nulls > 0 && allowed { // else it is not verified already
		o.Findings = append(o.Findings, finding{Result: verdict.Result{Code: verdict.CodeTableUncopyable,
			Table: k.Table, Columns: k.Key, Read: result.Read, Count: 1, Rows: nulls,
			Message: printable.Count(nulls, "row has", "rows have") + " NULL in the key, so a merge cannot " +
				"tell these rows apart: " + strings.Join(in, "; ") + ": give them a value or remove them"}})
	}
	return o
}

// looksAlike reports whether every source has the same keys, and the rows that
// are shown do not differ. Equal rows that count up, or refer to others, mean
// different things in different worlds all the same.
func looksAlike(f *Facts, result *verdict.Result, k *keyReading) bool {
	if result.Count == 0 || f.Counter(k.Table) != nil || len(f.References(k.Table)) > 0 {
		return false
	}
	for i, p := range k.Parts {
		if p.Read != 0 && (p.Read != result.Count || k.Rows[i] != result.Count) {
			return false
		}
	}
	for _, s := range result.Samples {
		for _, row := range s.Rows[1:] {
			if !slices.Equal(row.Fields, s.Rows[0].Fields) {
				return false
			}
		}
	}
	return len(result.Samples) > 0
}

// keyAction says what to do about keys that collide, from what is known of why
// they do.
func keyAction(f *Facts, table string) string {
	for _, code := range []string{verdict.CodeWorldTwice, verdict.CodeServerConflict, verdict.CodeWorldCloned, verdict.CodeWorldMerged} {
		if f.Failed[code] {
			return "resolve " + code + " first: it is why keys collide"
		}
	}
	switch rekeying := f.Opts.Rekey != nil && f.Opts.Rekey.Auto; {
	case f.Counter(table) != nil && !rekeying:
		return "each world numbers these keys itself: let the merge give them new values with [merge] rekey = true, and declare what refers to them (" + verdict.ProposeRules + ")" +
			"; or give the keys of all databases but one an offset by hand, together with every column that refers to them: " + verdict.CodeAutoIncrement + " says which"
	}
	_, model := f.ModelOf(table)
	undeclared := slices.DeleteFunc(slices.Clone(model.Key()), func(c string) bool {
		return !f.Unsaid(table, c) || slices.Contains(f.IDColumns(table), c)
	})
	switch {
	case len(model.Key()) == 1 && len(undeclared) == 1 && countsByItself(f, table):
		return fmt.Sprintf("if each world numbers these keys itself, let the merge give them new values: [[merge.space]] keys = [%s]; and declare what refers to them (%s)",
			printable.TOML(rules.Place(table, undeclared[0])), verdict.ProposeRules)
	case len(undeclared) > 0 && f.Opts.Rekey != nil:
		return fmt.Sprintf("declare %s as references if they refer to rows that get new keys; then these keys change with them ([[check.reference]]); %s",
			strings.Join(rules.Qualified(table, undeclared), ", "), verdict.ProposeRules)
	case countsByItself(f, table):
		return "if each world numbers these keys itself, let the merge give them new values: declare each in a [[merge.space]], and what refers to it (" + verdict.ProposeRules + ")"
	case len(model.Key()) == 1 && model.Column(model.Key()[0]).Kind == catalog.KindText:
		return newNames(table, model.Key()[0]) + fmt.Sprintf("; or, if rows with one key are the same thing, combine them: [[merge.table]] tables = %s, policy = \"combine\"", printable.TOMLList([]string{table}))
	}
	return verdict.Documented(verdict.CodeKeyCollision).Action
}

// countsByItself reports whether the key of a table may be a number that each world
// counts, or has such numbers of other tables in it.
func countsByItself(f *Facts, table string) bool {
	_, model := f.ModelOf(table)
	return slices.ContainsFunc(model.Key(), func(c string) bool { return KeyClassOf(model.Column(c)) == IntegerClass })
}

// describeRepeats writes what a result says of values that are there more than once.
// What was read is in Read already. noun is what collides. otherwise are the columns by which a
// database may keep its own values apart that are equal here.
func describeRepeats(r *verdict.Result, found stream.Repeats, noun string, otherwise []string) {
	r.Count, r.Rows = found.Values, found.AllRows()
	if r.Count == 0 {
		if r.Message = "nothing could be compared"; r.Read > 0 || len(r.Gaps) == 0 {
			r.Message = "none occurs twice: " + printable.Count(r.Read, noun, noun+"s") + " read"
		}
		if found.Renamed > 0 {
			r.Message = printable.Count(found.Renamed, noun+" occurs", noun+"s occur") + " more than once, and the names in the rows will be changed, by [[merge.name]]"
		}
		return
	}
	r.Message = printable.Count(r.Count, noun+" occurs", noun+"s occur") + " more than once, in " + printable.Count(r.Rows, "row", "rows")
	if found.Inside > 0 {
		r.Message += "; " + printable.Count(found.Inside, "is", "are") + " within one database"
		if len(otherwise) > 0 {
			r.Message += ", as the first world's collation of " + catalog.Enumerated(otherwise) + " compares"
		}
	}
}

// comparedOtherwise are those of some columns that a world compares under another collation than the first.
func comparedOtherwise(f *Facts, table string, columns []string) []string {
	_, model := f.ModelOf(table)
	return slices.DeleteFunc(slices.Clone(columns), func(name string) bool {
		for _, t := range f.Having(table) {
			if is, first := t.Column(name), model.Column(name); is != nil && first != nil && is.Collation != first.Collation {
				return false
			}
		}
		return true
	})
}
