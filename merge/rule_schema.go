package merge

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// schemaRule compares every database's schema with the target's.
func schemaRule() rule {
	return rule{
		codes:   []string{CodeSchemaVersion, CodeSchemaTable, CodeSchemaColumn, CodeSchemaKey, CodeSchemaDefault, CodeSchemaOrder, CodeSchemaStorage, CodeSchemaView},
		catalog: judgeSchema,
	}
}

func judgeSchema(f *facts) []finding {
	var all schemaFindings
	all.version(f)
	if len(f.tables) == 0 {
		all.add(Result{
			Code: CodeSchemaTable, Message: "no database has a table to merge",
			Gaps: []Gap{{Reason: "there is no table to check"}},
		})
	}
	for _, table := range f.tables {
		all.table(f, table)
	}
	all.views(f)
	return all
}

// schemaFindings are what the rules about schemas found.
type schemaFindings []finding

func (all *schemaFindings) add(r Result) { *all = append(*all, finding{Result: r}) }

// version compares the versions that package store recorded. It does not
// apply to databases that store did not make.
func (all *schemaFindings) version(f *facts) {
	if !slices.ContainsFunc(f.dbs, func(db *database) bool { return db.catalog.SchemaVersion != 0 }) {
		return
	}
	all.add(compare(Result{Code: CodeSchemaVersion}, f.target, f.dbs, func(db *database) string {
		if db.catalog.SchemaVersion == 0 {
			return "no version"
		}
		return fmt.Sprintf("version %d", db.catalog.SchemaVersion)
	}))
}

func (all *schemaFindings) table(f *facts, table string) {
	var with []*database
	var without, unread []string
	for _, db := range f.dbs {
		switch {
		case db.tables[table] != nil:
			with = append(with, db)
		case db.unread(table) != "":
			unread = append(unread, db.name)
		default:
			without = append(without, db.name)
		}
	}
	present := Result{Code: CodeSchemaTable, Table: table, Read: int64(len(f.dbs)), Count: int64(len(without))}
	if len(without) > 0 {
		present.Message = "missing in " + strings.Join(without, ", ")
	} else {
		present.Message = "in every database"
	}
	if len(unread) > 0 {
		present.Message += "; not read in " + strings.Join(unread, ", ")
	}
	all.add(present)

	model, _ := f.model(table)
	columns := union(model, with, func(db *database) (names []string) {
		for _, col := range db.tables[table].Columns {
			names = append(names, col.Name)
		}
		return names
	})
	all.parts(CodeSchemaColumn, table, columns, model, with, func(db *database, name string) string {
		return db.tables[table].describe(name)
	})
	both := slices.DeleteFunc(columns, func(name string) bool { return model.tables[table].column(name) == nil })
	all.parts(CodeSchemaDefault, table, both, model, with, func(db *database, name string) string {
		col := db.tables[table].column(name)
		if col == nil {
			col = model.tables[table].column(name) // schema-column reports it
		}
		if col.Default == nil {
			return "no default"
		}
		return "DEFAULT " + *col.Default
	})
	all.order(table, model, with)
	if slices.ContainsFunc(with, func(db *database) bool { return db.tables[table].storage() != "no engine" }) {
		all.add(compare(Result{Code: CodeSchemaStorage, Table: table}, model, with, func(db *database) string {
			return db.tables[table].storedIn(model.tables[table])
		}))
	}
	keys := union(model, with, func(db *database) []string { return db.tables[table].keys() })
	all.parts(CodeSchemaKey, table, keys, model, with, func(db *database, key string) string {
		if slices.Contains(db.tables[table].keys(), key) {
			return "present"
		}
		return "absent"
	})
}

// order compares the order of the columns that a database has in common
// with the model.
func (all *schemaFindings) order(table string, model *database, with []*database) {
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
	all.add(r)
}

// views compares which views there are.
func (all *schemaFindings) views(f *facts) {
	views := union(f.target, f.dbs, func(db *database) []string { return db.catalog.Views })
	all.parts(CodeSchemaView, "", views, f.target, f.dbs, func(db *database, view string) string {
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

// parts compares the parts of a table. Each that differs is a result of
// its own; those that do not are one together.
func (all *schemaFindings) parts(code, table string, names []string, model *database, dbs []*database, of func(*database, string) string) {
	alike := Result{Code: code, Table: table}
	for _, part := range names {
		r := compare(Result{Code: code, Table: table, Subject: part}, model, dbs, func(db *database) string { return of(db, part) })
		if code == CodeSchemaColumn || code == CodeSchemaDefault {
			r.Columns = []string{part}
		}
		if r.Count > 0 {
			all.add(r)
		} else {
			alike.Read += r.Read
		}
	}
	if alike.Read > 0 {
		alike.Message = "alike: " + printable.Count(alike.Read/int64(len(dbs)), "part", "parts") + " in " + printable.Count(int64(len(dbs)), "database", "databases")
		all.add(alike)
	}
}

// compare compares what each database has with what the model has, and counts
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
