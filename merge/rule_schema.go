package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// checkSchema holds every database's schema against the target's.
func (c *checker) checkSchema() {
	c.checkVersion()
	if len(c.tables) == 0 {
		c.add(Result{
			Code: CodeSchemaTable, Message: "no database has a table to merge",
			Gaps: []Gap{{Reason: "there is no table to look at"}},
		})
	}
	for _, table := range c.tables {
		c.checkTable(table)
	}
	c.checkTriggers()
	c.checkViews()
}

// checkVersion compares the versions that package store recorded. It does not
// apply to databases that store did not make.
func (c *checker) checkVersion() {
	if !slices.ContainsFunc(c.dbs, func(db *database) bool { return db.catalog.SchemaVersion != 0 }) {
		return
	}
	c.add(compare(Result{Code: CodeSchemaVersion}, c.target, c.dbs, func(db *database) string {
		if db.catalog.SchemaVersion == 0 {
			return "no version"
		}
		return fmt.Sprintf("version %d", db.catalog.SchemaVersion)
	}))
}

func (c *checker) checkTable(table string) {
	var with []*database
	var without []string
	for _, db := range c.dbs {
		if db.tables[table] != nil {
			with = append(with, db)
		} else {
			without = append(without, db.name)
		}
	}
	present := Result{Code: CodeSchemaTable, Table: table, Read: int64(len(c.dbs)), Count: int64(len(without))}
	if len(without) > 0 {
		present.Message = "missing in " + strings.Join(without, ", ")
	} else {
		present.Message = "in every database"
	}
	c.add(present)

	model, _ := c.model(table)
	columns := union(model, with, func(db *database) (names []string) {
		for _, col := range db.tables[table].Columns {
			names = append(names, col.Name)
		}
		return names
	})
	c.compareParts(CodeSchemaColumn, table, columns, model, with, func(db *database, name string) string {
		return db.tables[table].describe(name)
	})
	both := slices.DeleteFunc(columns, func(name string) bool { return model.tables[table].column(name) == nil })
	c.compareParts(CodeSchemaDefault, table, both, model, with, func(db *database, name string) string {
		col := db.tables[table].column(name)
		if col == nil {
			col = model.tables[table].column(name) // schema-column reports it
		}
		if col.Default == nil {
			return "no default"
		}
		return "DEFAULT " + *col.Default
	})
	c.checkOrder(table, model, with)
	if slices.ContainsFunc(with, func(db *database) bool { return db.tables[table].storage() != "no engine" }) {
		c.add(compare(Result{Code: CodeSchemaStorage, Table: table}, model, with, func(db *database) string { return db.tables[table].storage() }))
	}
	keys := union(model, with, func(db *database) []string { return db.tables[table].keys() })
	c.compareParts(CodeSchemaKey, table, keys, model, with, func(db *database, key string) string {
		if slices.Contains(db.tables[table].keys(), key) {
			return "present"
		}
		return "absent"
	})
}

// checkOrder compares the order of the columns that a database has in common
// with the model.
func (c *checker) checkOrder(table string, model *database, with []*database) {
	r := Result{Code: CodeSchemaOrder, Table: table, Read: int64(len(with))}
	var differ []string
	names := func(of, in *Table) (names []string) {
		for _, col := range of.Columns {
			if in.column(col.Name) != nil {
				names = append(names, col.Name)
			}
		}
		return names
	}
	want := model.tables[table]
	for _, db := range with {
		t := db.tables[table]
		have, wanted := names(t, want), names(want, t)
		for i, name := range have {
			if name != wanted[i] {
				r.Count++
				differ = append(differ, fmt.Sprintf("%s has %s where %s has %s", db.name, name, model.name, wanted[i]))
				break
			}
		}
	}
	r.Message = "the same in every database"
	if r.Count > 0 {
		r.Message = few(differ)
	}
	c.add(r)
}

// checkTriggers tells of the triggers of the target that would run for every
// row that is copied into it.
func (c *checker) checkTriggers() {
	var quiet int64
	for _, table := range slices.Sorted(maps.Keys(c.target.tables)) {
		r := Result{Code: CodeTriggerFires, Table: table, Read: 1, Message: "triggers would run for every row that is copied"}
		for _, trigger := range c.target.tables[table].Triggers {
			if strings.Contains(strings.ToUpper(trigger.Event), "INSERT") {
				r.Gaps = append(r.Gaps, Gap{c.target.name, trigger.Event + " trigger " + trigger.Name + ": nobody but you can tell what it does"})
			}
		}
		if len(r.Gaps) == 0 {
			quiet++
			continue
		}
		c.add(r)
	}
	r := Result{Code: CodeTriggerFires, Read: quiet, Message: "no trigger of " + printable.Count(quiet, "table", "tables") + " would run when rows are copied"}
	for _, hidden := range c.target.catalog.Hidden {
		if strings.HasPrefix(hidden, "triggers") {
			r.Message = "triggers cannot be seen"
			r.Gaps = append(r.Gaps, Gap{c.target.name, hidden})
		}
	}
	if quiet > 0 || len(r.Gaps) > 0 {
		c.add(r)
	}
}

// checkViews compares which views there are.
func (c *checker) checkViews() {
	views := union(c.target, c.dbs, func(db *database) []string { return db.catalog.Views })
	c.compareParts(CodeSchemaView, "", views, c.target, c.dbs, func(db *database, view string) string {
		if slices.Contains(db.catalog.Views, view) {
			return "present"
		}
		return "absent"
	})
}

// keys names the primary key and the unique indexes by their columns.
func (t *Table) keys() (keys []string) {
	if len(t.Primary) > 0 {
		keys = append(keys, "primary key "+columnList(t.Primary))
	}
	for _, u := range t.Uniques {
		keys = append(keys, "unique "+columnList(u.Columns))
	}
	return keys
}

// compareParts compares the parts of a table. Each that differs is a result of
// its own; those that do not are one together.
func (c *checker) compareParts(code, table string, parts []string, model *database, dbs []*database, of func(*database, string) string) {
	alike := Result{Code: code, Table: table}
	for _, part := range parts {
		r := compare(Result{Code: code, Table: table, Subject: part}, model, dbs, func(db *database) string { return of(db, part) })
		if r.Count > 0 {
			c.add(r)
		} else {
			alike.Read += r.Read
		}
	}
	if alike.Read > 0 {
		alike.Message = "alike: " + printable.Count(alike.Read/int64(len(dbs)), "part", "parts") + " in " + printable.Count(int64(len(dbs)), "database", "databases")
		c.add(alike)
	}
}

// compare holds what each database has against what the model has, and counts
// those that differ.
func compare(r Result, model *database, dbs []*database, of func(*database) string) Result {
	want := of(model)
	differ := make(map[string][]string) // names of databases by what they have
	var order []string
	for _, db := range dbs {
		r.Read++
		got := of(db)
		if got == want {
			continue
		}
		r.Count++
		if differ[got] == nil {
			order = append(order, got)
		}
		differ[got] = append(differ[got], db.name)
	}
	if r.Count == 0 {
		r.Message = want + " in every database"
		return r
	}
	r.Message = want + " in " + model.name
	for _, got := range order {
		r.Message += "; " + got + " in " + strings.Join(differ[got], ", ")
	}
	return r
}

// union returns what any of the databases has, that of the model first.
func union(model *database, dbs []*database, of func(*database) []string) []string {
	var all []string
	for _, db := range append([]*database{model}, dbs...) {
		for _, name := range of(db) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
