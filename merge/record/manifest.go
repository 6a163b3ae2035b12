package record

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// The tables of a merge in the database that it makes. They have no data of the game.
const (
	RecordTable   = sqldb.RecordTable   // this merge, with its plan: see [Manifest]
	MergesTable   = sqldb.MergesTable   // earlier merges, by which the worlds were made
	ProgressTable = sqldb.ProgressTable // the checkpoint of every step, by source, table and range
	RenamesTable  = sqldb.RenamesTable  // every name and number that was changed
)

// allMerges has this merge and earlier ones. later is the merge that took the database which one made, with the number of
// that world, as [plan.Plan.Path] writes it; "" for this merge.
const allMerges = "(SELECT id, plan, began, '' AS later FROM " + RecordTable + " UNION ALL SELECT id, plan, began, later FROM " + MergesTable + ") AS merges"

// beganLayout is how the record keeps when a merge began, in UTC.
const beganLayout = "2006-01-02 15:04:05.000"

// mysqlEnd ends the statement that makes a table of the record. Keys of 928 bytes need the row format, which the server
// may have another default for.
const mysqlEnd = ") ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

// createRecord is the statement that makes the record, with its label.
func createRecord(d world.Dialect, l Label) string {
	if d.MySQL() {
		return "CREATE TABLE " + RecordTable + ` (
			id CHAR(32) NOT NULL, state VARCHAR(16) NOT NULL, was VARCHAR(16) NOT NULL DEFAULT '', claim VARCHAR(32) NOT NULL DEFAULT '',
			plan LONGTEXT NOT NULL, began DATETIME(3) NOT NULL, PRIMARY KEY (id)` + mysqlEnd + " COMMENT='" + l.String() + "'"
	}
	return "CREATE TABLE " + RecordTable + " (" + labelBegins + l.String() + labelEnds + `
		id TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, was TEXT NOT NULL DEFAULT '', claim TEXT NOT NULL DEFAULT '', plan TEXT NOT NULL, began TEXT NOT NULL) WITHOUT ROWID`
}

// createTables are the statements that make the tables beside the record.
func createTables(d world.Dialect) []string {
	if d.MySQL() {
		return []string{
			"CREATE TABLE IF NOT EXISTS " + MergesTable + ` (
				id CHAR(32) NOT NULL, plan LONGTEXT NOT NULL, began DATETIME(3) NOT NULL, later VARCHAR(50) NOT NULL, PRIMARY KEY (id)` + mysqlEnd,
			"CREATE TABLE IF NOT EXISTS " + ProgressTable + ` (
				merge_id CHAR(32) NOT NULL, step VARCHAR(16) NOT NULL, source VARCHAR(200) NOT NULL, tab VARCHAR(200) NOT NULL, part INT NOT NULL,
				done_rows BIGINT NOT NULL, row_sum CHAR(32) NOT NULL, new_sum CHAR(32) NOT NULL, finished INT NOT NULL,
				PRIMARY KEY (merge_id, step, source, tab, part)` + mysqlEnd,
			"CREATE TABLE IF NOT EXISTS " + RenamesTable + ` (
				merge_id CHAR(32) NOT NULL, n INT NOT NULL, source VARCHAR(200) NOT NULL, world VARCHAR(64) NOT NULL, tab VARCHAR(200) NOT NULL, col VARCHAR(200) NOT NULL,
				row_key LONGTEXT NOT NULL, old_value LONGTEXT NOT NULL, new_value LONGTEXT NOT NULL,
				PRIMARY KEY (merge_id, n)` + mysqlEnd,
		}
	}
	return []string{
		"CREATE TABLE IF NOT EXISTS " + MergesTable + ` (
			id TEXT NOT NULL PRIMARY KEY, plan TEXT NOT NULL, began TEXT NOT NULL, later TEXT NOT NULL) WITHOUT ROWID`,
		"CREATE TABLE IF NOT EXISTS " + ProgressTable + ` (
			merge_id TEXT NOT NULL, step TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL, part INTEGER NOT NULL,
			done_rows INTEGER NOT NULL, row_sum TEXT NOT NULL, new_sum TEXT NOT NULL, finished INTEGER NOT NULL,
			PRIMARY KEY (merge_id, step, source, tab, part)) WITHOUT ROWID`,
		"CREATE TABLE IF NOT EXISTS " + RenamesTable + ` (
			merge_id TEXT NOT NULL, n INTEGER NOT NULL, source TEXT NOT NULL, world TEXT NOT NULL, tab TEXT NOT NULL, col TEXT NOT NULL,
			row_key TEXT NOT NULL, old_value TEXT NOT NULL, new_value TEXT NOT NULL,
			PRIMARY KEY (merge_id, n)) WITHOUT ROWID`,
	}
}

