package propose

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// ProposalRule looks for what games rely on and rarely declare: names that are to be
// unique, and what the column of every table is. It gives out no code.
var ProposalRule = check.Rule{Tasks: ProposalTasks}

func ProposalTasks(f *check.Facts) (tasks []check.Task) {
	if !f.Opts.Propose {
		return nil
	}
	add := func(tables []string, run func(context.Context, *check.Reader) (check.Outcome, error)) {
		tasks = append(tasks, check.Task{Code: "propose", Tables: tables, Run: run, Guesses: true})
	}
	for _, table := range f.Tables {
		for _, column := range likelyUniques(f, table) {
			add([]string{table}, func(ctx context.Context, r *check.Reader) (check.Outcome, error) {
				return proposeUnique(ctx, f, r, table, column)
			})
		}
	}
	x := new(examination)
	add(rules.KeyTables(f.Resolved), func(ctx context.Context, r *check.Reader) (check.Outcome, error) {
		return check.Outcome{}, proposeKeys(ctx, f, r, x)
	})
	for _, table := range f.Tables {
		add([]string{table}, func(ctx context.Context, r *check.Reader) (check.Outcome, error) {
			return check.Outcome{}, examine(ctx, f, r, x, table, "")
		})
		for _, ref := range likelyReferences(f, table) {
			add([]string{table}, func(ctx context.Context, r *check.Reader) (check.Outcome, error) {
				return check.Outcome{}, proposeByName(ctx, f, r, x, ref)
			})
		}
		add([]string{table}, func(ctx context.Context, r *check.Reader) (check.Outcome, error) {
			return check.Outcome{}, proposeRepeats(ctx, f, r, x, table)
		})
	}
	add(nil, func(context.Context, *check.Reader) (check.Outcome, error) {
		c := classify(f, x)
		o := check.Outcome{}
		of := make(map[string][]*examined) // columns, by table
		for _, e := range x.columns {
			if c.mixed(e) || mayNameTwo(c, e) {
				of[e.table] = append(of[e.table], e)
			}
		}
		for _, table := range slices.Sorted(maps.Keys(of)) {
			o.Tasks = append(o.Tasks, check.Task{Guesses: true, Code: "propose", Tables: []string{table},
				Run: func(ctx context.Context, r *check.Reader) (check.Outcome, error) {
					return check.Outcome{}, apart(ctx, r, c, table, of[table])
				}})
		}
		o.Tasks = append(o.Tasks, check.Task{Guesses: true, Code: "propose", Run: func(context.Context, *check.Reader) (check.Outcome, error) {
			c.followNames() // of what was found to name rows in some of its rows
			return concludeProposals(c), nil
		}})
		return o, nil
	})
	return tasks
}

// concludeProposals makes the proposals of what the columns seem to be.
func concludeProposals(c *classifier) check.Outcome {
	o := check.Outcome{Proposed: c.proposed()}
	for _, r := range references(o.Proposed) {
		worst := ""
		doubt := -1.
		for _, p := range o.Proposed.Columns {
			if p.Class == verdict.ClassReference && p.To == r.To[0] && p.Doubt > doubt && slices.Contains(r.At, rules.Place(p.Table, p.Column)) {
				worst, doubt = p.Evidence, p.Doubt
			}
		}
		if len(r.At) > 1 {
			worst = fmt.Sprintf("%d columns; the most doubtful: %s", len(r.At), worst)
		}
		o.Proposals = append(o.Proposals, verdict.Proposal{Reference: &r, Evidence: worst})
	}
	return o
}

// likelyUniques returns the columns of a table that hold the names of what its
// rows stand for, if nothing declares them unique.
func likelyUniques(f *check.Facts, table string) (columns []string) {
	_, model := f.ModelOf(table)
	key := model.Key()
	if key == nil {
		return nil
	}
	for _, col := range model.Columns {
		declared := slices.Equal(key, []string{col.Name}) ||
			slices.ContainsFunc(f.Uniques(table), func(u rules.Unique) bool { return slices.Equal(u.Columns, []string{col.Name}) })
		if col.Collation != "" && col.Opaque == "" && col.Generated == "" && !declared && namesARow(col.Name, table) {
			columns = append(columns, col.Name)
		}
	}
	return columns
}

// namesARow reports whether a column is called like a name of what the rows of
// its table stand for: name, nick_name, login; charname in characters.
func namesARow(column, table string) bool {
	column = check.Squeeze(column)
	switch column {
	case "name", "nick", "nickname", "username", "login", "playername", "charname", "charactername", "rolename", "guildname", "accountname", "email":
		return true
	}
	of, ok := strings.CutSuffix(column, "name")
	return ok && of != "" && slices.ContainsFunc(check.Singulars(table), func(s string) bool { return s == of })
}

