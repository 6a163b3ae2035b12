package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/gameid"
)

// explainRefusal adds to an error that refuses to start a server where the way
// out is: of a fence, of a mark in the far future, and of a lease that is longer
// than a server takes, as a database's clock that was wrong leaves it.
func (db *DB) explainRefusal(server gameid.ServerID, options gameid.Options, err error) error {
	ways := func(command string) error {
		return fmt.Errorf("%w; for the ways out: gameid servers %s %s -server %s", err, command, shellWord(db.name), server)
	}
	if _, ok := errors.AsType[*gameid.MarkError](err); ok {
		return ways("repair-mark")
	}
	if held, ok := errors.AsType[*gameid.HeldError](err); ok {
		if _, fenced := FenceOf(held.Holder); fenced {
			return explainHeld(held)
		}
		if held.LeaseUntil.Sub(held.Now) > longLease(options) {
			return ways("release")
		}
	}
	return err
}

// longLease is longer than any lease that a server with these options takes.
func longLease(o gameid.Options) time.Duration { return max(5*time.Minute, 2*o.Lease, 4*o.Window) }

// MarkPlan says what can be done about a mark that a broken clock left in the
// far future, because of which a server does not start: see
// [gameid.MarkError] and [DB.PlanMark].
type MarkPlan struct {
	Server gameid.ServerID

	// Now is the present, by the clock of the database, and Limit how far
	// after it a mark or an ID may lie for the server to start.
	Now   time.Time
	Limit time.Duration

	// Mark and FleetMark are the marks in the registry of the database and in
	// the fleet registry, in milliseconds since gameid.EpochMillis. FleetMark
	// is 0 if the server is in no fleet.
	Mark, FleetMark int64

	// Columns are all that may hold IDs, with what was found there.
	Columns []ColumnIDs

	// OlderCopy tells that the fleet registry has seen more changes than this
	// database: IDs may exist that are not in its tables. FleetMark is then
	// not lowered, and nothing is lowered below it.
	OlderCopy bool

	// Lowered is what the marks that are too late are lowered to. It is never
	// below the largest ID found, and never in the past.
	Lowered int64

	row        gameid.Record // as it was read
	fleetEpoch int64
}

// ColumnIDs is what [DB.PlanMark] found in one column.
type ColumnIDs struct {
	Table, Column string
	Largest       gameid.ID // of the server; zero if there is none
	Late          int64     // how many of them lie beyond Now + Limit
}

func (p *MarkPlan) late(ms int64) bool { return gameid.TimeOf(ms).Sub(p.Now) > p.Limit }

// Largest returns the column that holds the largest ID of the server. Its
// Largest is zero if there is none.
func (p *MarkPlan) Largest() ColumnIDs {
	var largest ColumnIDs
	for _, c := range p.Columns {
		if c.Largest.Compare(largest.Largest) > 0 {
			largest = c
		}
	}
	return largest
}

// Late reports whether a mark, or an ID in a table, keeps the server from
// starting.
func (p *MarkPlan) Late() bool {
	return p.late(p.Mark) || p.late(p.FleetMark) || p.late(p.Largest().Largest.Millis())
}

// Useful reports whether lowering changes anything.
func (p *MarkPlan) Useful() bool { return p.lowersMark() || p.lowersFleetMark() }

// Enough reports whether the server can start when the marks are lowered. If
// not, rows with IDs of the far future exist, or may exist elsewhere.
func (p *MarkPlan) Enough() bool { return !p.late(p.Lowered) }

func (p *MarkPlan) lowersMark() bool { return p.late(p.Mark) && p.Lowered < p.Mark }

func (p *MarkPlan) lowersFleetMark() bool {
	return p.late(p.FleetMark) && p.Lowered < p.FleetMark
}

// PlanMark looks at the marks of a server and at all IDs of it that the
// database holds, and says what can be done about a mark in the far future. It
// changes nothing, so the database may be opened read-only. It reads every
// column that may hold IDs (BINARY or BLOB), which takes its time. Of the
// options it uses MaxSkew and Clock.
//
// fleet may be nil only if the world is not bound in a fleet registry. A server
// that runs is a [*gameid.HeldError] or a [*FleetError], a wall clock that
// disagrees with the database's a [*gameid.ClockError].
func (db *DB) PlanMark(ctx context.Context, fleet *Fleet, server gameid.ServerID, options gameid.Options) (*MarkPlan, error) {
	own, err := db.ownServer(ctx, server, fleet != nil)
	if err != nil {
		return nil, err
	}
	if own.held() {
		return nil, own.heldError(server)
	}
	p := &MarkPlan{Server: server, Now: own.Now, Limit: maxSkew(options), Mark: own.Mark, row: own.record()}
	if err := checkClock(options.Clock, own.Now, p.Limit); err != nil {
		return nil, err
	}
	if p.Lowered, err = gameid.MillisOf(own.Now); err != nil {
		return nil, err
	}
	if fleet != nil {
		if err := p.askFleet(ctx, fleet, own, db.place()); err != nil {
			return nil, err
		}
	}
	if p.Columns, err = db.idsOf(ctx, server, lastOf(p.Lowered+p.Limit.Milliseconds())); err != nil {
		return nil, err
	}
	p.Lowered = max(p.Lowered, p.Largest().Largest.Millis())
	return p, nil
}

