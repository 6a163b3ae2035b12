package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// planProposals looks for what games rely on and rarely declare: names that
// are to be unique, and columns that hold another table's key. Names of columns
// and tables make a candidate; the data of all sources must bear it out.
func (c *checker) planProposals() {
	if !c.opts.Propose || len(c.opts.Only) > 0 {
		return
	}
	for _, table := range c.tables {
		for _, column := range c.likelyUniques(table) {
			c.plan(task{"propose unique " + keyName(table, []string{column}), []string{table}, func(ctx context.Context) error {
				return c.proposeUnique(ctx, table, column)
			}})
		}
	}
	for _, table := range c.tables {
		for _, r := range c.likelyReferences(table) {
			c.plan(task{"propose reference " + table + " " + r.subject(), []string{table}, func(ctx context.Context) error {
				return c.proposeReference(ctx, table, r)
			}})
		}
	}
}

// likelyUniques returns the columns of a table that hold the names of what its
// rows stand for, if nothing declares them unique.
func (c *checker) likelyUniques(table string) (columns []string) {
	_, model := c.model(table)
	key := model.key()
	if key == nil {
		return nil
	}
	for _, col := range model.Columns {
		declared := slices.Equal(key, []string{col.Name}) ||
			slices.ContainsFunc(c.uniques(table), func(u unique) bool { return slices.Equal(u.Columns, []string{col.Name}) })
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

func (c *checker) proposeUnique(ctx context.Context, table, column string) error {
	if c.alike[table] {
		return nil // it is not about players
	}
	twice := false // in one database
	r, err := c.read(ctx, question{
		code: CodeUniqueCollision, table: table, columns: []string{column}, skipNull: true,
		watch: func(rows []int64) { twice = twice || slices.Max(rows) > 1 },
	})
	if err != nil {
		return err
	}
	var values, most int64
	for _, s := range r.streams {
		values += s.read
		most = max(most, s.read)
	}
	if twice || most < 2 || len(r.gaps) > 0 {
		return nil
	}
	c.proposals = append(c.proposals, Proposal{
		Unique:    &DeclaredUnique{Table: table, Columns: []string{column}},
		Evidence:  fmt.Sprintf("distinct in every database: %s", printable.Count(values, "value", "values")),
		Conflicts: r.found.values,
	})
	return nil
}

// likelyReferences returns what the columns of a table may refer to, as their
// names tell, if nothing declares it.
func (c *checker) likelyReferences(table string) (all []reference) {
	_, model := c.model(table)
	declared := c.references(table)
	key := model.key()
	for _, col := range model.Columns {
		if slices.ContainsFunc(declared, func(r reference) bool { return slices.Contains(r.Columns, col.Name) }) {
			continue
		}
		for _, to := range c.tables {
			_, parent := c.model(to)
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

func (c *checker) proposeReference(ctx context.Context, table string, ref reference) error {
	if c.alike[table] || c.alike[ref.ToTable] {
		return nil
	}
	var rows, zeros int64
	for _, db := range c.dbs {
		if db.tables[table] == nil || db.rows[table] == 0 {
			continue
		}
		if db.cannotRefer(table, ref.Reference) != "" {
			return nil
		}
		zero, others, err := c.dangling(ctx, db, table, ref)
		var unsupported *UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			return nil
		case err != nil:
			return err
		case others > 0:
			return nil
		}
		rows += db.rows[table]
		zeros += zero
	}
	if rows == zeros {
		return nil
	}
	evidence := fmt.Sprintf("none of %s leads nowhere", printable.Count(rows, "row", "rows"))
	if zeros > 0 {
		evidence += fmt.Sprintf(", but for %s with 0 or nothing", printable.Number(zeros))
	}
	c.proposals = append(c.proposals, Proposal{
		Reference: &DeclaredReference{
			Table: table, Columns: ref.Columns, ToTable: ref.ToTable, ToColumns: ref.ToColumns,
			ZeroIsNone: zeros > 0,
		},
		Evidence: evidence,
	})
	return nil
}

// dangling counts the rows of one source whose reference leads nowhere: those
// that say so by 0 or an empty value, and the others.
func (c *checker) dangling(ctx context.Context, db *database, table string, ref reference) (zero, others int64, err error) {
	ref.zeroIsNone = true
	s := c.referring(db, table, ref.Reference)
	none := ref.none(s)
	s.visit = append(s.visit, func(b *Batch) {
		for row := range b.Len {
			if none(row) {
				zero++
			} else {
				others++
			}
		}
	})
	err = s.drain(ctx)
	return zero, others, err
}
