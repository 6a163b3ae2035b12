package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// openValues says that a column is not declared, which is not verified.
const openValues = "an undeclared column has values that, if they are keys, would refer to other rows after the merge"

// undeclaredRule takes every column that is not declared, supposes that it names rows
// of each other table, and looks whether after the merge one of its values would
// name another row than before, or one where it named none, or none where it named
// one. If so, a person must say what the column is. If no value can change its
// meaning, it does not matter.
var undeclaredRule = Rule{
	Codes: []string{verdict.CodeReferenceUndeclared},
	Tasks: undeclaredTasks,
}

func undeclaredTasks(f *Facts) (tasks []Task) {
	tables := rules.KeyTables(f.Resolved)
	for _, to := range f.Opts.Renames {
		if _, model := f.ModelOf(to.Table); model != nil {
			tables = append(tables, to.Table) // for its names
		}
	}
	for _, table := range rules.KeyTables(f.Resolved) {
		_, model := rules.KeyModel(f.Resolved, table)
		for range uniqueTexts(f, table, model) {
			tables = append(tables, table)
		}
	}
	keys := Task{Code: verdict.CodeReferenceUndeclared, Tables: tables, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
		open := OpenReader{Reader: r, Code: verdict.CodeReferenceUndeclared}
		candidates, joint, err := open.candidates(ctx)
		if err != nil {
			return Outcome{}, err
		}
		return Found(judgeCandidates(f, open, candidates, joint)...), nil
	}}
	tasks = append(tasks, keys)
	for _, table := range f.Tables {
		tasks = append(tasks, Task{Code: verdict.CodeReferenceUndeclared, Tables: []string{table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
			open := OpenReader{Reader: r, Code: verdict.CodeReferenceUndeclared}
			read, err := open.undeclared(ctx, table)
			if err != nil {
				return Outcome{}, err
			}
			return judgeUndeclared(ctx, f, open, table, read)
		}})
	}
	return tasks
}

// judgeCandidates reports the keys with which nothing can be compared.
func judgeCandidates(f *Facts, r OpenReader, candidates []Candidate, joint []string) (results []verdict.Result) {
	for _, c := range candidates {
		result := verdict.Result{Code: verdict.CodeReferenceUndeclared, Table: c.Table, Subject: c.Column + " as a key"}
		if c.Class == nameClass {
			result.Subject = c.Column + " as a name"
		}
		for _, db := range f.DBs {
			if set := r.UndeclaredKeys().Sets[c][db]; set != nil && set.Gap != "" {
				result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: set.Gap})
			}
		}
		if result.Without(""); len(result.Gaps) > 0 {
			result.Columns = []string{c.Column}
			result.Allow = result.AllowFlag() // as what else cannot be read for the same reason
			way := "declare each column that refers to its rows as a reference, and then " + result.Allow
			if c.Class != nameClass {
				way = "if it holds the game's own data: shared = " +
					printable.TOMLList(rules.Qualified(c.Table, result.Columns)) + " in [check]; " +
					"otherwise " + way
			}
			result.Next = []string{way}
			results = append(results, result)
		}
	}
	for _, table := range joint {
		_, model := rules.KeyModel(f.Resolved, table)
		if !f.Disjoint[rules.IDOf(table, model.Key()...)] || f.Combined[table] != nil {
			continue // the rows are in each other's way themselves, or a key is the same thing everywhere
		}
		results = append(results, verdict.Result{
			Code: verdict.CodeReferenceUndeclared, Table: table, Subject: catalog.ColumnList(model.Key()) + " as a key",
			Message: "only all columns of the key together identify a row",
			Gaps:    []verdict.Gap{{Reason: "undeclared columns are compared with keys one by one, so they cannot be compared with the key " + catalog.ColumnList(model.Key()) + " of " + table}},
			Next:    []string{"declare the columns of the key that hold the game's own data: shared = " + printable.TOMLList(rules.Qualified(table, model.Key()))},
		})
	}
	return results
}

