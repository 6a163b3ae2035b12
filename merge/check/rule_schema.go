package check

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// schemaRule compares every database's schema with the first world's.
var schemaRule = Rule{
	Codes:   []string{verdict.CodeSchemaVersion, verdict.CodeSchemaTable, verdict.CodeSchemaColumn, verdict.CodeSchemaKey, verdict.CodeSchemaDefault, verdict.CodeSchemaOrder, verdict.CodeSchemaStorage, verdict.CodeSchemaView},
	Catalog: judgeSchema,
}

func judgeSchema(f *Facts) []finding {
	var all schemaFindings
	all.version(f)
	if len(f.Tables) == 0 {
		all.add(verdict.Result{
			Code: verdict.CodeSchemaTable, Message: "no database has a table to merge",
			Gaps: []verdict.Gap{{Reason: "there is no table to check"}},
		})
	}
	for _, table := range f.Tables {
		all.table(f, table)
	}
	all.views(f)
	return all
}

// schemaFindings are what the rules about schemas found.
type schemaFindings []finding

func (all *schemaFindings) add(r verdict.Result) { *all = append(*all, finding{Result: r}) }

// version compares the versions that package store recorded. It does not
// apply to databases that store did not make.
func (all *schemaFindings) version(f *Facts) {
	if !slices.ContainsFunc(f.DBs, func(db *rules.Database) bool { return db.Catalog.SchemaVersion != 0 }) {
		return
	}
	all.add(compare(verdict.Result{Code: verdict.CodeSchemaVersion}, f.Model(), f.DBs, func(db *rules.Database) string {
		if db.Catalog.SchemaVersion == 0 {
			return "no version"
		}
		return fmt.Sprintf("version %d", db.Catalog.SchemaVersion)
	}))
}

func (all *schemaFindings) table(f *Facts, table string) {
	var with []*rules.Database
	var without, unread []string
	for _, db := range f.DBs {
		switch {
		case db.Tables[table] != nil:
			with = append(with, db)
		case db.Unread(table) != "":
			unread = append(unread, db.Name)
		default:
			without = append(without, db.Name)
		}
	}
	present := verdict.Result{Code: verdict.CodeSchemaTable, Table: table, Read: int64(len(f.DBs)), Count: int64(len(without))}
	if len(without) > 0 {
		present.Message = "missing in " + strings.Join(without, ", ")
	} else {
		present.Message = "in every database"
	}
	if len(unread) > 0 {
		present.Message += "; not read in " + strings.Join(unread, ", ")
	}
	all.add(present)

	model, _ := f.ModelOf(table)
	columns := union(model, with, func(db *rules.Database) (names []string) {
		return slice.Map(db.Tables[table].Columns, func(col catalog.Column) string { return col.Name })
	})
	all.parts(verdict.CodeSchemaColumn, table, columns, model, with, func(db *rules.Database, name string) string {
		return db.Tables[table].Describe(name)
	})
	both := slices.DeleteFunc(columns, func(name string) bool { return model.Tables[table].Column(name) == nil })
	all.parts(verdict.CodeSchemaDefault, table, both, model, with, func(db *rules.Database, name string) string {
		col := db.Tables[table].Column(name)
		if col == nil {
			col = model.Tables[table].Column(name) // schema-column reports it
		}
		if col.Default == nil {
			return "no default"
		}
		return "DEFAULT " + *col.Default
	})
	all.order(table, model, with)
	if slices.ContainsFunc(with, func(db *rules.Database) bool { return db.Tables[table].Storage() != "no engine" }) {
		all.add(compare(verdict.Result{Code: verdict.CodeSchemaStorage, Table: table}, model, with, func(db *rules.Database) string {
			return db.Tables[table].StoredIn(model.Tables[table])
		}))
	}
	keys := union(model, with, func(db *rules.Database) []string { return db.Tables[table].Keys() })
	all.parts(verdict.CodeSchemaKey, table, keys, model, with, func(db *rules.Database, key string) string {
		if slices.Contains(db.Tables[table].Keys(), key) {
			return "present"
		}
		return "absent"
	})
}

// order compares the order of the columns that a database has in common
// with the model.
func (all *schemaFindings) order(table string, model *rules.Database, with []*rules.Database) {
	r := verdict.Result{Code: verdict.CodeSchemaOrder, Table: table, Read: int64(len(with))}
	var differ []string
	names := func(of, in *catalog.Table) (names []string) {
		for _, col := range of.Columns {
			if in.Column(col.Name) != nil {
				names = append(names, col.Name)
			}
		}
		return names
	}
	want := model.Tables[table]
	for _, db := range with {
		t := db.Tables[table]
		have, wanted := names(t, want), names(want, t)
		for i, name := range have {
			if name != wanted[i] {
				r.Count++
				differ = append(differ, fmt.Sprintf("%s has %s where %s has %s", db.Name, name, model.Name, wanted[i]))
				break
			}
		}
	}
	r.Message = "the same in every database"
	if r.Count > 0 {
		r.Message = catalog.Few(differ)
	}
	all.add(r)
}

// views compares which views there are.
func (all *schemaFindings) views(f *Facts) {
	views := union(f.Model(), f.DBs, func(db *rules.Database) []string { return db.Catalog.Views })
	all.parts(verdict.CodeSchemaView, "", views, f.Model(), f.DBs, func(db *rules.Database, view string) string {
		if slices.Contains(db.Catalog.Views, view) {
			return "present"
		}
		return "absent"
	})
}

// parts compares the parts of a table. Each that differs is a result of
// its own; those that do not are one together.
func (all *schemaFindings) parts(code, table string, names []string, model *rules.Database, dbs []*rules.Database, of func(*rules.Database, string) string) {
	alike := verdict.Result{Code: code, Table: table}
	for _, part := range names {
		r := compare(verdict.Result{Code: code, Table: table, Subject: part}, model, dbs, func(db *rules.Database) string { return of(db, part) })
		if code == verdict.CodeSchemaColumn || code == verdict.CodeSchemaDefault {
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
func compare(r verdict.Result, model *rules.Database, dbs []*rules.Database, of func(*rules.Database) string) verdict.Result {
	want, others := of(model), ""
	for got, have := range slice.Groups(dbs, of) {
		r.Read += int64(len(have))
		if got != want {
			r.Count += int64(len(have))
			names := slice.Map(have, func(db *rules.Database) string { return db.Name })
			others += "; " + got + " in " + strings.Join(names, ", ")
		}
	}
	if r.Message = want + " in every database"; r.Count > 0 {
		r.Message = want + " in " + model.Name + others
	}
	return r
}

// union returns what any of the databases has, that of the model first.
func union(model *rules.Database, dbs []*rules.Database, of func(*rules.Database) []string) []string {
	var all []string
	for _, db := range append([]*rules.Database{model}, dbs...) {
		for _, name := range of(db) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
