package merge

import (
	"context"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// migrationRule compares the histories that tools for migrations keep. Two schemas
// that look alike may stand at different migrations: one that changes rows, say.
func migrationRule() rule {
	return rule{
		codes: []string{CodeSchemaMigration},
		tasks: migrationTasks,
	}
}

func migrationTasks(f *facts) (tasks []task) {
	all := make(map[string]bool)
	for _, db := range f.dbs {
		for name := range db.histories {
			all[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !f.wants(CodeSchemaMigration, name, "") {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeSchemaMigration, columns: idOf(name)}, nil, func(ctx context.Context, r *reader) (outcome, error) {
			result, compared, err := compareHistories(ctx, f, historian{r}, name)
			if err != nil || !compared {
				return outcome{}, err
			}
			return found(result), nil
		}})
	}
	return tasks
}

// compareHistories compares the histories of one name. compared is false if they
// tell of no migrations.
func compareHistories(ctx context.Context, f *facts, r historian, name string) (result Result, compared bool, err error) {
	result = Result{Code: CodeSchemaMigration, Table: name}
	known := make(map[*database]map[string]bool)
	var model *database
	for _, db := range f.dbs {
		t := db.histories[name]
		if t == nil {
			result.Gaps = append(result.Gaps, Gap{db.name, "it keeps no such history, so it is not known at which migration it is"})
			continue
		}
		h := t.history()
		if h.note == nil {
			return result, false, nil
		}
		rows, unread, err := r.read(ctx, db, t, h.columns)
		if err != nil {
			return result, false, err
		}
		done, half := h.migrations(rows)
		if unread == "" && len(half) > 0 {
			unread = "the migration " + few(half) + " did not end"
		}
		if unread != "" {
			result.Gaps = append(result.Gaps, Gap{db.name, unread})
			continue
		}
		result.Read++
		known[db] = done
		if model == nil || db == f.target {
			model = db
		}
	}
	if model == nil {
		result.Message = "nothing could be compared"
		return result, true, nil
	}
	at := func(db *database) string { return db.histories[name].history().tool + ": " + lastOf(known[db]) }
	result.Message = at(model) + " in " + model.name
	for _, db := range f.dbs {
		if known[db] == nil || at(db) == at(model) && maps.Equal(known[db], known[model]) {
			continue
		}
		result.Count++
		result.Message += "; " + at(db) + " in " + db.name
		if lacks := lacking(known[db], known[model]); len(lacks) > 0 {
			result.Message += ", without " + enumerated(lacks)
		}
		if more := lacking(known[model], known[db]); len(more) > 0 {
			result.Message += ", with " + enumerated(more) + " besides"
		}
	}
	if result.Count == 0 && len(result.Gaps) == 0 {
		result.Message = at(model) + " in every database"
	}
	return result, true, nil
}

// migrations are those that the rows of a history, in their order, tell as carried
// out, and those that did not end.
func (h *history) migrations(rows []map[string]string) (done map[string]bool, half []string) {
	done = make(map[string]bool)
	last := make(map[string]ending)
	for _, row := range rows {
		if migration, end := h.note(row); migration != "" {
			last[migration] = end
		}
	}
	for _, migration := range inOrderOfVersions(last) {
		switch last[migration] {
		case applied:
			done[migration] = true
		case unfinished:
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
