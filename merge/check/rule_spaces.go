package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// spaceRule judges whether the keys of the worlds can get values of their own.
var spaceRule = Rule{
	Codes:  []string{verdict.CodeKeySpace, verdict.CodeKeyNobody, verdict.CodeKeyUndeclared, verdict.CodeKeyCounter},
	Single: true,
}

// spaceTasks chooses the offsets, before anything is compared.
//
// leave, if not nil, finds the rows that stay behind, when the keys of all rows are known, and lets the sources
// withhold them.
func spaceTasks(f *Facts, leave func(ctx context.Context, chosen *Rekeyed) (Outcome, error)) []Task {
	if f.Moving == nil {
		return nil
	}
	var tables []string
	for _, at := range f.Moving.InOrder() {
		if !slices.Contains(tables, at.Table) {
			tables = append(tables, at.Table)
		}
	}
	return []Task{{Code: verdict.CodeKeySpace, Tables: tables, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
		read, err := (&spaceReader{Reader: r}).measure(ctx)
		if odd, is := errors.AsType[*catalog.UnsupportedError](err); is {
			return unmovable(odd, err), nil
		}
		if err != nil {
			return Outcome{}, err
		}
		chosen, _ := chooser{f, read}.offsets()
		if leave == nil || chosen == nil {
			return judgeSpaces(ctx, f, r, read)
		}
		left, err := leave(ctx, chosen)
		if err != nil {
			return left, err
		}
		if read, err = (&spaceReader{Reader: r}).measureComing(ctx, read); err != nil {
			return left, err
		}
		o, err := judgeSpaces(ctx, f, r, read)
		left.Add(o)
		return left, err
	}}}
}

// unmovable reports a value that cannot get a new one: SQLite keeps values of every type in every column.
func unmovable(odd *catalog.UnsupportedError, err error) Outcome {
	result := verdict.Result{Code: verdict.CodeKeySpace, Table: odd.Table, Subject: odd.Column, Columns: []string{odd.Column}, Count: 1,
		Message: "it cannot get new values: " + odd.Reason,
		Next:    []string{fmt.Sprintf("correct such values; in SQLite typeof(%s) tells the type of each", odd.Column)}}
	if read, is := errors.AsType[*catalog.ReadError](err); is {
		result.Message += ", in " + read.World
	}
	o := Found(result)
	o.Ends = true // what the keys will be is not known
	return o
}

// judgeSpaces chooses the offsets and says what stands in their way.
func judgeSpaces(ctx context.Context, f *Facts, r *Reader, read *measured) (Outcome, error) {
	chosen, o := chooser{f, read}.offsets()
	for _, at := range f.Moving.InOrder() {
		results, err := judgeMoved(ctx, f, r, f.Moving.Columns[at], read)
		if err != nil {
			return o, err
		}
		o.Add(Found(results...))
	}
	if chosen == nil { // what the keys will be is not known, so nothing can be said of them
		for _, table := range f.Tables { // but whether those in cells can be found
			if cells := cellColumns(f, table); len(cells) > 0 {
				in, err := anyTask(f, table, nil, cells).Run(ctx, r)
				if err != nil {
					return o, err
				}
				o.Add(in)
			}
		}
		o.Ends = true
		return o, nil
	}
	o.Rekeyed = chosen
	for _, s := range chosen.Report.Spaces {
		result := verdict.Result{Code: verdict.CodeKeySpace, Table: spaceTable(f, s.Name), Subject: s.Name}
		var parts []string
		for _, of := range s.Worlds {
			result.Read += of.Rows
			if of.Offset > 0 {
				parts = append(parts, fmt.Sprintf("%s + %s", of.World, printable.Number(int64(of.Offset))))
			}
			if n := of.Matched.Len(); n > 0 {
				parts = append(parts, fmt.Sprintf("%s of %s matched", printable.Count(int64(n), "key", "keys"), of.World))
			}
		}
		result.Message = "the keys of the worlds are disjoint already"
		if len(parts) > 0 {
			result.Message = "new keys: " + catalog.Few(parts)
		}
		o.Add(Found(result))
	}
	if chosen.Report.Moves() {
		reader := &spaceReader{Reader: r, found: read}
		apart, err := reader.columnsApart(ctx, chosen)
		if err != nil {
			return o, err
		}
		o.Add(Found(judgeApart(f, apart)...))
		undeclared, err := undeclaredKeys(ctx, f)
		if err != nil {
			return o, err
		}
		o.Add(Found(append(undeclared, guessedKeys(f, chosen, read)...)...))
		counters, err := reader.findCounters(ctx, chosen.Report)
		if err != nil {
			return o, err
		}
		o.Add(Found(judgeCounters(f, counters)...))
	}
	return o, nil
}

