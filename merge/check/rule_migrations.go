package check

import (
	"context"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
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
			result, compared, err := compareHistories(ctx, f, r, name)
			if err != nil || !compared {
				return Outcome{}, err
			}
			return Found(result), nil
		}})
	}
	return tasks
}

// compareHistories compares the histories of one name. compared is false if they
// tell of no migrations.
func compareHistories(ctx context.Context, f *Facts, r *Reader, name string) (result verdict.Result, compared bool, err error) {
	result = verdict.Result{Code: verdict.CodeSchemaMigration, Table: name}
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
			return result, false, nil
		}
		rows, unread, err := r.History(ctx, db, t, h.Columns)
		if err != nil {
			return result, false, err
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
		return result, true, nil
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
	return result, true, nil
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
