package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// The tables of a merge in the database that it makes. They have no data of the game.
const (
	MergesTable   = sqldb.MergesTable   // every merge, with its plan
	ProgressTable = sqldb.ProgressTable // the checkpoint of every step, by source, table and range
	RenamesTable  = sqldb.RenamesTable  // every name and number that was changed
)

// beganLayout is how the record keeps when a merge began, in UTC.
const beganLayout = "2006-01-02 15:04:05.000"

// mysqlEnd ends the statement that makes a table of the record. Keys of 928 bytes need the row format, which the server
// may have another default for.
const mysqlEnd = ") ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

// CreateTables are the statements that make the tables of the record; comment is [Manifest.Comment].
func CreateTables(d rowio.Dialect, comment string) []string {
	if d.MySQL() {
		return []string{
			"CREATE TABLE IF NOT EXISTS " + MergesTable + ` (
				id CHAR(32) NOT NULL, state VARCHAR(16) NOT NULL, claim VARCHAR(32) NOT NULL DEFAULT '', plan LONGTEXT NOT NULL, began DATETIME(3) NOT NULL, PRIMARY KEY (id)` + mysqlEnd + " COMMENT='" + comment + "'",
			"CREATE TABLE IF NOT EXISTS " + ProgressTable + ` (
				merge_id CHAR(32) NOT NULL, step VARCHAR(16) NOT NULL, source VARCHAR(200) NOT NULL, tab VARCHAR(200) NOT NULL, part INT NOT NULL,
				done_rows BIGINT NOT NULL, row_sum CHAR(32) NOT NULL, finished INT NOT NULL,
				PRIMARY KEY (merge_id, step, source, tab, part)` + mysqlEnd,
			"CREATE TABLE IF NOT EXISTS " + RenamesTable + ` (
				merge_id CHAR(32) NOT NULL, n INT NOT NULL, source VARCHAR(200) NOT NULL, world VARCHAR(64) NOT NULL, tab VARCHAR(200) NOT NULL, col VARCHAR(200) NOT NULL,
				row_key LONGTEXT NOT NULL, old_value LONGTEXT NOT NULL, new_value LONGTEXT NOT NULL,
				PRIMARY KEY (merge_id, n)` + mysqlEnd,
		}
	}
	return []string{
		"CREATE TABLE IF NOT EXISTS " + MergesTable + ` (
			id TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, claim TEXT NOT NULL DEFAULT '', plan TEXT NOT NULL, began TEXT NOT NULL) WITHOUT ROWID`,
		"CREATE TABLE IF NOT EXISTS " + ProgressTable + ` (
			merge_id TEXT NOT NULL, step TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL, part INTEGER NOT NULL,
			done_rows INTEGER NOT NULL, row_sum TEXT NOT NULL, finished INTEGER NOT NULL,
			PRIMARY KEY (merge_id, step, source, tab, part)) WITHOUT ROWID`,
		"CREATE TABLE IF NOT EXISTS " + RenamesTable + ` (
			merge_id TEXT NOT NULL, n INTEGER NOT NULL, source TEXT NOT NULL, world TEXT NOT NULL, tab TEXT NOT NULL, col TEXT NOT NULL,
			row_key TEXT NOT NULL, old_value TEXT NOT NULL, new_value TEXT NOT NULL,
			PRIMARY KEY (merge_id, n)) WITHOUT ROWID`,
	}
}

// Manifest is the record of one merge in the database that it makes.
type Manifest struct {
	On *rowio.Connection
	ID string

	Try bool // this process makes a rehearsal

	Claim string // of this process on filling the tables, if it took it: see [Manifest.TakeUp]

	Left State // in which this process found the merge, or left it

	Removing bool // by this process, so that no record is no sign of another one
}

// Tables returns the tables of merges that a database has.
func (m *Manifest) Tables(ctx context.Context) ([]string, error) {
	query := "SELECT LOWER(name) FROM sqlite_schema WHERE type = 'table' AND name LIKE ?"
	if m.On.Dialect().MySQL() {
		query = "SELECT LOWER(TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE ?"
	}
	return m.On.Texts(ctx, query, "mergesafe_%")
}

// Load returns the state of the merge; "" if there is no record of it.
func (m *Manifest) Load(ctx context.Context) (State, error) {
	states, err := m.Ask(ctx, "SELECT state FROM "+MergesTable+" WHERE id = ?", m.ID)
	return State(strings.Join(states, "")), err
}

// MadeFor returns what the comment of the record says: for which merge or rehearsal it was made. It is "" without a
// record, and in SQLite, which has no comments.
func (m *Manifest) MadeFor(ctx context.Context) (comment string, err error) {
	if !m.On.Dialect().MySQL() {
		return "", nil
	}
	comments, err := m.On.Texts(ctx, "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", MergesTable)
	return strings.Join(comments, ""), err
}

