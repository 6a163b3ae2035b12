package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"mergesafe/store"
)

// The tables that a merge leaves in its target. They are no data of the game.
const (
	MergesTable   = store.MergesTable        // every merge, with its plan
	ProgressTable = store.MergeProgressTable // how far each step came, by source and table
	RenamesTable  = store.MergeRenamesTable  // every value that was changed on the way
)

// The states of a merge in [MergesTable].
const (
	statePreparing = "preparing" // the renames are being noted; nothing was copied
	stateCopying   = "copying"
	stateCopied    = "copied"
	stateUndoing   = "undoing"
)

func createTables(d dialect) []string {
	if d.mysql() {
		const end = ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"
		return []string{
			"CREATE TABLE IF NOT EXISTS " + MergesTable + ` (
				id CHAR(32) NOT NULL, state VARCHAR(16) NOT NULL, plan LONGTEXT NOT NULL, began DATETIME(3) NOT NULL, PRIMARY KEY (id)` + end,
			"CREATE TABLE IF NOT EXISTS " + ProgressTable + ` (
				merge_id CHAR(32) NOT NULL, step VARCHAR(16) NOT NULL, source VARCHAR(200) NOT NULL, tab VARCHAR(200) NOT NULL,
				last_key LONGTEXT NOT NULL, done_rows BIGINT NOT NULL, row_sum CHAR(32) NOT NULL, finished INT NOT NULL,
				PRIMARY KEY (merge_id, step, source, tab)` + end,
			"CREATE TABLE IF NOT EXISTS " + RenamesTable + ` (
				merge_id CHAR(32) NOT NULL, n INT NOT NULL, source VARCHAR(200) NOT NULL, world VARCHAR(64) NOT NULL, tab VARCHAR(200) NOT NULL, col VARCHAR(200) NOT NULL,
				row_key LONGTEXT NOT NULL, old_value LONGTEXT NOT NULL, new_value LONGTEXT NOT NULL,
				PRIMARY KEY (merge_id, n)` + end,
		}
	}
	return []string{
		"CREATE TABLE IF NOT EXISTS " + MergesTable + ` (
			id TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, plan TEXT NOT NULL, began TEXT NOT NULL) WITHOUT ROWID`,
		"CREATE TABLE IF NOT EXISTS " + ProgressTable + ` (
			merge_id TEXT NOT NULL, step TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL,
			last_key TEXT NOT NULL, done_rows INTEGER NOT NULL, row_sum TEXT NOT NULL, finished INTEGER NOT NULL,
			PRIMARY KEY (merge_id, step, source, tab)) WITHOUT ROWID`,
		"CREATE TABLE IF NOT EXISTS " + RenamesTable + ` (
			merge_id TEXT NOT NULL, n INTEGER NOT NULL, source TEXT NOT NULL, world TEXT NOT NULL, tab TEXT NOT NULL, col TEXT NOT NULL,
			row_key TEXT NOT NULL, old_value TEXT NOT NULL, new_value TEXT NOT NULL,
			PRIMARY KEY (merge_id, n)) WITHOUT ROWID`,
	}
}

// manifest is what the target knows of one merge.
type manifest struct {
	on *link
	id string
}

func tables(ctx context.Context, on *link) (found map[string]bool, err error) {
	query := "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE ?"
	if on.dialect().mysql() {
		query = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE ?"
	}
	found = make(map[string]bool)
	err = on.rows(ctx, query, false, []any{"mergesafe_%"}, func(row []any) (bool, error) {
		found[strings.ToLower(text(row[0]))] = true
		return true, nil
	})
	return found, err
}

