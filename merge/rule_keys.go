package merge

import (
	"slices"

	"mergesafe/internal/printable"
)

// keyRule compares the keys of all sources.
func keyRule() rule {
	return rule{
		codes: []string{CodeKeyCollision},
		key:   judgeKey,
	}
}

// judgeKey reports the values of a key that are there more than once.
func judgeKey(f *facts, k *keyReading) outcome {
	if f.same[k.table] {
		return outcome{}
	}
	result := Result{Code: CodeKeyCollision, Table: k.table}
	if k.key == nil {
		_, model := f.model(k.table)
		result.Gaps = []Gap{{Reason: model.keyless()}}
		result.Message = "cannot be checked"
		return found(result)
	}
	result.Subject, result.Columns = columnList(k.key), k.key
	result.Gaps, result.Samples, result.Read = slices.Clip(k.gaps), k.samples, k.rowsRead()
	for _, p := range k.parts {
		if p.nulls > 0 {
			result.Gaps = append(result.Gaps, Gap{p.db.name, printable.Count(p.nulls, "row has", "rows have") + " NULL in the key"})
		}
		if n := p.db.rows[k.table]; n != p.read {
			result.Gaps = append(result.Gaps, Gap{p.db.name, printable.Count(n, "row was", "rows were") + " counted and then " + printable.Number(p.read) +
				" read: the table changed in between"})
		}
	}
	result.describe(k.repeats, "key", true)
	result.resolveByCombining(f.combined[k.table], k.repeats)
	o := outcome{disjoint: map[columnsID]bool{idOf(k.table, k.key...): k.values == 0 && len(result.Gaps) == 0}}
	action := keyAction(f, k.table)
	if way := matchedAction(f, k.table, k.key); way != "" && result.Count > 0 {
		result.Message += "; " + way
	}
	if looksAlike(f, &result, k) {
		o.alike, result.Alike = []string{k.table}, true
		result.Message += ": the same in every database, and the rows shown are alike"
		action = "if this is the game's own data, which every world has, declare it the same ([[merge.table]] tables = " + printable.TOMLList([]string{k.table}) +
			", policy = \"same\"); otherwise " + action
	}
	o.findings = []finding{{Result: result, action: action}}
	return o
}

// looksAlike reports whether every source has the same keys, and the rows that
// are shown do not differ. Equal rows that count up, or refer to others, mean
// different things in different worlds all the same.
func looksAlike(f *facts, result *Result, k *keyReading) bool {
	if result.Count == 0 || f.counter(k.table) != nil || len(f.references(k.table)) > 0 {
		return false
	}
	for i, p := range k.parts {
		if p.read != 0 && (p.read != result.Count || k.rows[i] != result.Count) {
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
func keyAction(f *facts, table string) string {
	for _, code := range []string{CodeServerConflict, CodeWorldCloned, CodeWorldMerged} {
		if f.failed[code] {
			return "resolve " + code + " first: it is why keys collide"
		}
	}
	switch rekeying := f.opts.Rekey != nil && f.opts.Rekey.Auto; {
	case f.counter(table) != nil && !rekeying:
		return "each world counts these keys by itself: let the merge give them new values (" + proposeRules(true) + ")" +
			"; or give the keys of all databases but one an offset by hand, together with every column that refers to them: " + CodeAutoIncrement + " says which"
	case countsByItself(f, table):
		return "if each world counts these keys by itself, let the merge give them new values: declare each in a [[merge.space]], and what refers to it (" + proposeRules(true) + ")"
	}
	return documented(CodeKeyCollision).Action
}

// countsByItself reports whether the key of a table may be a number that each world
// counts, or has such numbers of other tables in it.
func countsByItself(f *facts, table string) bool {
	_, model := f.model(table)
	return slices.ContainsFunc(model.Key(), func(c string) bool { return keyClassOf(model.column(c)) == integerClass })
}

// proposeRules is the command that writes a file of rules, and the one that uses it.
func proposeRules(rekey bool) string {
	option := ""
	if rekey {
		option = "-rekey "
	}
	return "run mergecheck " + option + "-propose -o rules.toml with the same sources, read the file, and check again with " + option + "-rules rules.toml"
}

// describe writes what a result says of values that are there more than once.
// What was read is in Read already. noun is what collides. enforced tells that
// each database keeps its own values apart, as it compares.
func (r *Result) describe(found repeats, noun string, enforced bool) {
	r.Count, r.Rows = found.values, found.allRows()
	if r.Count == 0 {
		if r.Message = "nothing could be compared"; r.Read > 0 || len(r.Gaps) == 0 {
			r.Message = "none occurs twice: " + printable.Count(r.Read, noun, noun+"s") + " read"
		}
		return
	}
	r.Message = printable.Count(r.Count, noun+" occurs", noun+"s occur") + " more than once, in " + printable.Count(r.Rows, "row", "rows")
	if found.inside > 0 {
		r.Message += "; " + printable.Count(found.inside, "is", "are") + " within one database"
		if enforced {
			r.Message += " and equal only to the target's collation"
		}
	}
}
