package build

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// bringRecords brings what the first world has on record to the new database: its registry, its numbers, and its keys; and of
// all worlds earlier merges with their renames. In the new registry its servers have the fence of this
// merge, the gate, until it is opened: they are the same worlds, in their next generation. So it is done before
// anything else is there, and once more when the first world is fenced and no process changes these any more.
func bringRecords(ctx context.Context, r *job.Run) error {
	there, err := r.Worlds[0].Texts(ctx, r.Worlds[0].Dialect().TableNames())
	if err != nil {
		return err
	}
	for _, table := range sqldb.Tables() {
		switch table {
		case record.ProgressTable, record.RecordTable:
			continue
		case record.MergesTable, record.RenamesTable:
			if err := bringHistory(ctx, r, table); err != nil {
				return fmt.Errorf("table %q: %w", table, err)
			}
			continue
		}
		if !slices.Contains(there, table) {
			continue
		}
		if table == worldregistry.Table {
			if err := noGameStarted(ctx, r); err != nil {
				return err
			}
		}
		if err := MakeRecord(ctx, r.Worlds[0], r.New, table); err != nil {
			return err
		}
		if err := bringRecord(ctx, r, table); err != nil {
			return fmt.Errorf("table %q: %w", table, err)
		}
	}
	return nil
}

// bringRecord brings the rows of one table of ours; those that are there are replaced.
func bringRecord(ctx context.Context, r *job.Run, table string) error {
	t, err := tableOf(ctx, r.Worlds[0], table)
	if err != nil {
		return err
	}
	rows, err := rowsOfOurs(ctx, r.Worlds[0], t.layout, t.layout.SelectFrom())
	if err == nil && table == worldregistry.Table {
		rows, err = asGate(r, t.layout, rows)
	}
	if err != nil {
		return err
	}
	return replaceRecord(ctx, r, t.layout, rows, "")
}

// bringHistory brings the earlier merges of all worlds, or their renames. A merge that two worlds had is that of the first.
func bringHistory(ctx context.Context, r *job.Run, table string) error {
	t, err := tableOf(ctx, r.New, table)
	if err != nil {
		return err
	}
	l, id, query, keep := t.layout, "merge_id", t.layout.SelectFrom(), " WHERE merge_id <> ?"
	if table == record.MergesTable {
		id, query, keep = "id", record.AllMerges(l.Reads), ""
	}
	at, later := slices.Index(l.Columns, id), slices.Index(l.Columns, "later")
	var rows [][]any
	from := make(map[string]int) // the world of each merge
	for i, w := range r.Worlds {
		there, err := w.Texts(ctx, w.Dialect().TableNames())
		if err != nil {
			return err
		}
		if !slices.Contains(there, table) {
			continue
		}
		theirs, err := rowsOfOurs(ctx, w, l, query)
		if err != nil {
			return err
		}
		for _, row := range theirs {
			merge := world.Text(row[at])
			if _, is := from[merge]; !is {
				from[merge] = i
			}
			if from[merge] != i {
				continue
			}
			if later >= 0 && world.Text(row[later]) == "" {
				row[later] = r.Plan.Path(i)
			}
			rows = append(rows, row)
		}
	}
	return replaceRecord(ctx, r, l, rows, keep)
}

func rowsOfOurs(ctx context.Context, on *world.Connection, l *world.Layout, query string) (rows [][]any, err error) {
	err = on.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.Tidy(row)
		rows = append(rows, row)
		return true, nil
	})
	return rows, err
}

// replaceRecord writes the rows of one table of ours. where, if not "", says which of those that are there are replaced: its
// value is this merge.
func replaceRecord(ctx context.Context, r *job.Run, l *world.Layout, rows [][]any, where string) error {
	return r.New.Tx(ctx, func() error {
		if err := r.Manifest.HoldState(ctx, r.Manifest.Working(), record.Exclusive); err != nil {
			return err
		}
		var args []any
		if where != "" {
			args = []any{r.Plan.ID}
		}
		if _, err := r.New.Exec(ctx, "clear", "DELETE FROM "+l.Table+where, false, args...); err != nil {
			return err
		}
		return job.Insert(ctx, r, l, rows)
	})
}

// noGameStarted refuses a new database in which a game server was started before its gate was there.
func noGameStarted(ctx context.Context, r *job.Run) error {
	tables, err := r.New.Texts(ctx, r.New.Dialect().TableNames())
	if err != nil || !slices.Contains(tables, worldregistry.Table) {
		return err
	}
	now, err := record.Servers(ctx, r.New.Database)
	if err != nil {
		return err
	}
	if uses := record.InUse(r.New.Name, now, r.Plan.ID); len(uses) > 0 {
		return refused(r, plan.NextUndoPlan, uses[0].Reason)
	}
	return nil
}

