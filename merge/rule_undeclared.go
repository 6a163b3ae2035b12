package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// undeclaredRule takes every column that is not declared, supposes that it names rows
// of each other table, and looks whether after the merge one of its values would
// name another row than before, or one where it named none, or none where it named
// one. If so, a person must say what the column is. If no value can change its
// meaning, it does not matter.
func undeclaredRule() rule {
	return rule{
		codes: []string{CodeReferenceUndeclared},
		tasks: undeclaredTasks,
	}
}

func undeclaredTasks(f *facts) (tasks []task) {
	if !f.wantsAny("", "", CodeReferenceUndeclared) && !slices.ContainsFunc(f.opts.Only, func(s Selection) bool { return s.Code == CodeReferenceUndeclared }) {
		return nil
	}
	tables := keyTables(f.resolved)
	for _, to := range f.opts.Renames {
		if _, model := f.model(to.Table); model != nil {
			tables = append(tables, to.Table) // for its names
		}
	}
	for _, table := range keyTables(f.resolved) {
		_, model := keyModel(f.resolved, table)
		for range uniqueTexts(f, table, model) {
			tables = append(tables, table)
		}
	}
	keys := task{taskID{code: CodeReferenceUndeclared}, tables, func(ctx context.Context, r *reader) (outcome, error) {
		open := openReader{reader: r, code: CodeReferenceUndeclared}
		candidates, joint, err := open.candidates(ctx)
		if err != nil {
			return outcome{}, err
		}
		return found(judgeCandidates(f, open, candidates, joint)...), nil
	}}
	tasks = append(tasks, keys)
	for _, table := range f.tables {
		if !f.wantsAny(table, "", CodeReferenceUndeclared) && !slices.ContainsFunc(f.opts.Only, func(s Selection) bool { return s.Code == CodeReferenceUndeclared && s.Table == table }) {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeReferenceUndeclared, columns: idOf(table)}, []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
			open := openReader{reader: r, code: CodeReferenceUndeclared}
			read, err := open.undeclaredIn(ctx, table)
			if err != nil {
				return outcome{}, err
			}
			return judgeUndeclared(ctx, f, open, table, read)
		}})
	}
	return tasks
}

// judgeCandidates reports the keys with which nothing can be compared.
func judgeCandidates(f *facts, r openReader, candidates []candidate, joint []string) (results []Result) {
	for _, c := range candidates {
		result := Result{Code: CodeReferenceUndeclared, Table: c.table, Subject: c.column + " as a key"}
		if c.class == nameClass {
			result.Subject = c.column + " as a name"
		}
		for _, db := range f.dbs {
			if set := r.undeclaredKeys().sets[c][db]; set != nil && set.gap != "" {
				result.Gaps = append(result.Gaps, Gap{db.name, set.gap})
			}
		}
		if result.without(""); len(result.Gaps) > 0 {
			results = append(results, result)
		}
	}
	for _, table := range joint {
		_, model := keyModel(f.resolved, table)
		if !f.disjoint[idOf(table, model.Key()...)] || f.combined[table] != nil {
			continue // the rows are in each other's way themselves, or a key is the same thing everywhere
		}
		results = append(results, Result{
			Code: CodeReferenceUndeclared, Table: table, Subject: columnList(model.Key()) + " as a key",
			Message: "only all columns of the key together identify a row",
			Gaps:    []Gap{{Reason: "undeclared columns are compared with keys one by one, so they cannot be compared with the key " + columnList(model.Key()) + " of " + table}},
			Next:    []string{"declare the columns of the key that hold the game's own data: natural = " + printable.TOMLList(qualified(table, model.Key()))},
		})
	}
	return results
}

func qualified(table string, columns []string) (names []string) {
	for _, c := range columns {
		names = append(names, place(table, c))
	}
	return names
}

// place writes a column as declarations name it.
func place(table, column string) string {
	quote := func(name string) string {
		if strings.ContainsAny(name, ".*{}`") {
			return sqlName(name)
		}
		return name
	}
	return quote(table) + "." + quote(column)
}