// Manifest is the record of one merge in the database that it makes: a table of its own, made by one
// statement that fails if it is there, so that of two merges of one database one begins. The label in that
// statement says whose it is, and holds until there is a row.
type Manifest struct {
	On *world.Connection
	ID string

	Try bool // this process makes a rehearsal

	Begun string // of the label that this process read first, or expects; "" if there was none

	Claim string // of this process on filling the tables, if it took it: see [Manifest.TakeUp]

	row   bool  // the record has one
	Left  State // in which this process found the merge, or left it
	Was   State // in which the undo found it, if Left is [StateUndoing]
	Label Label // of the record that is there, as it was read last

	Removing bool // by this process: see [Manifest.Removed]
}

// Over is the manifest over another connection.
func (m *Manifest) Over(on *world.Connection) *Manifest {
	return &Manifest{On: on, ID: m.ID, Try: m.Try, Claim: m.Claim, Begun: m.Begun}
}

// Removed reports whether this process removed the record and none was there when it was read last, so that its absence is no
// sign of another process.
func (m *Manifest) Removed() bool { return m.Removing && m.Label.ID == "" }

// Tables returns the tables of merges that a database has.
func (m *Manifest) Tables(ctx context.Context) ([]string, error) {
	query := "SELECT LOWER(name) FROM sqlite_schema WHERE type = 'table' AND name LIKE ?"
	if m.On.Dialect().MySQL() {
		query = "SELECT LOWER(TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE ?"
	}
	return m.On.Texts(ctx, query, "mergesafe_%")
}

// Load returns the state of the merge; "" if the database has no record, or that of another merge: then
// [Manifest.Label] names it.
func (m *Manifest) Load(ctx context.Context) (is State, err error) {
	if m.Label, err = m.readLabel(ctx); err != nil || !m.owns(m.Label) {
		return "", err
	}
	m.Begun = m.Label.Begun
	is, m.row = m.Label.state(), false
	err = m.On.Rows(ctx, "SELECT state, was FROM "+RecordTable+" WHERE id = ?", false, []any{m.ID}, func(row []any) (bool, error) {
		is, m.Was, m.row = State(world.Text(row[0])), State(world.Text(row[1])), true
		return true, nil
	})
	if sqldb.Says(err, sqldb.NoTable) { // an undo dropped it since the label was read
		m.Label = Label{}
		return "", nil
	}
	return is, err
}

// Working is the state while rows are copied.
func (m *Manifest) Working() State { return Label{Try: m.Try}.state() }

// Began returns when the merge began; nil if it did not.
func (m *Manifest) Began(ctx context.Context) (*time.Time, error) {
	texts, err := m.Ask(ctx, "SELECT CAST(began AS CHAR) FROM "+RecordTable+" WHERE id = ?", m.ID)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	at, err := time.Parse(beganLayout, texts[0])
	if err != nil {
		return nil, fmt.Errorf("merge: when the merge %s began: %w", m.ID, err)
	}
	return &at, nil
}

// AllMerges is the query for the merges by which a database was made.
func AllMerges(columns []string) string {
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + allMerges
}

// Ask returns the answer to a query for merges; none if the database has no record.
func (m *Manifest) Ask(ctx context.Context, query string, args ...any) ([]string, error) {
	found, err := m.Tables(ctx)
	if err != nil || !slices.Contains(found, RecordTable) || !slices.Contains(found, MergesTable) {
		return nil, err
	}
	return m.On.Texts(ctx, query, args...)
}

// Plans are the plans of the merges by which a database was made, the oldest first.
func (m *Manifest) Plans(ctx context.Context) ([]string, error) {
	return m.Ask(ctx, "SELECT plan FROM "+allMerges+" ORDER BY began, id")
}

// Create makes the record, or finds that it is there. If it is that of another merge, the label says so, and the error is
// [ErrOther].
func (m *Manifest) Create(ctx context.Context, l Label) error {
	there, err := m.readLabel(ctx)
	if err != nil {
		return err
	}
	if m.Label = there; there.ID == "" {
		l.Begun = rand.Text()
		if err := m.create(ctx, l); err != nil {
			return err
		}
	}
	switch {
	case m.Label.ID != l.ID || m.Label.Try != l.Try:
		return ErrOther
	case !m.owns(m.Label):
		return m.WrongState("", m.Left)
	}
	m.Begun = m.Label.Begun
	return nil
}

// create makes the record where there was none.
func (m *Manifest) create(ctx context.Context, l Label) error {
	create := func() error {
		found, err := m.readLabel(ctx)
		if err != nil || found.ID != "" {
			m.Label = found
			return err
		}
		_, err = m.On.Exec(ctx, "create", createRecord(m.On.Dialect(), l), false)
		if err == nil {
			m.Label = l
		}
		return err
	}
	var err error
	if m.On.Dialect().MySQL() { // where the statement is a transaction by itself
		err = create()
	} else {
		err = m.On.Tx(ctx, create)
	}
	if err != nil { // another process may have been faster, or the answer was lost
		if there, unread := m.readLabel(ctx); unread == nil && there.ID != "" {
			m.Label, err = there, nil
		}
	}
	return err
}

// ErrOther says that a database has the record of another merge.
var ErrOther = errors.New("merge: the database has the record of another merge")

