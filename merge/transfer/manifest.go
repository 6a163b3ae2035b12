package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
)

// The tables of a merge in its target. They have no data of the game.
const (
	MergesTable   = sqldb.MergesTable   // every merge, with its plan
	ProgressTable = sqldb.ProgressTable // the checkpoint of every step, by source, table and range
	RenamesTable  = sqldb.RenamesTable  // every value that was changed
)

// beganLayout is how the target keeps when a merge began, in UTC.
const beganLayout = "2006-01-02 15:04:05.000"

func createTables(d dialect) []string {
	if d.mysql() {
		const end = ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"
		return []string{
			"CREATE TABLE IF NOT EXISTS " + MergesTable + ` (
				id CHAR(32) NOT NULL, state VARCHAR(16) NOT NULL, plan LONGTEXT NOT NULL, began DATETIME(3) NOT NULL, PRIMARY KEY (id)` + end,
			"CREATE TABLE IF NOT EXISTS " + ProgressTable + ` (
				merge_id CHAR(32) NOT NULL, step VARCHAR(16) NOT NULL, source VARCHAR(200) NOT NULL, tab VARCHAR(200) NOT NULL, part INT NOT NULL,
				last_key LONGTEXT NOT NULL, done_rows BIGINT NOT NULL, row_sum CHAR(32) NOT NULL, finished INT NOT NULL,
				PRIMARY KEY (merge_id, step, source, tab, part)` + end,
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
			merge_id TEXT NOT NULL, step TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL, part INTEGER NOT NULL,
			last_key TEXT NOT NULL, done_rows INTEGER NOT NULL, row_sum TEXT NOT NULL, finished INTEGER NOT NULL,
			PRIMARY KEY (merge_id, step, source, tab, part)) WITHOUT ROWID`,
		"CREATE TABLE IF NOT EXISTS " + RenamesTable + ` (
			merge_id TEXT NOT NULL, n INTEGER NOT NULL, source TEXT NOT NULL, world TEXT NOT NULL, tab TEXT NOT NULL, col TEXT NOT NULL,
			row_key TEXT NOT NULL, old_value TEXT NOT NULL, new_value TEXT NOT NULL,
			PRIMARY KEY (merge_id, n)) WITHOUT ROWID`,
	}
}

// manifest is the record of one merge in the target.
type manifest struct {
	on *connection
	id string

	left State // in which this process found the merge, or left it

	removing bool // by this process, so that no record is no sign of another one
}

// tables returns the tables of merges that the target has.
func (m *manifest) tables(ctx context.Context) ([]string, error) {
	query := "SELECT LOWER(name) FROM sqlite_schema WHERE type = 'table' AND name LIKE ?"
	if m.on.dialect().mysql() {
		query = "SELECT LOWER(TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE ?"
	}
	return m.on.texts(ctx, query, "mergesafe_%")
}

// load returns the state of the merge; "" if the target does not know of it.
func (m *manifest) load(ctx context.Context) (State, error) {
	states, err := m.ask(ctx, "SELECT state FROM "+MergesTable+" WHERE id = ?", m.id)
	return State(strings.Join(states, "")), err
}

// others returns the merges in the target that are neither this one nor
// completed.
func (m *manifest) others(ctx context.Context) (ids []string, err error) {
	return m.ask(ctx, "SELECT id FROM "+MergesTable+" WHERE id <> ? AND state <> ?", m.id, string(StateCopied))
}

// later returns the merges that were begun after this one.
func (m *manifest) later(ctx context.Context) (ids []string, err error) {
	return m.ask(ctx, "SELECT a.id FROM "+MergesTable+" AS a JOIN "+MergesTable+" AS b ON b.id = ? WHERE a.id <> b.id AND a.began >= b.began", m.id)
}

// last returns the merge that was begun last; "" if there is none.
func (m *manifest) last(ctx context.Context) (id string, err error) {
	ids, err := m.ask(ctx, "SELECT id FROM "+MergesTable+" ORDER BY began DESC, id DESC LIMIT 1")
	return strings.Join(ids, ""), err
}

// ask returns the answer to a query for merges; none if there is no table of
// merges.
func (m *manifest) ask(ctx context.Context, query string, args ...any) ([]string, error) {
	found, err := m.tables(ctx)
	if err != nil || !slices.Contains(found, MergesTable) {
		return nil, err
	}
	return m.on.texts(ctx, query, args...)
}

// create makes the tables of merges, if they are not there.
func (m *manifest) create(ctx context.Context) error {
	for _, s := range createTables(m.on.dialect()) {
		if _, err := m.on.exec(ctx, "create", s, false); err != nil {
			return err
		}
	}
	return m.divideProgress(ctx)
}

// after returns the time at which the merge begins: now, or directly after the merge that was
// begun last, if the clock says that this one is older. The times tell which merge came later.
func (m *manifest) after(ctx context.Context, now time.Time) (string, error) {
	began := now.UTC().Truncate(time.Millisecond)
	last, err := m.on.texts(ctx, "SELECT CAST(MAX(began) AS CHAR) FROM "+MergesTable+" WHERE id <> ? HAVING MAX(began) IS NOT NULL", m.id)
	for _, text := range last {
		at, err := time.Parse(beganLayout, text)
		if err != nil {
			return "", fmt.Errorf("the time of the last merge: %w", err)
		}
		if !at.Before(began) {
			began = at.Add(time.Millisecond)
		}
	}
	return began.Format(beganLayout), err
}

// write records the plan and its renames, in [StatePreparing]. It may have been
// interrupted before.
func (m *manifest) write(ctx context.Context, p *Plan, now time.Time) error {
	small := *p
	small.Renames = nil // in their own table
	plan, err := json.Marshal(&small)
	if err == nil {
		err = m.on.connect(ctx) // which tells how much a statement may take
	}
	if err == nil && len(plan) > m.on.packet { // when all is there, they are in a table of their own
		small.Rekey = withoutMatches(p.Rekey)
		plan, err = json.Marshal(&small)
	}
	if err != nil {
		return err
	}
	err = m.on.tx(ctx, func() error {
		if err := m.clear(ctx, RenamesTable, ProgressTable); err != nil {
			return err
		}
		if _, err := m.on.exec(ctx, "clear", "DELETE FROM "+MergesTable+" WHERE id = ? AND state = ?", false, m.id, string(StatePreparing)); err != nil {
			return err
		}
		began, err := m.after(ctx, now)
		if err != nil {
			return err
		}
		_, err = m.on.exec(ctx, "manifest", "INSERT INTO "+MergesTable+" (id, state, plan, began) VALUES (?, ?, ?, ?)", false, m.id, string(StatePreparing), string(plan), began)
		if errors.Is(err, sqldb.ErrDuplicate) {
			err = fmt.Errorf("%w: it has begun the merge %s meanwhile", ErrBusy, m.id)
		}
		return err
	})
	if err != nil {
		if found, unread := m.tables(ctx); unread == nil && !slices.Contains(found, MergesTable) {
			err = fmt.Errorf("%w: it removed the tables that the merge needs: %w", ErrBusy, err)
		}
		return err
	}
	m.left = StatePreparing
	const columns, most = 9, 200
	for at := 0; at < len(p.Renames); at += most {
		part := p.Renames[at:min(at+most, len(p.Renames))]
		var args []any
		for i, r := range part {
			args = append(args, m.id, at+i, r.Source, r.World, r.Table, r.Column, r.Key, r.Old, r.New)
		}
		row := "(" + sqldb.Marks(columns) + ")"
		query := "INSERT INTO " + RenamesTable + " (merge_id, n, source, world, tab, col, row_key, old_value, new_value) VALUES " + strings.Repeat(row+", ", len(part)-1) + row
		if err := m.on.tx(ctx, func() error {
			if err := m.still(ctx, StatePreparing, sharing); err != nil {
				return err
			}
			_, err := m.on.exec(ctx, "renames", query, len(part) == most, args...)
			if errors.Is(err, sqldb.ErrDuplicate) {
				err = fmt.Errorf("%w: it begins the merge %s too", ErrBusy, m.id)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// clear removes what tables hold of the merge.
func (m *manifest) clear(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		if _, err := m.on.exec(ctx, "clear", "DELETE FROM "+table+" WHERE merge_id = ?", false, m.id); err != nil {
			return err
		}
	}
	return nil
}

// advance changes the state of the merge. If it is that state already, nothing
// changes.
func (m *manifest) advance(ctx context.Context, from, to State) error {
	state, err := m.load(ctx)
	if err != nil {
		return err
	}
	if state == to {
		m.left = to
		return nil
	}
	if state != from {
		return m.moved(state, from)
	}
	n, err := m.on.exec(ctx, "state", "UPDATE "+MergesTable+" SET state = ? WHERE id = ? AND state = ?", false, string(to), m.id, string(from))
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: its state in the target has changed", ErrBusy)
	}
	if err == nil {
		m.left = to
	}
	return err
}

// remove removes the record of the merge, and with the last merge the tables. The merge is in
// the state in which this process left it, or the record is gone already.
func (m *manifest) remove(ctx context.Context) error {
	m.removing = true
	found, err := m.tables(ctx)
	if err != nil {
		return err
	}
	ends := m.on.dialect().mysql() // with DROP TABLE, a transaction ends
	if slices.Contains(found, MergesTable) {
		err = m.on.tx(ctx, func() error {
			is, err := m.lock(ctx, alone)
			if err != nil {
				if now, unread := m.tables(ctx); unread == nil && !slices.Contains(now, MergesTable) {
					found = now // another process removed it since
					return nil
				}
				return err
			}
			if is != "" && is != m.left {
				return m.moved(is, m.left)
			}
			missing := func(table string) bool { return !slices.Contains(found, table) }
			if err := m.clear(ctx, slices.DeleteFunc([]string{RenamesTable, ProgressTable}, missing)...); err != nil {
				return err
			}
			if _, err := m.on.exec(ctx, "clear", "DELETE FROM "+MergesTable+" WHERE id = ?", false, m.id); err != nil || ends {
				return err
			}
			return m.dropEmpty(ctx, found)
		})
	}
	if err == nil && (ends || !slices.Contains(found, MergesTable)) {
		err = m.alone(ctx, found, func() error { return m.dropEmpty(ctx, found) })
	}
	if err == nil {
		m.left = ""
	}
	return err
}

// ours are the tables of merges. load looks for the last one.
var ours = []string{RenamesTable, ProgressTable, MergesTable}

// dropEmpty drops the tables of merges, if there is no merge.
func (m *manifest) dropEmpty(ctx context.Context, found []string) error {
	if slices.Contains(found, MergesTable) {
		if left, err := m.on.number(ctx, "SELECT COUNT(*) FROM "+MergesTable, false); err != nil || left > 0 {
			return err
		}
	}
	for _, table := range ours {
		if slices.Contains(found, table) {
			if _, err := m.on.exec(ctx, "drop", "DROP TABLE IF EXISTS "+table, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// alone calls f while nobody else writes to the tables of merges, so that no merge begins that
// f does not see. An account that may not lock tables does without, and so does a server that
// locks none, as some clusters are set up.
func (m *manifest) alone(ctx context.Context, found []string, f func() error) error {
	var locks []string
	for _, table := range ours {
		if slices.Contains(found, table) {
			locks = append(locks, table+" WRITE")
		}
	}
	if !m.on.dialect().mysql() || len(locks) == 0 {
		return f()
	}
	_, err := m.on.exec(ctx, "lock", "LOCK TABLES "+strings.Join(locks, ", "), false)
	if sqldb.IsDenied(err) || sqldb.IsRefused(err) {
		return f()
	}
	if err == nil {
		err = f()
	}
	if err != nil {
		m.on.drop() // and the locks with it
		return err
	}
	_, err = m.on.exec(ctx, "unlock", "UNLOCK TABLES", false)
	return err
}