// judgeUndeclared says of the columns of a table which are open.
func judgeUndeclared(ctx context.Context, f *facts, r openReader, table string, read *openReading) (o outcome, err error) {
	closed := Result{Code: CodeReferenceUndeclared, Table: table}
	for _, column := range read.plain {
		o.plain = append(o.plain, place(table, column))
	}
	columns := 0
	for len(read.columns) > 0 {
		n := slices.IndexFunc(read.columns, func(c *openColumn) bool { return c.column != read.columns[0].column })
		if n < 0 {
			n = len(read.columns)
		}
		result, isOpen, err := judgeOpenColumn(ctx, f, r, table, read, read.columns[:n])
		if err != nil {
			return o, err
		}
		read = &openReading{candidates: read.candidates, columns: read.columns[n:], unread: read.unread}
		switch {
		case isOpen && f.declared.role(table, result.Subject).kind == rolePlain:
			o.plain = append(o.plain, place(table, result.Subject))
		case isOpen:
			o.findings = append(o.findings, finding{Result: result})
		default:
			closed.Read += result.Read
			columns++
		}
	}
	for column, gaps := range read.unread {
		o.add(found(Result{Code: CodeReferenceUndeclared, Table: table, Subject: column, Columns: []string{column}, Message: "could not be read", Gaps: gaps}))
	}
	if columns > 0 {
		closed.Message = printable.Count(int64(columns), "undeclared column holds", "undeclared columns hold") + " no value whose meaning can change"
		o.add(found(closed))
	}
	return o, nil
}

// judgeOpenColumn judges one column, as it was read in the databases.
func judgeOpenColumn(ctx context.Context, f *facts, r openReader, table string, read *openReading, parts []*openColumn) (result Result, isOpen bool, err error) {
	column := parts[0].column
	result = Result{Code: CodeReferenceUndeclared, Table: table, Subject: column, Columns: []string{column}}
	hex := slices.ContainsFunc(parts, func(p *openColumn) bool { return p.hex })
	named := make(map[int]int64) // rows by candidate
	repeated := repeatedNames(f, r.undeclaredKeys(), read.candidates, columnName{table, column}, parts)
	judged := func(k int) bool {
		_, repeats := repeated[k]
		return repeats || read.candidates[k].class != nameClass
	}
	var in []string
	var kept []keptChange
	for _, p := range parts {
		result.Read += p.read
		rows, byCandidate := p.changed(f, r, read.candidates, judged, hex)
		if rows == 0 {
			continue
		}
		for k, n := range byCandidate {
			named[k] += n
		}
		result.Count += rows
		in = append(in, p.db.name+": "+printable.Number(rows))
		result.Gaps = append(result.Gaps, Gap{p.db.name, "a column that is not declared has values which, if they are keys, would name other rows after the merge"})
		kept = append(kept, slices.DeleteFunc(p.kept, func(k keptChange) bool { return !judged(k.as.candidate) })...)
	}
	if err := r.unsure(ctx, table, column, read, parts, judged, &result, named); err != nil {
		return result, false, err
	}
	names := mostRepeated(named, repeated)
	if names >= 0 {
		unlike := namesUnlike(f, r.undeclaredKeys(), read.candidates[names], parts)
		if result.Gaps = append(result.Gaps, unlike...); named[names] == 0 && len(unlike) == 0 {
			names = -1 // it repeats them, and that does not matter
		}
	}
	if f.declared.role(table, column).kind == roleUndecided {
		result.Gaps = append(result.Gaps, Gap{Reason: "the column is declared undecided"})
	}
	result.Rows = result.Count
	if len(result.Gaps) == 0 {
		return result, false, nil
	}
	result.Open = &OpenColumn{Keys: namedText(read.candidates, named), Likely: likelyKey(read.candidates, named, table, column)}
	if names >= 0 {
		result.Open.Likely, result.Open.Repeats = read.candidates[names].String(), true
	}
	switch {
	case names >= 0:
		c := read.candidates[names]
		result.Message = repeatsText(c, repeated[names], result.Count, result.Count == named[names] && f.copied(c.table), in)
	case result.Count == 0:
		result.Message = "declared undecided"
	case result.Open.Likely != "":
		result.Message = fmt.Sprintf("seems to name %s, and %s would name other rows: %s", result.Open.Likely, printable.Count(result.Count, "value", "values"), few(in))
	default:
		result.Message = fmt.Sprintf("%s would name other rows, if they are keys: %s (of %s)",
			printable.Count(result.Count, "value", "values"), few(in), enumerated(result.Open.Keys))
	}
	result.Next = []string{chooseText(result.Open, table, column)}
	result.Samples, err = openSamples(ctx, f, kept, column)
	return result, true, err
}

