package merge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// proposalRule looks for what games rely on and rarely declare: names that are to be
// unique, and what the column of every table is. It gives out no code.
func proposalRule() rule { return rule{tasks: proposalTasks} }

func proposalTasks(f *facts) (tasks []task) {
	if !f.opts.Propose || len(f.opts.Only) > 0 {
		return nil
	}
	add := func(step string, tables []string, run func(context.Context, *reader) (outcome, error)) {
		tasks = append(tasks, task{taskID{code: "propose", columns: idOf(step, tables...)}, tables, run})
	}
	for _, table := range f.tables {
		for _, column := range likelyUniques(f, table) {
			add("unique "+column, []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
				return proposeUnique(ctx, f, r, table, column)
			})
		}
	}
	x := new(examination)
	add("keys", keyTables(f.resolved), func(ctx context.Context, r *reader) (outcome, error) {
		return outcome{}, proposeKeys(ctx, f, r, x)
	})
	for _, table := range f.tables {
		add("values", []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
			return outcome{}, examine(ctx, f, r, x, table)
		})
		for _, ref := range likelyReferences(f, table) {
			add(ref.subject(), []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
				return outcome{}, proposeByName(ctx, f, r, x, followed{ref, table, false, CodeReferenceDangle, CodeReferenceRebind})
			})
		}
		add("names", []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
			return outcome{}, proposeRepeats(ctx, f, r, x, table)
		})
	}
	add("classes", nil, func(context.Context, *reader) (outcome, error) {
		c := classify(f, x)
		o := outcome{}
		for _, e := range x.columns {
			if c.mixed(e) {
				o.tasks = append(o.tasks, task{taskID{code: "propose", columns: idOf(e.table, e.column.Name)}, []string{e.table},
					func(ctx context.Context, r *reader) (outcome, error) { return outcome{}, splitCases(ctx, r, c, e) }})
			}
		}
		o.tasks = append(o.tasks, task{id: taskID{code: "propose"}, run: func(context.Context, *reader) (outcome, error) {
			return concludeProposals(c), nil
		}})
		return o, nil
	})
	return tasks
}

// concludeProposals makes the proposals of what the columns seem to be.
func concludeProposals(c *classifier) outcome {
	o := outcome{proposed: c.proposed()}
	for _, r := range o.proposed.references() {
		worst := ""
		doubt := -1.
		for _, p := range o.proposed.Columns {
			if p.Class == ClassReference && p.To == r.To[0] && p.Doubt > doubt && slices.Contains(r.At, place(p.Table, p.Column)) {
				worst, doubt = p.Evidence, p.Doubt
			}
		}
		if len(r.At) > 1 {
			worst = fmt.Sprintf("%d columns; the most doubtful: %s", len(r.At), worst)
		}
		o.proposals = append(o.proposals, Proposal{Reference: &r, Evidence: worst})
	}
	return o
}

// likelyUniques returns the columns of a table that hold the names of what its
// rows stand for, if nothing declares them unique.
func likelyUniques(f *facts, table string) (columns []string) {
	_, model := f.model(table)
	key := model.Key()
	if key == nil {
		return nil
	}
	for _, col := range model.Columns {
		declared := slices.Equal(key, []string{col.Name}) ||
			slices.ContainsFunc(f.uniques(table), func(u unique) bool { return slices.Equal(u.Columns, []string{col.Name}) })
		if col.Collation != "" && col.Opaque == "" && col.Generated == "" && !declared && namesARow(col.Name, table) {
			columns = append(columns, col.Name)
		}
	}
	return columns
}

// namesARow reports whether a column is called like a name of what the rows of
// its table stand for: name, nick_name, login; charname in characters.
func namesARow(column, table string) bool {
	column = squeeze(column)
	switch column {
	case "name", "nick", "nickname", "username", "login", "playername", "charname", "charactername", "rolename", "guildname", "accountname", "email":
		return true
	}
	of, ok := strings.CutSuffix(column, "name")
	return ok && of != "" && slices.ContainsFunc(singulars(table), func(s string) bool { return s == of })
}

// squeeze takes out what is written in different ways.
func squeeze(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "") }

// singulars returns what the name of a table may call one of its rows.
func singulars(table string) []string {
	name := squeeze(table)
	all := []string{name}
	if s, ok := strings.CutSuffix(name, "ies"); ok {
		all = append(all, s+"y")
	}
	if s, ok := strings.CutSuffix(name, "es"); ok {
		all = append(all, s)
	}
	if s, ok := strings.CutSuffix(name, "s"); ok {
		all = append(all, s)
	}
	return all
}

func proposeUnique(ctx context.Context, f *facts, r *reader, table, column string) (outcome, error) {
	if f.alike[table] {
		return outcome{}, nil // it is not about players
	}
	read, err := r.read(ctx, question{code: CodeUniqueCollision, table: table, columns: []string{column}, skipNull: true})
	if err != nil {
		return outcome{}, err
	}
	var most int64
	for _, p := range read.parts {
		most = max(most, p.read)
	}
	if read.within > 0 || most < 2 || len(read.gaps) > 0 {
		return outcome{}, nil
	}
	return outcome{proposals: []Proposal{{
		Unique:    &DeclaredUnique{Table: table, Columns: []string{column}},
		Evidence:  fmt.Sprintf("distinct in every database: %s", printable.Count(read.rowsRead(), "value", "values")),
		Conflicts: read.values,
	}}}, nil
}