// Comment is what the comment of the record says.
func (m *Manifest) Comment() string {
	if m.Try {
		return "try " + m.ID
	}
	return "merge " + m.ID
}

// Working is the state while rows are copied.
func (m *Manifest) Working() State {
	if m.Try {
		return StateTried
	}
	return StateCopying
}

// Began returns when the merge began; nil if it did not.
func (m *Manifest) Began(ctx context.Context) (*time.Time, error) {
	texts, err := m.Ask(ctx, "SELECT CAST(began AS CHAR) FROM "+MergesTable+" WHERE id = ?", m.ID)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	at, err := time.Parse(beganLayout, texts[0])
	if err != nil {
		return nil, fmt.Errorf("transfer: when the merge %s began: %w", m.ID, err)
	}
	return &at, nil
}

// Others returns the merges in the database that are neither this one nor
// completed.
func (m *Manifest) Others(ctx context.Context) (ids []string, err error) {
	return m.Ask(ctx, "SELECT id FROM "+MergesTable+" WHERE id <> ? AND state <> ?", m.ID, string(StateOpen))
}

// last returns the merge that was begun last; "" if there is none.
func (m *Manifest) last(ctx context.Context) (id string, err error) {
	ids, err := m.Ask(ctx, "SELECT id FROM "+MergesTable+" ORDER BY began DESC, id DESC LIMIT 1")
	return strings.Join(ids, ""), err
}

// Ask returns the answer to a query for merges; none if there is no table of
// merges.
func (m *Manifest) Ask(ctx context.Context, query string, args ...any) ([]string, error) {
	found, err := m.Tables(ctx)
	if err != nil || !slices.Contains(found, MergesTable) {
		return nil, err
	}
	return m.On.Texts(ctx, query, args...)
}

// Create makes the tables of merges, if they are not there.
func (m *Manifest) Create(ctx context.Context) error {
	for _, s := range CreateTables(m.On.Dialect(), m.Comment()) {
		if _, err := m.On.Exec(ctx, "create", s, false); err != nil {
			return err
		}
	}
	return nil
}

