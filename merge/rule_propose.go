package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// proposalRule looks for what games rely on and rarely declare: names that are
// to be unique, and columns that hold another table's key. Names of columns and
// tables make a candidate; the data of all sources must bear it out. It gives
// out no code.
func proposalRule() rule { return rule{tasks: proposalTasks} }

func proposalTasks(f *facts) (tasks []task) {
	if !f.opts.Propose || len(f.opts.Only) > 0 {
		return nil
	}
	for _, table := range f.tables {
		for _, column := range likelyUniques(f, table) {
			tasks = append(tasks, task{taskID{columns: idOf(table, column)}, []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
				return proposeUnique(ctx, f, r, table, column)
			}})
		}
	}
	for _, table := range f.tables {
		for _, ref := range likelyReferences(f, table) {
			tasks = append(tasks, task{referenceID("", table, ref), []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
				return proposeReference(ctx, f, r, followed{ref, table, false, CodeReferenceDangle, CodeReferenceRebind})
			}})
		}
	}
	return tasks
}

// likelyUniques returns the columns of a table that hold the names of what its
// rows stand for, if nothing declares them unique.
func likelyUniques(f *facts, table string) (columns []string) {
	_, model := f.model(table)
	key := model.key()
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

// likelyReferences returns what the columns of a table may refer to, as their
// names tell, if nothing declares it.
func likelyReferences(f *facts, table string) (all []reference) {
	_, model := f.model(table)
	declared := f.references(table)
	key := model.key()
	for _, col := range model.Columns {
		if slices.ContainsFunc(declared, func(r reference) bool { return slices.Contains(r.Columns, col.Name) }) {
			continue
		}
		for _, to := range f.tables {
			_, parent := f.model(to)
			toKey := parent.key()
			if len(toKey) != 1 || col.Opaque != "" || col.Generated != "" {
				continue
			}
			if to == table && slices.Equal(key, []string{col.Name}) {
				continue
			}
			k := parent.column(toKey[0])
			if k.class() == col.class() && pointsTo(col.Name, to, k.Name) && (!slices.Equal(key, []string{col.Name}) || squeeze(col.Name) != "id") {
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

func proposeReference(ctx context.Context, f *facts, r *reader, ref followed) (outcome, error) {
	if f.alike[ref.table] || f.alike[ref.ToTable] {
		return outcome{}, nil
	}
	var rows, zeros int64
	for db := range f.having(ref.table) {
		if db.rows[ref.table] == 0 {
			continue
		}
		if db.cannotRefer(ref.table, ref.Reference) != "" {
			return outcome{}, nil
		}
		zero, others, ok, err := r.follow(ref).danglingOf(ctx, db)
		if err != nil || !ok || others > 0 {
			return outcome{}, err
		}
		rows += db.rows[ref.table]
		zeros += zero
	}
	if rows == zeros {
		return outcome{}, nil
	}
	evidence := fmt.Sprintf("none of %s leads nowhere", printable.Count(rows, "row", "rows"))
	if zeros > 0 {
		evidence += fmt.Sprintf(", but for %s with 0 or nothing", printable.Number(zeros))
	}
	return outcome{proposals: []Proposal{{
		Reference: &DeclaredReference{
			Table: ref.table, Columns: ref.Columns, ToTable: ref.ToTable, ToColumns: ref.ToColumns,
			ZeroIsNone: zeros > 0,
		},
		Evidence: evidence,
	}}}, nil
}