func proposeUnique(ctx context.Context, f *check.Facts, r *check.Reader, table, column string) (check.Outcome, error) {
	if f.Alike[table] {
		return check.Outcome{}, nil // it is not about players
	}
	read, err := r.Read(ctx, check.Question{Code: verdict.CodeUniqueCollision, Table: table, Columns: []string{column}, SkipNull: true})
	if err != nil {
		return check.Outcome{}, err
	}
	var most int64
	for _, p := range read.Parts {
		most = max(most, p.Read)
	}
	if read.Within > 0 || most < 2 || len(read.Gaps) > 0 {
		return check.Outcome{}, nil
	}
	return check.Outcome{Proposals: []verdict.Proposal{{
		Unique:    &rules.DeclaredUnique{Table: table, Columns: []string{column}},
		Evidence:  fmt.Sprintf("distinct in every database: %s", printable.Count(read.RowsRead(), "value", "values")),
		Conflicts: read.Values,
	}}}, nil
}

// likelyReferences returns what the columns of a table may refer to, as their names
// tell, of keys that are no numbers, if nothing declares it.
func likelyReferences(f *check.Facts, table string) (all []rules.Ref) {
	_, model := f.ModelOf(table)
	declared := f.References(table)
	key := model.Key()
	for _, col := range model.Columns {
		if slices.ContainsFunc(declared, func(r rules.Ref) bool { return slices.Contains(r.Columns, col.Name) }) {
			continue
		}
		for _, to := range f.Tables {
			_, parent := f.ModelOf(to)
			toKey := parent.Key()
			if len(toKey) != 1 || col.Opaque != "" || col.Generated != "" {
				continue
			}
			if to == table && slices.Equal(key, []string{col.Name}) {
				continue
			}
			k := parent.Column(toKey[0])
			if k.Class() == col.Class() && !numbers(&col, k) && check.PointsTo(col.Name, to, k.Name) && (!slices.Equal(key, []string{col.Name}) || check.Squeeze(col.Name) != "id") {
				all = append(all, rules.Ref{Table: table, Reference: catalog.Reference{Columns: []string{col.Name}, ToTable: to, ToColumns: toKey}})
			}
		}
	}
	return all
}

// numbers reports whether a column and a key are compared as numbers.
func numbers(c, key *catalog.Column) bool {
	return check.KeyClassOf(key) == check.IntegerClass && numeric(c)
}

// proposeRepeats notes the columns of a table that repeat unique names of other rows, such as
// the receiver of a letter: those that a check compares with the names of all databases.
func proposeRepeats(ctx context.Context, f *check.Facts, r *check.Reader, x *examination, table string) error {
	open := check.OpenReader{Reader: r}
	candidates, err := check.NameCandidates(ctx, open, nil)
	if err != nil || len(candidates) == 0 {
		return err
	}
	read, err := open.UndeclaredAmong(ctx, table, candidates)
	if err != nil {
		return err
	}
	for column, parts := range read.ByColumn() {
		repeated := check.RepeatedNames(f, open.UndeclaredKeys(), candidates, rules.ColumnName{Table: table, Column: column}, parts)
		for _, k := range slices.Sorted(maps.Keys(repeated)) {
			c, n := candidates[k], repeated[k]
			judged := func(other int) bool { return other == k }
			changes := slices.ContainsFunc(parts, func(p *check.OpenColumn) bool {
				rows, _ := p.Changed(f, candidates, judged, false)
				return rows > 0
			})
			if !changes && (f.Alike[table] || f.Alike[c.Table]) {
				continue // the game's own data
			}
			if x.repeats == nil {
				x.repeats = make(map[string]repeat)
			}
			x.repeats[rules.Place(table, column)] = repeat{c.String(), fmt.Sprintf("%s of %s without a match",
				printable.Number(n.Rows-n.Named), printable.Count(n.Rows, "row", "rows"))}
			break
		}
	}
	return nil
}

// proposeByName notes a reference that names suggest if most rows lead somewhere.
func proposeByName(ctx context.Context, f *check.Facts, r *check.Reader, x *examination, ref rules.Ref) error {
	if f.Alike[ref.Table] || f.Alike[ref.ToTable] {
		return nil
	}
	var rows, zeros, lost int64
	for db := range f.Having(ref.Table) {
		if db.Rows[ref.Table] == 0 {
			continue
		}
		if db.CannotRefer(ref.Table, ref.Reference) != "" {
			return nil
		}
		zero, others, ok, err := r.DanglingOf(ctx, db, ref)
		if err != nil || !ok {
			return err
		}
		rows += db.Rows[ref.Table]
		zeros += zero
		lost += others
	}
	if rows <= zeros || 2*lost > rows-zeros {
		return nil
	}
	evidence := fmt.Sprintf("its name suggests it; %s of %s without a match", printable.Number(lost), printable.Count(rows, "row", "rows"))
	declared := rules.DeclaredReference{At: []string{rules.Place(ref.Table, ref.Columns[0])}, To: []string{rules.Place(ref.ToTable, ref.ToColumns[0])}}
	if zeros > 0 {
		evidence += fmt.Sprintf(", and %s with 0 or no value", printable.Number(zeros))
		declared.None = []string{"0", ""}
	}
	x.byName = append(x.byName, declared)
	x.reasons = append(x.reasons, evidence)
	return nil
}