// ownServer is what an operator's command that repairs something reads first:
// the server must be one that runs on this database, and its fleet registry,
// if it is bound in one, be given.
func (db *DB) ownServer(ctx context.Context, server gameid.ServerID, withFleet bool) (serverOf, error) {
	if err := server.Validate(); err != nil {
		return serverOf{}, err
	}
	if err := db.CheckSchema(ctx); err != nil {
		return serverOf{}, err
	}
	own, err := db.serverOf(ctx, server)
	switch {
	case err != nil:
		return serverOf{}, err
	case own.World == "":
		return serverOf{}, fmt.Errorf("server %s is not in the registry of %q: %w", server, db.name, ErrNotFound)
	case own.Role != RoleOwn:
		return serverOf{}, fmt.Errorf("server %s came to %q by a merge: it does not run here", server, db.name)
	case own.Fleet != "" && !withFleet:
		return serverOf{}, fmt.Errorf("server %s is bound in a fleet registry (identity %s), which has a mark and a lease as well: want its DSN", server, own.Fleet)
	}
	return own, nil
}

// rowOf returns what the fleet registry says of a world, or nil if the world is
// in no fleet.
func (f *Fleet) rowOf(ctx context.Context, server gameid.ServerID, own serverOf, place string) (*FleetServer, error) {
	id, err := f.identity(ctx)
	if err != nil {
		return nil, err
	}
	row, err := f.load(ctx, server)
	if err != nil || row == nil && own.Fleet == "" {
		return nil, err
	}
	return row, f.claims(server, row, id, own, FleetOptions{Place: place})
}

func (p *MarkPlan) askFleet(ctx context.Context, fleet *Fleet, own serverOf, place string) error {
	row, err := fleet.rowOf(ctx, p.Server, own, place)
	if err != nil || row == nil {
		return err
	}
	if row.alive() {
		return &FleetError{Server: p.Server, Row: *row, kind: ErrRunning, reason: "runs: " + row.running() + "; stop it first"}
	}
	p.FleetMark, p.fleetEpoch = row.Mark, row.Epoch
	if p.OlderCopy = own.Epoch < row.WorldEpoch; p.OlderCopy {
		p.Lowered = max(p.Lowered, row.Mark)
	}
	return nil
}

// LowerMark does what the plan says, if nothing has changed since. The fleet
// registry comes first, so that a second attempt finishes what was broken off.
func (db *DB) LowerMark(ctx context.Context, fleet *Fleet, p *MarkPlan, note Note) error {
	if p.lowersFleetMark() {
		note.Why = fmt.Sprintf("%s (from %s to %s)", note.Why, stamp(gameid.TimeOf(p.FleetMark)), stamp(gameid.TimeOf(p.Lowered)))
		err := fleet.change(ctx, p.Server, "lower mark", note, func(tx *Tx) (bool, error) {
			return swap(ctx, tx, "UPDATE fleet_servers SET mark_ms = ?, epoch = epoch + 1 WHERE server_id = ? AND epoch = ?", p.Lowered, p.Server, p.fleetEpoch)
		})
		if err != nil {
			return fleet.fault(err)
		}
	}
	if !p.lowersMark() {
		return nil
	}
	return db.overwrite(ctx, p.Server, p.row, gameid.Claim{Reserved: p.Lowered})
}

// columnsQuery lists the columns that may hold IDs.
func columnsQuery(d Dialect) string {
	if d == MySQL {
		return `
			SELECT c.table_name AS tab, c.column_name AS col
			FROM information_schema.columns AS c JOIN information_schema.tables AS t
				ON t.table_schema = c.table_schema AND t.table_name = c.table_name
			WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE'
				AND c.data_type IN ('binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob') AND c.character_octet_length >= ` + fmt.Sprint(gameid.Size) + `
			ORDER BY c.table_name, c.ordinal_position`
	}
	return `
		SELECT t.name AS tab, c.name AS col
		FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND (c.type = '' OR c.type LIKE '%BLOB%' OR c.type LIKE '%BINARY%')
		ORDER BY t.name, c.cid`
}

// idsOf looks for the IDs of a server in all columns. Those greater than limit
// are counted.
func (db *DB) idsOf(ctx context.Context, server gameid.ServerID, limit gameid.ID) ([]ColumnIDs, error) {
	var columns []struct{ Tab, Col string }
	if err := db.Select(ctx, &columns, columnsQuery(db.dialect)); err != nil {
		return nil, err
	}
	blob := ""
	if db.dialect == SQLite {
		blob = "TYPEOF(%[1]s) = 'blob' AND "
	}
	var found []ColumnIDs
	for _, c := range columns {
		query := fmt.Sprintf("SELECT MAX(%[1]s) AS largest, COALESCE(SUM(CASE WHEN %[1]s > ? THEN 1 ELSE 0 END), 0) AS late FROM `%[2]s` WHERE "+
			blob+"LENGTH(%[1]s) = ? AND SUBSTR(HEX(%[1]s), 12, 5) = ?", "`"+c.Col+"`", c.Tab)
		var row struct {
			Largest []byte
			Late    int64
		}
		if err := db.Get(ctx, &row, query, limit, gameid.Size, fmt.Sprintf("%05X", uint32(server))); err != nil {
			return nil, fmt.Errorf("column %q of table %q: %w", c.Col, c.Tab, err)
		}
		column := ColumnIDs{Table: c.Tab, Column: c.Col, Late: row.Late}
		if row.Largest != nil {
			var err error
			if column.Largest, err = gameid.FromBytes(row.Largest); err != nil {
				return nil, fmt.Errorf("column %q of table %q: %w", c.Col, c.Tab, err)
			}
		}
		found = append(found, column)
	}
	return found, nil
}