// after returns the time at which the merge begins: now, or directly after the merge that was
// begun last, if the clock says that this one is older. The times tell which merge came later.
func (m *Manifest) after(ctx context.Context, now time.Time) (string, error) {
	began := now.UTC().Truncate(time.Millisecond)
	last, err := m.On.Texts(ctx, "SELECT CAST(MAX(began) AS CHAR) FROM "+MergesTable+" WHERE id <> ? HAVING MAX(began) IS NOT NULL", m.ID)
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

// Write records the plan and its renames, in [StatePreparing] or, of a rehearsal, [StateTried]. It may have been
// interrupted before.
func (m *Manifest) Write(ctx context.Context, p *plan.Plan, now time.Time) error {
	state := StatePreparing
	if m.Try {
		state = StateTried
	}
	small := *p
	small.Renames = nil // in their own table
	document, err := json.Marshal(&small)
	if err == nil {
		err = m.On.Connect(ctx) // which tells how much a statement may take
	}
	if err == nil && len(document) > m.On.Packet { // when all is there, they are in a table of their own
		small.Rekey = plan.WithoutMatches(p.Rekey)
		document, err = json.Marshal(&small)
	}
	if err != nil {
		return err
	}
	err = m.On.Tx(ctx, func() error {
		if err := m.clear(ctx, RenamesTable, ProgressTable); err != nil {
			return err
		}
		if _, err := m.On.Exec(ctx, "clear", "DELETE FROM "+MergesTable+" WHERE id = ? AND state = ?", false, m.ID, string(state)); err != nil {
			return err
		}
		began, err := m.after(ctx, now)
		if err != nil {
			return err
		}
		_, err = m.On.Exec(ctx, "manifest", "INSERT INTO "+MergesTable+" (id, state, plan, began) VALUES (?, ?, ?, ?)", false, m.ID, string(state), string(document), began)
		if errors.Is(err, sqldb.ErrDuplicate) {
			err = fmt.Errorf("%w: it has begun the merge %s meanwhile", ErrBusy, m.ID)
		}
		return err
	})
	if err != nil {
		if found, unread := m.Tables(ctx); unread == nil && !slices.Contains(found, MergesTable) {
			err = fmt.Errorf("%w: it removed the tables that the merge needs: %w", ErrBusy, err)
		}
		return err
	}
	m.Left = state
	const columns, most = 9, 200
	for at := 0; at < len(p.Renames); at += most {
		part := p.Renames[at:min(at+most, len(p.Renames))]
		var args []any
		for i, r := range part {
			args = append(args, m.ID, at+i, r.Source, r.World, r.Table, r.Column, r.Key, r.Old, r.New)
		}
		row := "(" + sqldb.Marks(columns) + ")"
		query := "INSERT INTO " + RenamesTable + " (merge_id, n, source, world, tab, col, row_key, old_value, new_value) VALUES " + strings.Repeat(row+", ", len(part)-1) + row
		if err := m.On.Tx(ctx, func() error {
			if err := m.HoldState(ctx, state, Shared); err != nil {
				return err
			}
			_, err := m.On.Exec(ctx, "renames", query, len(part) == most, args...)
			if errors.Is(err, sqldb.ErrDuplicate) {
				err = fmt.Errorf("%w: it begins the merge %s too", ErrBusy, m.ID)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// clear removes what tables hold of the merge.
func (m *Manifest) clear(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		if _, err := m.On.Exec(ctx, "clear", "DELETE FROM "+table+" WHERE merge_id = ?", false, m.ID); err != nil {
			return err
		}
	}
	return nil
}

// Advance changes the state of the merge. If it is that state already, nothing
// changes.
func (m *Manifest) Advance(ctx context.Context, from, to State) error {
	state, err := m.Load(ctx)
	if err != nil {
		return err
	}
	if state == to {
		m.Left = to
		return nil
	}
	if state != from {
		return m.WrongState(state, from)
	}
	n, err := m.On.Exec(ctx, "state", "UPDATE "+MergesTable+" SET state = ? WHERE id = ? AND state = ?", false, string(to), m.ID, string(from))
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: its state has changed", ErrBusy)
	}
	if err == nil {
		m.Left = to
	}
	return err
}

// Remove removes the record of the merge, and with the last merge the tables. The merge is in
// the state in which this process left it, or the record is gone already.
func (m *Manifest) Remove(ctx context.Context) error {
	m.Removing = true
	found, err := m.Tables(ctx)
	if err != nil {
		return err
	}
	ends := m.On.Dialect().MySQL() // with DROP TABLE, a transaction ends
	if slices.Contains(found, MergesTable) {
		err = m.On.Tx(ctx, func() error {
			is, _, err := m.Lock(ctx, Exclusive)
			if err != nil {
				if now, unread := m.Tables(ctx); unread == nil && !slices.Contains(now, MergesTable) {
					found = now // another process removed it since
					return nil
				}
				return err
			}
			if is != "" && is != m.Left {
				return m.WrongState(is, m.Left)
			}
			missing := func(table string) bool { return !slices.Contains(found, table) }
			if err := m.clear(ctx, slices.DeleteFunc([]string{RenamesTable, ProgressTable}, missing)...); err != nil {
				return err
			}
			if _, err := m.On.Exec(ctx, "clear", "DELETE FROM "+MergesTable+" WHERE id = ?", false, m.ID); err != nil || ends {
				return err
			}
			return m.dropEmpty(ctx, found)
		})
	}
	if err == nil && (ends || !slices.Contains(found, MergesTable)) {
		err = m.exclusively(ctx, found, func() error { return m.dropEmpty(ctx, found) })
	}
	if err == nil {
		m.Left = ""
	}
	return err
}

// Ours are the tables of merges. load looks for the last one.
var Ours = []string{RenamesTable, ProgressTable, MergesTable}

// dropEmpty drops the tables of merges, if there is no merge.
func (m *Manifest) dropEmpty(ctx context.Context, found []string) error {
	if slices.Contains(found, MergesTable) {
		if left, err := m.On.Number(ctx, "SELECT COUNT(*) FROM "+MergesTable, false); err != nil || left > 0 {
			return err
		}
	}
	for _, table := range Ours {
		if slices.Contains(found, table) {
			if _, err := m.On.Exec(ctx, "drop", "DROP TABLE IF EXISTS "+table, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// exclusively calls f while nobody else writes to the tables of merges, so that no merge begins that
// f does not see. An account that may not lock tables does without, and so does a server that
// locks none, as some clusters are set up.
func (m *Manifest) exclusively(ctx context.Context, found []string, f func() error) error {
	var locks []string
	for _, table := range Ours {
		if slices.Contains(found, table) {
			locks = append(locks, table+" WRITE")
		}
	}
	if !m.On.Dialect().MySQL() || len(locks) == 0 {
		return f()
	}
	_, err := m.On.Exec(ctx, "lock", "LOCK TABLES "+strings.Join(locks, ", "), false)
	if sqldb.IsDenied(err) || sqldb.IsRefused(err) {
		return f()
	}
	if err == nil {
		err = f()
	}
	if err != nil {
		m.On.Drop() // and the locks with it
		return err
	}
	_, err = m.On.Exec(ctx, "unlock", "UNLOCK TABLES", false)
	return err
}