// judgeApart reports numbers in rows of the first world that stay, and would name rows that
// come.
func judgeApart(f *Facts, apart []apartColumn) (results []verdict.Result) {
	for _, c := range apart {
		result := verdict.Result{Code: verdict.CodeReferenceUndeclared, Table: c.Table, Subject: c.Column, Columns: []string{c.Column}, Count: c.rows, Rows: c.rows,
			Open: &verdict.OpenColumn{Keys: c.names}, Gaps: []verdict.Gap{{World: f.Model().Name, Reason: openValues}}}
		result.Message = fmt.Sprintf("%s of %s, the only world whose rows are copied, would refer to rows of other worlds", printable.Count(c.rows, "value", "values"), f.Model().Name)
		result.Next = []string{verdict.ChooseText(result.Open, c.Table, c.Column)}
		results = append(results, result)
	}
	return results
}

// spaceTable is the table of the only key of a space; "" otherwise.
func spaceTable(f *Facts, name string) string {
	for _, s := range f.Moving.Spaces {
		if s.Name == name && len(s.Columns) == 1 {
			return s.Columns[0].Table
		}
	}
	return ""
}

// judgeMoved says what is wrong with the values of a column that moves.
func judgeMoved(ctx context.Context, f *Facts, r *Reader, c *rules.MovedColumn, read *measured) (results []verdict.Result, err error) {
	nobody := verdict.Result{Code: verdict.CodeKeyNobody, Table: c.Table, Subject: c.Column, Columns: []string{c.Column}}
	foreign := verdict.Result{Code: verdict.CodeKeySpace, Table: c.Table, Subject: c.Column, Columns: []string{c.Column}}
	var odd []string
	var kept []stream.Conflict
	for _, db := range f.DBs {
		for _, k := range read.in[db].rows[c] {
			foreign.Count += k.Foreign
			for _, m := range k.Foreigns {
				kept = append(kept, stream.Conflict{Rows: 1, Members: []stream.Member{m}})
			}
			for _, v := range k.Odd {
				nobody.Gaps = append(nobody.Gaps, verdict.Gap{World: db.Name, Reason: fmt.Sprintf("%s in %s: %s", v.Value, printable.Count(v.Rows, "row", "rows"), v.Why)})
				if text := v.Value.String(); !slices.Contains(odd, text) {
					odd = append(odd, text)
				}
			}
		}
	}
	if foreign.Count > 0 {
		foreign.Rows = foreign.Count
		foreign.Message = printable.Count(foreign.Count, "value is", "values are") + " not a plain number, and cannot get a new value"
		foreign.Next = []string{"correct the values, or declare those that mean no row: none = [...]"}
		if foreign.Samples, err = r.Samples(ctx, kept, c.Table, []string{c.Column}); err != nil {
			return nil, err
		}
		results = append(results, foreign)
	}
	if len(odd) > 0 && len(f.DBs) > 1 { // in a merged database they stay
		nobody.Message = "may mean no row: " + catalog.Few(odd)
		at, to := printable.TOML(rules.Place(c.Table, c.Column)), ""
		if ref := c.Cases[0].Ref; ref != nil {
			to = printable.TOML(referenceTarget(ref))
		}
		nobody.Next = []string{fmt.Sprintf("mergecheck -explain %s shows which rows have them: if only rows of one kind do, limit the reference to the other rows (when); otherwise [[check.reference]] at = [%s], to = %s, none = [%s]; or dangling = [...] for values whose rows are gone",
			rules.Place(c.Table, c.Column), at, to, strings.Join(odd, ", "))}
		results = append(results, nobody)
	}
	return results, nil
}

// referenceTarget is what a reference of one column names, as it is declared.
func referenceTarget(ref *rules.Ref) string {
	if ref.Space != "" {
		return rules.SpacePrefix + ref.Space
	}
	return rules.Place(ref.ToTable, ref.ToColumns[0])
}