// changed counts the rows of the column whose value would change its meaning when the
// databases of f are merged, all and by candidate, of those by which it is judged.
func (c *openColumn) changed(f *facts, r openReader, candidates []candidate, judged func(candidate int) bool, hex bool) (rows int64, by map[int]int64) {
	by = make(map[int]int64)
	dbs := r.group()
	for became, n := range c.rows {
		changes := c.fates.sets[became.sure]
		if hex {
			changes = slices.Concat(changes, c.fates.sets[became.hex])
		}
		concerned := make(map[int]bool)
		for _, change := range changes {
			if judged(change.candidate) && concerns(f, candidates[change.candidate], c.db, change, dbs) {
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
func (r openReader) unsure(ctx context.Context, table, column string, read *openReading, parts []*openColumn, judged func(candidate int) bool, result *Result, named map[int]int64) error {
	maybe := maybeOf(parts)
	for k, c := range read.candidates {
		if !maybe[k] || !judged(k) {
			continue
		}
		_, model := r.facts.model(table)
		_, to := r.facts.model(c.table)
		if to == nil || model.column(column) == nil || !model.column(column).comparable(to.column(c.column)) {
			result.Gaps = append(result.Gaps, Gap{Reason: "some values may be keys of " + c.String() + ", of which there are too many to look them up"})
			continue
		}
		ref := reference{Reference: Reference{Columns: []string{column}, ToTable: c.table, ToColumns: []string{c.column}}, table: table}
		for _, known := range r.facts.declared.role(table, column).references {
			if known.when != nil {
				ref.except = append(ref.except, known.when)
			}
		}
		before := result.Count
		strays, err := r.follow(followed{ref, table, false, CodeReferenceUndeclared, CodeReferenceUndeclared}).strays(ctx)
		if err != nil {
			return err
		}
		for _, s := range strays.sources {
			result.Gaps = append(append(result.Gaps, s.gaps...), s.reboundGaps...)
			if n := s.reboundRows(); n > 0 {
				named[k] += n
				result.Gaps = append(result.Gaps, Gap{s.db.name, "a column that is not declared has values which, if they are keys, would name other rows after the merge"})
			}
		}
		// A row that names several counts once, as far as can be told: for the key that
		// most rows name.
		result.Count = max(before, named[k])
		result.Samples = append(result.Samples, strays.rebound...)
	}
	return nil
}

// namedText lists candidates, those that most rows name first.
func namedText(candidates []candidate, named map[int]int64) (all []string) {
	for _, k := range byCount(named) {
		if name := candidates[k].String(); !slices.Contains(all, name) { // of names there may be two
			all = append(all, name)
		}
	}
	return all
}

func byCount(named map[int]int64) (order []int) {
	for k := range named {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b int) int {
		if named[a] != named[b] {
			if named[a] > named[b] {
				return -1
			}
			return 1
		}
		return a - b
	})
	return order
}

// likelyKey guesses from the names which of the keys the column names.
func likelyKey(candidates []candidate, named map[int]int64, table, column string) string {
	for _, k := range byCount(named) {
		if c := candidates[k]; c.table != table && pointsTo(column, c.table, c.column) {
			return c.String()
		}
	}
	return ""
}

// chooseText writes the declarations to choose from.
func chooseText(open *OpenColumn, table, column string) string {
	at := printable.TOML(place(table, column))
	text := "declare in [check] plain = [" + at + "], or natural, or shared"
	if key := cmp.Or(open.Likely, strings.Join(open.Keys[:min(1, len(open.Keys))], "")); key != "" {
		text += "; or [[check.reference]] at = [" + at + "], to = " + printable.TOML(key)
	}
	if open.Repeats {
		text += "; if the names were changed by hand, change them in this column too, or change them back and let the merge do it ([[merge.name]])"
	}
	return text
}

// openSamples shows rows of the column beside the rows that they would name.
func openSamples(ctx context.Context, f *facts, kept []keptChange, column string) (all []Sample, err error) {
	for _, k := range kept {
		if len(all) >= f.opts.Samples {
			break
		}
		c := conflict{rows: 1, members: []member{k.row}}
		s, err := sample(ctx, c, k.row.table, []string{column})
		if err != nil {
			return nil, err
		}
		if k.to.db != nil {
			if fields, err := k.to.find(ctx); err != nil {
				return nil, err
			} else if fields != nil {
				row := SampleRow{Source: k.to.db.name, Fields: fields}
				if k.to.table != k.row.table {
					row.Table = k.to.table
				}
				s.Rows = append(s.Rows, row)
			}
		}
		all = append(all, s)
	}
	return all, nil
}