// judgeUndeclared says of the columns of a table which are open.
func judgeUndeclared(ctx context.Context, f *Facts, r OpenReader, table string, read *openReading) (o Outcome, err error) {
	closed := verdict.Result{Code: verdict.CodeReferenceUndeclared, Table: table}
	for _, column := range read.plain {
		o.Plain = append(o.Plain, rules.ColumnName{Table: table, Column: column})
	}
	columns := 0
	for len(read.columns) > 0 {
		n := slices.IndexFunc(read.columns, func(c *OpenColumn) bool { return c.column != read.columns[0].column })
		if n < 0 {
			n = len(read.columns)
		}
		result, isOpen, err := judgeOpenColumn(ctx, f, r, table, read, read.columns[:n])
		if err != nil {
			return o, err
		}
		read = &openReading{candidates: read.candidates, columns: read.columns[n:], unread: read.unread}
		switch {
		case isOpen && onItsWord(f, table, result.Subject):
			o.Plain = append(o.Plain, rules.ColumnName{Table: table, Column: result.Subject})
		case isOpen:
			o.Findings = append(o.Findings, finding{Result: result})
		case f.Declared.Role(table, result.Subject).Kind == rules.RolePlain || !onItsWord(f, table, result.Subject):
			closed.Read += result.Read
			columns++
		}
	}
	for column, gaps := range read.unread {
		switch plain := f.Declared.Role(table, column).Kind == rules.RolePlain; {
		case !plain && onItsWord(f, table, column):
			continue // the verdict rests on the word
		case plain: // and on that one, for all that is known
			o.Plain = append(o.Plain, rules.ColumnName{Table: table, Column: column})
			continue
		}
		o.Add(Found(verdict.Result{Code: verdict.CodeReferenceUndeclared, Table: table, Subject: column, Columns: []string{column}, Message: "could not be read", Gaps: gaps}))
	}
	if columns > 0 {
		closed.Message = printable.Count(int64(columns), "undeclared column holds", "undeclared columns hold") + " no value whose meaning can change"
		o.Add(Found(closed))
	}
	return o, nil
}

// staysBehind reports whether rows of a database do not come, because those of the first world are the same.
func staysBehind(f *Facts, db *rules.Database, table string) bool {
	return f.Same[table] && db != f.Model()
}

// judgeOpenColumn judges one column, as it was read in the databases.
func judgeOpenColumn(ctx context.Context, f *Facts, r OpenReader, table string, read *openReading, parts []*OpenColumn) (result verdict.Result, isOpen bool, err error) {
	column := parts[0].column
	result = verdict.Result{Code: verdict.CodeReferenceUndeclared, Table: table, Subject: column, Columns: []string{column}}
	hex := slices.ContainsFunc(parts, func(p *OpenColumn) bool { return p.hex })
	named := make(map[int]int64) // rows by candidate
	repeated := RepeatedNames(f, r.UndeclaredKeys(), read.candidates, rules.ColumnName{Table: table, Column: column}, parts)
	judged := func(k int) bool {
		_, repeats := repeated[k]
		return repeats || read.candidates[k].Class != nameClass
	}
	var in []string
	var kept []keptChange
	for _, p := range parts {
		result.Read += p.read
		rows, byCandidate := p.Changed(f, read.candidates, judged, hex)
		if rows == 0 {
			continue
		}
		for k, n := range byCandidate {
			named[k] += n
		}
		result.Count += rows
		in = append(in, p.db.Name+": "+printable.Number(rows))
		result.Gaps = append(result.Gaps, verdict.Gap{World: p.db.Name, Reason: openValues})
		kept = append(kept, slices.DeleteFunc(p.kept, func(k keptChange) bool { return !judged(k.as.candidate) })...)
	}
	if err := r.unsure(ctx, table, column, read, parts, judged, &result, named); err != nil {
		return result, false, err
	}
	names := mostRepeated(named, repeated)
	if names >= 0 {
		unlike := namesUnlike(f, r.UndeclaredKeys(), read.candidates[names], parts)
		if result.Gaps = append(result.Gaps, unlike...); named[names] == 0 && len(unlike) == 0 {
			names = -1 // it repeats them, and that does not matter
		}
	}
	if f.Declared.Role(table, column).Kind == rules.RoleUndecided {
		result.Gaps = append(result.Gaps, verdict.Gap{Reason: "the column is declared undecided"})
	}
	result.Rows = result.Count
	if len(result.Gaps) == 0 {
		return result, false, nil
	}
	result.Open = &verdict.OpenColumn{Keys: namedText(read.candidates, named), Likely: likelyKey(read.candidates, named, table, column)}
	if names >= 0 {
		result.Open.Likely, result.Open.Repeats = read.candidates[names].String(), true
	}
	switch {
	case names >= 0:
		c := read.candidates[names]
		result.Message = repeatsText(c, repeated[names], result.Count, result.Count == named[names] && isCopied(f.Resolved, c.Table), in)
	case result.Count == 0:
		result.Message = "declared undecided"
	case result.Open.Likely != "":
		result.Message = fmt.Sprintf("seems to refer to %s, and %s would refer to other rows: %s", result.Open.Likely, printable.Count(result.Count, "value", "values"), catalog.Few(in))
	default:
		result.Message = fmt.Sprintf("%s would refer to other rows, if they are keys: %s (of %s)",
			printable.Count(result.Count, "value", "values"), catalog.Few(in), catalog.Enumerated(result.Open.Keys))
	}
	result.Next = []string{verdict.ChooseText(result.Open, table, column)}
	if refs := f.Declared.Role(table, column).References; len(refs) > 0 && names < 0 {
		result.Next = []string{verdict.OthersText(refs, table, column)}
	}
	result.Samples, err = openSamples(ctx, kept, column)
	return result, true, err
}