// undeclaredKeys are the integers in keys of which nobody said what they are.
func undeclaredKeys(ctx context.Context, f *Facts) (results []verdict.Result, err error) {
	for _, table := range f.Tables {
		_, model := f.ModelOf(table)
		columns := slices.DeleteFunc(slices.Clone(model.Key()), func(name string) bool {
			col := model.Column(name)
			return col == nil || col.Kind != catalog.KindInteger || f.Moving.Columns[rules.ColumnName{Table: table, Column: name}] != nil || !f.Unsaid(table, name)
		})
		if f.Same[table] || len(columns) == 0 {
			continue
		}
		if err := countRows(ctx, f, table); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(rules.OthersOf(f.Resolved), func(db *rules.Database) bool { return db.Rows[table] > 0 }) {
			continue
		}
		for _, name := range columns {
			results = append(results, verdict.Result{
				Code: verdict.CodeKeyUndeclared, Table: table, Subject: name, Columns: []string{name},
				Message: "a number in the key, which stays unchanged while other keys get new values",
				Gaps:    []verdict.Gap{{Reason: "no rule says whether it numbers things of one world or is a key of the game's own data"}},
				Next: []string{fmt.Sprintf("declare in [check] shared = [%s]; or [[merge.space]] keys = [%[1]s]; or [[check.reference]] at = [%[1]s], to = the key that it names",
					printable.TOML(rules.Place(table, name)))},
			})
		}
	}
	return results, nil
}

// guessedKeys are the keys that are a space only because the first world counts them up, and
// that may name rows of another space nevertheless, as stats.guid does those of chars. As
// long as all spaces of a world have one offset, that does not matter. A key that is counted
// up is nearly always one of its own: that some of its values are matched keys of another table
// says nothing where both count from 1.
func guessedKeys(f *Facts, chosen *Rekeyed, read *measured) (results []verdict.Result) {
	for _, s := range f.Moving.Spaces {
		if !s.Auto {
			continue
		}
		at := s.Columns[0]
		result := verdict.Result{Code: verdict.CodeKeyUndeclared, Table: at.Table, Subject: at.Column, Columns: []string{at.Column}}
		for _, other := range f.Moving.Spaces {
			for _, db := range rules.OthersOf(f.Resolved) {
				keys := read.in[db].keys[at]
				if keys != nil && (other.By == nil || mayName(f, at, other.By, read)) && meetsMatched(keys,
					chosen.Pairs[other][db]) {
					result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: fmt.Sprintf("keys of %s are matched (match), and this column has the same values: declare whether it refers to them", other.Name)})
					continue
				}
				if keys == nil || chosen.Of[s][db] == chosen.Of[other][db] || !slices.ContainsFunc(read.in[db].setsOf(other), keys.Meets) {
					continue
				}
				result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: fmt.Sprintf("%d is added to it, and %d to %s, which has the same keys: declare whether it refers to them", chosen.Of[s][db], chosen.Of[other][db], other.Name)})
			}
		}
		if len(result.Gaps) > 0 {
			result.Message = "a number generated by the database, possibly the key of another table"
			result.Next = []string{fmt.Sprintf("declare [[merge.space]] keys = [%s]; or [[check.reference]] at = [%[1]s], to = the key that it names", printable.TOML(rules.Place(at.Table, at.Column)))}
			results = append(results, result)
		}
	}
	return results
}

// mayName reports whether a key seems to be that of a matched row nevertheless: by its name, or because
// both tables have the same keys in every database.
func mayName(f *Facts, at rules.ColumnName, by *rules.MatchedBy, read *measured) bool {
	name, key := strings.ToLower(at.Column), strings.ToLower(by.Key)
	if key != "id" && name == key || strings.Contains(name, strings.TrimSuffix(strings.ToLower(by.Table), "s")) {
		return true
	}
	for _, db := range f.DBs {
		keys, matched := read.in[db].keys[at], read.in[db].keys[rules.ColumnName{Table: by.Table, Column: by.Key}]
		if keys == nil || matched == nil || keys.Len() == 0 || !keys.Equal(matched) {
			return false
		}
	}
	return true
}

// meetsMatched reports whether any of some keys is matched.
func meetsMatched(keys *keys.Set, pairs *keys.Pairs) bool {
	for old := range pairs.All() {
		if keys.Has(old) {
			return true
		}
	}
	return false
}