// after returns the time at which the merge begins: now, or directly after the merge that was
// begun last, if the clock says that this one is older. The times tell which merge came later.
func (m *Manifest) after(ctx context.Context, now time.Time) (string, error) {
	began := now.UTC().Truncate(time.Millisecond)
	last, err := m.On.Texts(ctx, "SELECT CAST(MAX(began) AS CHAR) FROM "+MergesTable+" HAVING MAX(began) IS NOT NULL")
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

// Write records the plan and its renames, unless they are there: of two processes that begin, one does so.
func (m *Manifest) Write(ctx context.Context, p *plan.Plan, now time.Time) error {
	for _, s := range createTables(m.On.Dialect()) {
		if _, err := m.On.Exec(ctx, "create", s, false); err != nil {
			return err
		}
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
	state := m.Working()
	err = m.On.Tx(ctx, func() error {
		is, _, err := m.Lock(ctx, Exclusive)
		if err != nil || is == state {
			return err
		}
		if is != "" {
			return m.WrongState(is, state)
		}
		if err := m.clear(ctx, RenamesTable, ProgressTable); err != nil {
			return err
		}
		began, err := m.after(ctx, now)
		if err != nil {
			return err
		}
		_, err = m.On.Exec(ctx, "manifest", "INSERT INTO "+RecordTable+" (id, state, plan, began) VALUES (?, ?, ?, ?)", false, m.ID, string(state), string(document), began)
		if errors.Is(err, sqldb.ErrDuplicate) {
			return fmt.Errorf("%w: it has begun the merge %s meanwhile", ErrBusy, m.ID)
		}
		if err != nil {
			return err
		}
		return m.writeRenames(ctx, p)
	})
	if err == nil {
		m.Left = state
		return nil
	}
	if there, unread := m.readLabel(ctx); unread == nil && there.ID != m.ID {
		err = fmt.Errorf("%w: it removed the record: %w", ErrBusy, err)
	}
	return err
}

func (m *Manifest) writeRenames(ctx context.Context, p *plan.Plan) error {
	const columns, most = 9, 200
	for at := 0; at < len(p.Renames); at += most {
		part := p.Renames[at:min(at+most, len(p.Renames))]
		var args []any
		for i, r := range part {
			args = append(args, m.ID, at+i, r.Source, r.World, r.Table, r.Column, r.Key, r.Old, r.New)
		}
		row := "(" + sqldb.Marks(columns) + ")"
		query := "INSERT INTO " + RenamesTable + " (merge_id, n, source, world, tab, col, row_key, old_value, new_value) VALUES " + strings.Repeat(row+", ", len(part)-1) + row
		if _, err := m.On.Exec(ctx, "renames", query, len(part) == most, args...); err != nil {
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
	return m.set(ctx, from, to, "UPDATE "+RecordTable+" SET state = ? WHERE id = ? AND state = ?", string(to), m.ID, string(from))
}

// Undo notes that an undo has begun, and the state in which the game may have left the merge. A record without a row is
// not written to: its label says enough.
func (m *Manifest) Undo(ctx context.Context, from, was State) error {
	if is, err := m.Load(ctx); err != nil || is == from && !m.row {
		m.Left = from
		return err
	}
	err := m.set(ctx, from, StateUndoing, "UPDATE "+RecordTable+" SET state = ?, was = ? WHERE id = ? AND state = ?", string(StateUndoing), string(was), m.ID, string(from))
	if err == nil {
		m.Was = was
	}
	return err
}

// NoteEnd notes that what leads to a state has come to its end: that a rehearsal is complete, or that nothing is left to be done
// for an open database.
func (m *Manifest) NoteEnd(ctx context.Context, of State) error {
	if err := m.ExpectState(ctx, of); err != nil {
		return err
	}
	_, err := m.On.Exec(ctx, "state", "UPDATE "+RecordTable+" SET was = ? WHERE id = ? AND state = ?", false, string(of), m.ID, string(of))
	return err
}

// Ended reports whether that was noted when the record was read last.
func (m *Manifest) Ended(of State) bool { return m.Was == of }

// Raised reports whether the worlds have learnt what was given in the new database: see [Manifest.NoteRaised].
func (m *Manifest) Raised() bool { return m.Was == raised }

// NoteRaised notes, during an undo, that the worlds have learnt what was given in the new database. From then
// on an undo reads no table of it, since it may have dropped some.
func (m *Manifest) NoteRaised(ctx context.Context) error {
	_, err := m.On.Exec(ctx, "state", "UPDATE "+RecordTable+" SET was = ? WHERE id = ? AND state = ?", false, string(raised), m.ID, string(StateUndoing))
	if err == nil {
		m.Was = raised
	}
	return err
}

func (m *Manifest) set(ctx context.Context, from, to State, update string, args ...any) error {
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
	n, err := m.On.Exec(ctx, "state", update, false, args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: its state has changed", ErrBusy)
	}
	if err == nil {
		m.Left = to
	}
	return err
}
