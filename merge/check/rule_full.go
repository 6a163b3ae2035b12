package check

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge/verdict"
)

// fullRule judges whether the counters of the new database have numbers for the rows that
// the game makes after the merge.
var fullRule = Rule{
	Codes: []string{verdict.CodeCounterFull},
	Key:   judgeFull,
}

// judgeFull looks at the counter of a table in the first world, which the new database has
// too. A counter with fewer numbers left than the worlds have given so far would be full
// before the new world is as old as they are.
func judgeFull(f *Facts, k *keyReading) Outcome {
	own := f.Model().Tables[k.Table]
	if own == nil || own.AutoIncrement == nil {
		return Outcome{}
	}
	counter := own.AutoIncrement
	result := verdict.Result{Code: verdict.CodeCounterFull, Table: k.Table, Subject: counter.Column, Columns: []string{counter.Column}}
	var others []*catalog.AutoIncrement
	var parts []string
	given := new(big.Int)
	for db, t := range f.Having(k.Table) {
		c := t.AutoIncrement
		if c == nil || db != f.Model() && (f.Same[k.Table] || db.Rows[k.Table] == 0) {
			continue // no row of it comes
		}
		if db != f.Model() {
			others = append(others, c)
		}
		result.Read++
		parts = append(parts, fmt.Sprintf("%s next %s", db.Name, numeral(whole(c.Next))))
		given.Add(given, whole(max(c.Next, 1)-1))
	}
	var report *verdict.Rekeying
	if f.Rekeyed != nil {
		report = f.Rekeyed.Report
	}
	next, last := report.Counter(k.Table, counter, others...)
	left := new(big.Int).Sub(whole(last), whole(next))
	left.Add(left, big.NewInt(1))
	room := new(big.Int)
	narrow := narrowest(f, report, k.Table, counter.Column)
	if narrow != nil {
		if room.Sub(narrow.Most.Whole(), whole(next)).Add(room, big.NewInt(1)); room.Sign() < 0 {
			room.SetInt64(0)
		}
	}
	ends := fmt.Sprintf("%s would continue at %s but ends at %s", counter.Column, numeral(whole(next)), numeral(whole(last)))
	switch {
	case counter.Endless:
		result.Message = counter.Column + " uses any free number if the largest is taken"
	case left.Sign() <= 0:
		result.Count = 1
		result.Message = ends + ", so the game could not create any more rows: " + strings.Join(parts, ", ")
	case left.Cmp(given) < 0:
		result.Message = fmt.Sprintf("%s: numbers left: %s; used by the worlds so far: %s: %s", ends, numeral(left), numeral(given), strings.Join(parts, ", "))
		result.Gaps = []verdict.Gap{{Reason: "the game may soon be unable to create rows"}}
	case narrow != nil && room.Cmp(given) < 0:
		result.Message = fmt.Sprintf("%s would continue at %s, but %s, which refers to it, ends at %s: numbers left: %s; used by the worlds so far: %s: %s",
			counter.Column, numeral(whole(next)), narrow.Column, numeral(narrow.Most.Whole()), numeral(room), numeral(given), strings.Join(parts, ", "))
		result.Gaps = []verdict.Gap{{Reason: "the game may soon be unable to create rows that refer to its own"}}
		result.Next = []string{"give " + narrow.Column + " a larger type in all databases"}
		return Found(result)
	default:
		result.Message = fmt.Sprintf("%s continues at %s and ends at %s", counter.Column, numeral(whole(next)), numeral(whole(last)))
	}
	if result.Count > 0 || len(result.Gaps) > 0 {
		result.Next = roomFor(f, k.Table, counter, last)
	}
	return Found(result)
}

// narrowest is the column that takes the least numbers of those that refer to the keys that a counter gives; nil if there is none,
// or if no key gets a new value.
func narrowest(f *Facts, report *verdict.Rekeying, table, counter string) (narrow *keys.Limit) {
	key := report.Column(table, counter)
	if key == nil || !key.Key {
		return nil
	}
	for _, c := range report.Columns {
		refers := slices.ContainsFunc(c.Cases, func(of verdict.RekeyedCase) bool { return of.Space == key.Cases[0].Space })
		at := rules.ColumnName{Table: c.Table, Column: c.Column}
		if most, known := mostOf(f.Resolved, at); !c.Key && refers && known && (narrow == nil || most.Less(narrow.Most)) {
			narrow = &keys.Limit{Column: at.String(), Most: most}
		}
	}
	return narrow
}

// roomFor says how to give a counter whose largest number is last more numbers, if that is possible.
func roomFor(f *Facts, table string, counter *catalog.AutoIncrement, last uint64) []string {
	switch {
	case last < counter.Max:
		return []string{"if the game's clients accept larger keys, raise max of its space"}
	case f.Model().Catalog.Engine == "sqlite" || counter.Max >= math.MaxInt64:
		return nil // there is no larger type
	}
	larger := "BIGINT"
	if strings.Contains(strings.ToLower(f.Model().Tables[table].Column(counter.Column).Type), "unsigned") {
		larger += " UNSIGNED"
	}
	return []string{fmt.Sprintf("in all databases: ALTER TABLE %s MODIFY %s %s NOT NULL AUTO_INCREMENT; columns that refer to it need this type too",
		catalog.SQLName(table), catalog.SQLName(counter.Column), larger)}
}

func whole(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