// text reads a column of text, whichever way the driver delivers it.
func text(v any) string {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// load returns the state of the merge and the plan that is noted there; "" if
// the target does not know of it.
func (m *manifest) load(ctx context.Context) (state string, err error) {
	found, err := tables(ctx, m.on)
	if err != nil || !found[MergesTable] {
		return "", err
	}
	err = m.on.rows(ctx, "SELECT state FROM "+MergesTable+" WHERE id = ?", false, []any{m.id}, func(row []any) (bool, error) {
		state = text(row[0])
		return true, nil
	})
	return state, err
}

// others returns the merges in the target that are neither this one nor
// completed.
func (m *manifest) others(ctx context.Context) (ids []string, err error) {
	found, err := tables(ctx, m.on)
	if err != nil || !found[MergesTable] {
		return nil, err
	}
	err = m.on.rows(ctx, "SELECT id FROM "+MergesTable+" WHERE id <> ? AND state <> ?", false, []any{m.id, stateCopied}, func(row []any) (bool, error) {
		ids = append(ids, text(row[0]))
		return true, nil
	})
	return ids, err
}

// later reports whether another merge was begun after this one.
func (m *manifest) later(ctx context.Context) (ids []string, err error) {
	err = m.on.rows(ctx, "SELECT a.id FROM "+MergesTable+" AS a JOIN "+MergesTable+" AS b ON b.id = ? WHERE a.id <> b.id AND a.began >= b.began", false, []any{m.id},
		func(row []any) (bool, error) {
			ids = append(ids, text(row[0]))
			return true, nil
		})
	return ids, err
}

// write notes the plan and its renames, in a state in which nothing was copied.
// It may have been broken off before.
func (m *manifest) write(ctx context.Context, p *Plan, began string) error {
	for _, s := range createTables(m.on.dialect()) {
		if _, err := m.on.exec(ctx, "create", s, false); err != nil {
			return err
		}
	}
	small := *p
	small.Renames = nil // in their own table
	plan, err := json.Marshal(&small)
	if err != nil {
		return err
	}
	err = m.on.tx(ctx, func() error {
		for _, table := range []string{RenamesTable, ProgressTable} {
			if _, err := m.on.exec(ctx, "clear", "DELETE FROM "+table+" WHERE merge_id = ?", false, m.id); err != nil {
				return err
			}
		}
		if _, err := m.on.exec(ctx, "clear", "DELETE FROM "+MergesTable+" WHERE id = ? AND state = ?", false, m.id, statePreparing); err != nil {
			return err
		}
		_, err := m.on.exec(ctx, "manifest", "INSERT INTO "+MergesTable+" (id, state, plan, began) VALUES (?, ?, ?, ?)", false, m.id, statePreparing, string(plan), began)
		return err
	})
	if err != nil {
		return err
	}
	const columns = 9
	const most = 200
	for at := 0; at < len(p.Renames); at += most {
		part := p.Renames[at:min(at+most, len(p.Renames))]
		var args []any
		for i, r := range part {
			args = append(args, m.id, at+i, r.Source, r.World, r.Table, r.Column, r.Key, r.Old, r.New)
		}
		row := "(" + marks(columns) + ")"
		query := "INSERT INTO " + RenamesTable + " (merge_id, n, source, world, tab, col, row_key, old_value, new_value) VALUES " + strings.Repeat(row+", ", len(part)-1) + row
		if err := m.on.tx(ctx, func() error {
			_, err := m.on.exec(ctx, "renames", query, len(part) == most, args...)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// advance turns the state of the merge to another one. Where it is that already
// nothing changes.
func (m *manifest) advance(ctx context.Context, from, to string) error {
	state, err := m.load(ctx)
	if err != nil || state == to {
		return err
	}
	if state != from {
		return fmt.Errorf("the merge %s is %q in the target, want %q: does another process work on it?", m.id, state, from)
	}
	n, err := m.on.exec(ctx, "state", "UPDATE "+MergesTable+" SET state = ? WHERE id = ? AND state = ?", false, to, m.id, from)
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: its state in the target has changed", errBusy)
	}
	return err
}

// remove takes the last of the merge out of the target, and the tables with
// the last merge.
func (m *manifest) remove(ctx context.Context) error {
	found, err := tables(ctx, m.on)
	if err != nil {
		return err
	}
	if !found[MergesTable] {
		return m.drop(ctx, found)
	}
	err = m.on.tx(ctx, func() error {
		for _, table := range []string{RenamesTable, ProgressTable} {
			if found[table] {
				if _, err := m.on.exec(ctx, "clear", "DELETE FROM "+table+" WHERE merge_id = ?", false, m.id); err != nil {
					return err
				}
			}
		}
		_, err := m.on.exec(ctx, "clear", "DELETE FROM "+MergesTable+" WHERE id = ?", false, m.id)
		return err
	})
	if err != nil {
		return err
	}
	left := 0
	if err := m.on.rows(ctx, "SELECT id FROM "+MergesTable+" WHERE id <> ?", false, []any{m.id}, func([]any) (bool, error) { left++; return true, nil }); err != nil || left > 0 {
		return err
	}
	return m.drop(ctx, found)
}

func (m *manifest) drop(ctx context.Context, found map[string]bool) error {
	for _, table := range []string{RenamesTable, ProgressTable, MergesTable} { // the one that is looked for comes last
		if found[table] {
			if _, err := m.on.exec(ctx, "drop", "DROP TABLE IF EXISTS "+table, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// mark is how far one step came in one table of one source.
type mark struct {
	step, source, table string
	after               []any // key of the last row; nil at the beginning
	rows                int64
	sum                 Sum
	finished            bool
	there               bool // in the table of marks
}

func (m *manifest) mark(ctx context.Context, step, source, table string) (*mark, error) {
	at := &mark{step: step, source: source, table: table}
	err := m.on.rows(ctx, "SELECT last_key, done_rows, row_sum, finished FROM "+ProgressTable+" WHERE merge_id = ? AND step = ? AND source = ? AND tab = ?", true,
		[]any{m.id, step, source, table}, func(row []any) (bool, error) {
			at.there = true
			at.rows, _ = row[1].(int64)
			finished, _ := row[3].(int64)
			at.finished = finished == 1
			if err := at.sum.UnmarshalText([]byte(text(row[2]))); err != nil {
				return false, err
			}
			var err error
			if key := text(row[0]); key != "" {
				at.after, err = decodeKey(key)
			}
			return true, err
		})
	return at, err
}

// move notes how far the step has come, in the transaction that did it. If the
// mark is not where it was left, another process works on the same merge.
func (m *manifest) move(ctx context.Context, from, to *mark) error {
	key := ""
	if to.after != nil {
		var err error
		if key, err = encodeKey(to.after); err != nil {
			return err
		}
	}
	finished := 0
	if to.finished {
		finished = 1
	}
	if !from.there {
		_, err := m.on.exec(ctx, "mark", "INSERT INTO "+ProgressTable+" (merge_id, step, source, tab, last_key, done_rows, row_sum, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", true,
			m.id, to.step, to.source, to.table, key, to.rows, to.sum.String(), finished)
		return err
	}
	n, err := m.on.exec(ctx, "mark", "UPDATE "+ProgressTable+" SET last_key = ?, done_rows = ?, row_sum = ?, finished = ? WHERE merge_id = ? AND step = ? AND source = ? AND tab = ? AND done_rows = ? AND row_sum = ? AND finished = 0", true,
		key, to.rows, to.sum.String(), finished, m.id, to.step, to.source, to.table, from.rows, from.sum.String())
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: its mark in table %q of %q has moved", errBusy, to.table, to.source)
	}
	return err
}

// mergedServers are all servers whose rows come to the target.
func mergedServers(p *Plan) (all []store.Server) {
	for _, w := range p.Sources {
		for _, s := range w.Servers {
			all = append(all, store.Server{ID: s.Server, Name: s.Name, World: s.World, Reserved: s.Mark})
		}
	}
	return all
}