// likelyReferences returns what the columns of a table may refer to, as their names
// tell, of keys that are no numbers, if nothing declares it.
func likelyReferences(f *facts, table string) (all []reference) {
	_, model := f.model(table)
	declared := f.references(table)
	key := model.Key()
	for _, col := range model.Columns {
		if slices.ContainsFunc(declared, func(r reference) bool { return slices.Contains(r.Columns, col.Name) }) {
			continue
		}
		for _, to := range f.tables {
			_, parent := f.model(to)
			toKey := parent.Key()
			if len(toKey) != 1 || col.Opaque != "" || col.Generated != "" {
				continue
			}
			if to == table && slices.Equal(key, []string{col.Name}) {
				continue
			}
			k := parent.column(toKey[0])
			if k.class() == col.class() && !numbers(&col, k) && pointsTo(col.Name, to, k.Name) && (!slices.Equal(key, []string{col.Name}) || squeeze(col.Name) != "id") {
				all = append(all, reference{Reference: Reference{Columns: []string{col.Name}, ToTable: to, ToColumns: toKey}})
			}
		}
	}
	return all
}

// pointsTo reports whether a column is called like one that holds the key of
// another table: guild_id or guild for guilds.id, role_id for role.role_id,
// owner for characters.guid.
func pointsTo(column, table, key string) bool {
	name := squeeze(column)
	generic := slices.Contains([]string{"id", "guid", "uid", "uuid", "name", "key"}, squeeze(key))
	if !generic && name == squeeze(key) {
		return true
	}
	base := name
	for _, suffix := range []string{"guid", "uuid", "uid", "id"} {
		if s, ok := strings.CutSuffix(name, suffix); ok {
			base = s
			break
		}
	}
	one := singulars(table)
	if base != "" && slices.ContainsFunc(one, func(s string) bool { return strings.HasSuffix(base, s) }) {
		return true
	}
	people := slices.ContainsFunc(one, func(s string) bool {
		return slices.Contains([]string{"character", "char", "player", "role", "user", "hero", "avatar"}, s)
	})
	return people && (slices.Contains([]string{
		"owner", "leader", "master", "creator", "sender", "receiver", "recipient", "killer", "victim", "seller", "buyer", "bidder", "member", "friend", "chr",
	}, base) || name == "guid" && squeeze(key) == "guid")
}

// numbers reports whether a column and a key are compared as numbers.
func numbers(c, key *Column) bool { return keyClassOf(key) == integerClass && numeric(c) }

// proposeRepeats notes the columns of a table that repeat unique names of other rows, such as
// the receiver of a letter: those that a check compares with the names of all databases.
func proposeRepeats(ctx context.Context, f *facts, r *reader, x *examination, table string) error {
	open := openReader{reader: r}
	candidates, err := nameCandidates(ctx, open, nil)
	if err != nil || len(candidates) == 0 {
		return err
	}
	read, err := open.undeclaredAmong(ctx, table, candidates)
	if err != nil {
		return err
	}
	for column, parts := range read.byColumn() {
		repeated := repeatedNames(f, open.undeclaredKeys(), candidates, columnName{table, column}, parts)
		for _, k := range slices.Sorted(maps.Keys(repeated)) {
			c, n := candidates[k], repeated[k]
			judged := func(other int) bool { return other == k }
			changes := slices.ContainsFunc(parts, func(p *openColumn) bool {
				rows, _ := p.changed(f, open, candidates, judged, false)
				return rows > 0
			})
			if !changes && (f.alike[table] || f.alike[c.table]) {
				continue // the game's own data
			}
			if x.repeats == nil {
				x.repeats = make(map[string]repeat)
			}
			x.repeats[place(table, column)] = repeat{c.String(), fmt.Sprintf("it may repeat a name, which a merge may give to another row; %s of %s without a match",
				printable.Number(n.rows-n.named), printable.Count(n.rows, "row", "rows"))}
			break
		}
	}
	return nil
}

// leadingOf counts the rows of all databases whose reference leads nowhere. It reports
// whether most others lead somewhere.
func leadingOf(ctx context.Context, f *facts, r *reader, ref followed) (rows, zeros, lost int64, ok bool, err error) {
	if f.alike[ref.table] || f.alike[ref.ToTable] {
		return 0, 0, 0, false, nil
	}
	for db := range f.having(ref.table) {
		if db.rows[ref.table] == 0 {
			continue
		}
		if db.cannotRefer(ref.table, ref.Reference) != "" {
			return 0, 0, 0, false, nil
		}
		zero, others, ok, err := r.follow(ref).danglingOf(ctx, db)
		if err != nil || !ok {
			return 0, 0, 0, false, err
		}
		rows += db.rows[ref.table]
		zeros += zero
		lost += others
	}
	return rows, zeros, lost, rows > zeros && 2*lost <= rows-zeros, nil
}

// proposeByName notes a reference that names suggest if most rows lead somewhere.
func proposeByName(ctx context.Context, f *facts, r *reader, x *examination, ref followed) error {
	rows, zeros, lost, ok, err := leadingOf(ctx, f, r, ref)
	if !ok || err != nil {
		return err
	}
	evidence := fmt.Sprintf("its name suggests it; %s of %s without a match", printable.Number(lost), printable.Count(rows, "row", "rows"))
	declared := DeclaredReference{At: []string{place(ref.table, ref.Columns[0])}, To: []string{place(ref.ToTable, ref.ToColumns[0])}}
	if zeros > 0 {
		evidence += fmt.Sprintf(", besides %s with 0 or nothing", printable.Number(zeros))
		declared.None = []string{"0", ""}
	}
	x.byName = append(x.byName, declared)
	x.reasons = append(x.reasons, evidence)
	return nil
}