// Changed counts the rows of the column whose value would change its meaning when the
// databases of f are merged, all and by candidate, of those by which it is judged.
func (c *OpenColumn) Changed(f *Facts, candidates []Candidate, judged func(candidate int) bool, hex bool) (rows int64, by map[int]int64) {
	by = make(map[int]int64)
	for became, n := range c.rows {
		changes := c.fates.sets[became.sure]
		if hex {
			changes = slices.Concat(changes, c.fates.sets[became.hex])
		}
		concerned := make(map[int]bool)
		for _, change := range changes {
			if judged(change.candidate) && concerns(f, candidates[change.candidate], c.db, change) {
				concerned[change.candidate] = true
			}
		}
		if len(concerned) > 0 {
			rows += n
		}
		for k := range concerned {
			by[k] += n
		}
	}
	return rows, by
}

// unsure settles what sparse sets of keys could not tell: it reads the column as if
// it were a reference.
func (r OpenReader) unsure(ctx context.Context, table, column string, got *openReading, parts []*OpenColumn, judged func(candidate int) bool, result *verdict.Result, named map[int]int64) error {
	maybe := maybeOf(parts)
	for k, c := range got.candidates {
		if !maybe[k] || !judged(k) {
			continue
		}
		_, model := r.Facts.ModelOf(table)
		_, to := r.Facts.ModelOf(c.Table)
		if to == nil || model.Column(column) == nil || !model.Column(column).Comparable(to.Column(c.Column)) {
			result.Gaps = append(result.Gaps, verdict.Gap{Reason: "some values may be keys of " + c.String() + ", which are too many to look up"})
			continue
		}
		ref := rules.Ref{Reference: catalog.Reference{Columns: []string{column}, ToTable: c.Table, ToColumns: []string{c.Column}}, Table: table}
		for _, known := range r.Facts.Declared.Role(table, column).References {
			if known.When != nil {
				ref.Except = append(ref.Except, known.When)
			}
		}
		for db := range r.Facts.Having(table) {
			r.Progress.Again(db, r.Code, table, fmt.Sprintf("%s may name rows of %s, whose keys are too many to keep in memory", column, c))
		}
		before := result.Count
		strays, err := follower{r.Reader, ref, false, verdict.CodeReferenceUndeclared, verdict.CodeReferenceUndeclared}.strays(ctx)
		if err != nil {
			return err
		}
		for _, s := range strays.Worlds {
			if staysBehind(r.Facts, s.DB, table) {
				continue
			}
			result.Gaps = append(append(result.Gaps, s.Gaps...), s.ReboundGaps...)
			if n := s.reboundRows(); n > 0 {
				named[k] += n
				result.Gaps = append(result.Gaps, verdict.Gap{World: s.DB.Name, Reason: openValues})
			}
		}
		// A row that names several counts once, as far as can be told: for the key that
		// most rows name.
		result.Count = max(before, named[k])
		result.Samples = append(result.Samples, strays.Rebound...)
	}
	return nil
}

// namedText lists candidates, those that most rows name first.
func namedText(candidates []Candidate, named map[int]int64) (all []string) {
	for _, k := range byCount(named) {
		if name := candidates[k].String(); !slices.Contains(all, name) { // of names there may be two
			all = append(all, name)
		}
	}
	return all
}

func byCount(named map[int]int64) []int {
	return slices.SortedFunc(maps.Keys(named), func(a, b int) int { return cmp.Or(cmp.Compare(named[b], named[a]), a-b) })
}

// likelyKey guesses from the names which of the keys the column names.
func likelyKey(candidates []Candidate, named map[int]int64, table, column string) string {
	for _, k := range byCount(named) {
		if c := candidates[k]; c.Table != table && PointsTo(column, c.Table, c.Column) {
			return c.String()
		}
	}
	return ""
}

// openSamples shows rows of the column beside the rows that they would name.
func openSamples(ctx context.Context, kept []keptChange, column string) (all []verdict.Sample, err error) {
	for _, k := range kept {
		if len(all) >= rules.Samples {
			break
		}
		c := stream.Conflict{Rows: 1, Members: []stream.Member{k.row}}
		s, err := Sample(ctx, c, k.row.Table, []string{column})
		if err != nil {
			return nil, err
		}
		if k.to.DB != nil {
			if fields, err := Find(ctx, k.to); err != nil {
				return nil, err
			} else if fields != nil {
				row := verdict.SampleRow{World: k.to.DB.Name, Fields: fields}
				if k.to.Table != k.row.Table {
					row.Table = k.to.Table
				}
				s.Rows = append(s.Rows, row)
			}
		}
		all = append(all, s)
	}
	return all, nil
}