// asGate are the rows of the registry as the new database has them: its servers are fenced, and
// those of the other worlds are listed.
func asGate(r *job.Run, l *world.Layout, rows [][]any) ([][]any, error) {
	at := func(column string) int { return slices.Index(l.Columns, column) }
	gate, err := worldregistry.FenceHere(r.Plan.ID, r.New.Name, r.Hooks.Clock()).Value()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if world.Text(row[at("role")]) != worldregistry.RoleOwn {
			continue
		}
		epoch, err := world.IntIn(row[at("epoch")], worldregistry.Table+".epoch")
		if err != nil {
			return nil, err
		}
		row[at("epoch")], row[at("holder")] = worldregistry.NextGeneration(epoch), gate
	}
	now := r.Hooks.Clock().UnixMilli()
	for _, s := range record.MergedServers(r.Plan) {
		values := map[string]any{"server_id": int64(s.ID), "name": s.Name, "world": s.World, "role": worldregistry.RoleMerged, "epoch": int64(1),
			"reserved_ms": s.Reserved, "created_ms": now, "updated_ms": now, "holder": "", "fleet": ""}
		row := make([]any, len(l.Columns))
		for i, column := range l.Columns {
			if row[i] = values[column]; row[i] == nil {
				row[i] = int64(0)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// recordTable is one of our tables in the first world.
type recordTable struct {
	create string
	layout *world.Layout
}

func tableOf(ctx context.Context, on *world.Connection, table string) (*recordTable, error) {
	create, columns := "SHOW CREATE TABLE "+on.Dialect().Quote(table), "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION"
	if !on.Dialect().MySQL() {
		create, columns = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name = '"+table+"'", "SELECT name FROM pragma_table_info(?)"
	}
	t := &recordTable{layout: &world.Layout{Dialect: on.Dialect(), Table: table}}
	err := on.Rows(ctx, create, false, nil, func(row []any) (bool, error) {
		t.create = world.Text(row[1])
		return true, nil
	})
	if err == nil {
		t.layout.Columns, err = on.Texts(ctx, columns, table)
	}
	if err == nil && len(t.layout.Columns) == 0 {
		err = fmt.Errorf("database %q has no table %q any more: it was dropped or renamed after the command began", on.Name, table)
	}
	for _, c := range t.layout.Columns {
		read := on.Dialect().Quote(c)
		if on.Dialect().MySQL() && (c == "began" || c == "came") { // a moment, as text
			read = "CAST(" + read + " AS CHAR)"
		}
		t.layout.Reads, t.layout.Text = append(t.layout.Reads, read), append(t.layout.Text, false)
	}
	return t, err
}

// Records are the rows of one of our tables, by column.
func Records(ctx context.Context, on *world.Connection, table string) (all []map[string]any, err error) {
	t, err := tableOf(ctx, on, table)
	if err != nil {
		return nil, err
	}
	err = on.Rows(ctx, t.layout.SelectFrom(), false, nil, func(row []any) (bool, error) {
		one := make(map[string]any)
		for i, column := range t.layout.Columns {
			one[column] = row[i]
		}
		all = append(all, one)
		return true, nil
	})
	return all, err
}

// MakeRecord makes one of our tables as another database has it, if it is not there.
func MakeRecord(ctx context.Context, from, to *world.Connection, table string) error {
	t, err := tableOf(ctx, from, table)
	if err == nil {
		_, err = to.Exec(ctx, "create", strings.Replace(t.create, "CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", 1), false)
	}
	return err
}

// AddRecord adds a row to one of our tables, unless one with its key is there.
func AddRecord(ctx context.Context, on *world.Connection, table string, row map[string]any, key ...string) error {
	var columns, conditions []string
	var values, keys []any
	for _, column := range slices.Sorted(maps.Keys(row)) {
		columns, values = append(columns, column), append(values, row[column])
	}
	for _, column := range key {
		conditions, keys = append(conditions, column+" = ?"), append(keys, row[column])
	}
	n, err := on.Number(ctx, "SELECT COUNT(*) FROM "+table+" WHERE "+strings.Join(conditions, " AND "), false, keys...)
	if err == nil && n == 0 {
		_, err = on.Exec(ctx, "raise", "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES ("+sqldb.Marks(len(columns))+")", false, values...)
	}
	return err
}

// bringSequences gives the counters of SQLite the values of the first world. Those of other
// databases come with their tables.
func bringSequences(ctx context.Context, r *job.Run) error {
	const name = "sqlite_sequence"
	if r.New.Dialect().MySQL() {
		return nil
	}
	last, err := world.Sequences(ctx, r.Worlds[0])
	for table, n := range last {
		var changed int64
		if err == nil {
			changed, err = r.New.Exec(ctx, "counter", "UPDATE "+name+" SET seq = MAX(seq, ?) WHERE name = ?", false, n, table)
		}
		if err == nil && changed == 0 {
			_, err = r.New.Exec(ctx, "counter", "INSERT INTO "+name+" (name, seq) VALUES (?, ?)", false, table, n)
		}
	}
	return err
}
