package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// migrationRule compares the histories that tools for migrations keep. Two schemas
// that look alike may stand at different migrations: one that changes rows, say.
var migrationRule = Rule{
	Codes: []string{verdict.CodeSchemaMigration},
	Tasks: migrationTasks,
}

func migrationTasks(f *Facts) (tasks []Task) {
	all := make(map[string]bool)
	for _, db := range f.DBs {
		for name := range db.Histories {
			all[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		tasks = append(tasks, Task{Code: verdict.CodeSchemaMigration, Tables: nil, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
			return compareHistories(ctx, r, name)
		}})
	}
	return tasks
}

// compareHistories compares the histories of one name. It finds nothing if they tell of no migrations.
func compareHistories(ctx context.Context, r *Reader, name string) (Outcome, error) {
	f, result := r.Facts, verdict.Result{Code: verdict.CodeSchemaMigration, Table: name}
	known := make(map[*rules.Database]map[string]bool)
	var model *rules.Database
	for _, db := range f.DBs {
		t := db.Histories[name]
		if t == nil {
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: "it has no such history, so its migration is unknown"})
			continue
		}
		h := t.MigrationsOf()
		if h.Note == nil {
			return Outcome{}, nil
		}
		rows, unread, err := history(ctx, db, t, h.Columns)
		if err != nil {
			return Outcome{}, err
		}
		done, half := migrations(h, rows)
		if unread == "" && len(half) > 0 {
			unread = "the migration " + catalog.Few(half) + " did not end"
		}
		if unread != "" {
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: unread})
			continue
		}
		result.Read++
		known[db] = done
		if model == nil || db == f.Model() {
			model = db
		}
	}
	if model == nil {
		result.Message = "nothing could be compared"
		return Found(result), nil
	}
	at := func(db *rules.Database) string {
		return db.Histories[name].MigrationsOf().Tool + ": " + lastOf(known[db])
	}
	result.Message = at(model) + " in " + model.Name
	for _, db := range f.DBs {
		if known[db] == nil || at(db) == at(model) && maps.Equal(known[db], known[model]) {
			continue
		}
		result.Count++
		result.Message += "; " + at(db) + " in " + db.Name
		if lacks := lacking(known[db], known[model]); len(lacks) > 0 {
			result.Message += ", without " + catalog.Enumerated(lacks)
		}
		if more := lacking(known[model], known[db]); len(more) > 0 {
			result.Message += ", with " + catalog.Enumerated(more) + " besides"
		}
	}
	if result.Count == 0 && len(result.Gaps) == 0 {
		result.Message = at(model) + " in every database"
	}
	return Found(result), nil
}

// migrations are those that the rows of a history, in their order, tell as carried
// out, and those that did not end.
func migrations(h *catalog.History, rows []map[string]string) (done map[string]bool, half []string) {
	done = make(map[string]bool)
	last := make(map[string]catalog.Ending)
	for _, row := range rows {
		if migration, end := h.Note(row); migration != "" {
			last[migration] = end
		}
	}
	for _, migration := range inOrderOfVersions(last) {
		switch last[migration] {
		case catalog.Applied:
			done[migration] = true
		case catalog.Unfinished:
			half = append(half, migration)
		}
	}
	return done, half
}

// lastOf is, for example, "35 migrations up to 20260301".
func lastOf(done map[string]bool) string {
	all := inOrderOfVersions(done)
	if len(all) == 0 {
		return "no migration"
	}
	if len(all) == 1 {
		return "migration " + all[0]
	}
	return printable.Count(int64(len(all)), "migration", "migrations") + " up to " + all[len(all)-1]
}

// lacking are the migrations of the other that one has not.
func lacking(one, other map[string]bool) (all []string) {
	for _, migration := range inOrderOfVersions(other) {
		if !one[migration] {
			all = append(all, migration)
		}
	}
	return all
}

// inOrderOfVersions sorts versions, numbers by their size.
func inOrderOfVersions[V any](all map[string]V) []string {
	isNumber := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		if isNumber(a) && isNumber(b) && len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
}

// mostMigrations is far more than any game has.
const mostMigrations = 100_000

// history returns the rows of a history of migrations, in the order of its key, by the names of its
// columns in small letters. unread says why it cannot.
func history(ctx context.Context, db *rules.Database, t *catalog.Table, columns []string) (rows []map[string]string, unread string, err error) {
	scan := catalog.Scan{Table: t.Name}
	for _, c := range t.Columns {
		for _, name := range columns {
			if strings.EqualFold(c.Name, name) {
				scan.Carry = append(scan.Carry, c.Name)
			}
		}
	}
	scan.Order = slice.Map(t.Key(), func(name string) catalog.Order { return catalog.Order{Column: name} })
	s := &stream.Stream{DB: db, Scan: scan}
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for i := range b.Len {
			row := make(map[string]string)
			for c, name := range scan.Carry {
				row[strings.ToLower(name)] = strings.Trim(string(b.Carry[c].At(i)), "'")
			}
			rows = append(rows, row)
		}
		if len(rows) > mostMigrations {
			s.Broken = fmt.Errorf("it has more than %d rows", mostMigrations)
		}
	})
	if unread, err = unreadable(s.Drain(ctx)); unread == "" && s.Broken != nil {
		return nil, s.Broken.Error(), nil
	}
	return rows, unread, err
}
