package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"mergesafe/gameid"
)

// keysQuery lists the tables whose primary key begins with an ID, with that
// column.
func keysQuery(d Dialect) string {
	if d == MySQL {
		return `
			SELECT s.table_name AS tab, s.column_name AS col
			FROM information_schema.statistics AS s JOIN information_schema.columns AS c
				ON c.table_schema = s.table_schema AND c.table_name = s.table_name AND c.column_name = s.column_name
			WHERE s.table_schema = DATABASE() AND s.index_name = 'PRIMARY' AND s.seq_in_index = 1
				AND c.data_type = 'binary' AND c.character_octet_length = ` + fmt.Sprint(gameid.Size)
	}
	return `
		SELECT t.name AS tab, c.name AS col
		FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND c.pk = 1 AND upper(c.type) IN ('BLOB', 'BINARY(10)')`
}

// floor returns an upper bound of the times of the server's IDs in all tables,
// or 0 if none is later than reserved. Times are milliseconds since the epoch.
//
// An ID of another server in the future, such as a merged world with a broken
// clock left behind, does not count: the bound would stop the server.
func (r *Registry) floor(ctx context.Context, server gameid.ServerID, reserved, now int64) (int64, error) {
	var keys []struct{ Tab, Col string }
	if err := r.db.registry.SelectContext(ctx, &keys, keysQuery(r.db.dialect)); err != nil {
		return 0, err
	}
	// An ID above the first has a time later than reserved; one above the
	// second has one later than now.
	marked, future := lastOf(max(reserved, 0)), lastOf(max(now, 0))
	var floor int64
	for _, k := range keys {
		// All of these are looks into the index of the primary key.
		col := "`" + k.Col + "`"
		query := "SELECT " + col + " FROM `" + k.Tab + "` WHERE %s ORDER BY " + col + " DESC LIMIT 1"
		last, err := r.lastID(ctx, fmt.Sprintf(query, col+" > ?"), marked)
		if err == nil && last.Server() != server && last.Millis() > now {
			var past gameid.ID
			// Only this one reads on: over the IDs that lie in the future.
			last, err = r.lastID(ctx, fmt.Sprintf(query, col+" > ? AND SUBSTR(HEX("+col+"), 12, 5) = ?"), future, fmt.Sprintf("%05X", uint32(server)))
			if err == nil {
				past, err = r.lastID(ctx, fmt.Sprintf(query, col+" > ? AND "+col+" <= ?"), marked, future)
			}
			if past.Compare(last) > 0 {
				last = past
			}
		}
		if err != nil {
			return 0, fmt.Errorf("table %q: %w", k.Tab, err)
		}
		if last.IsValid() {
			floor = max(floor, last.Millis())
		}
	}
	return floor, nil
}

// lastID runs a query for one key. It returns the zero ID where there is none,
// or something of 10 bytes that is no ID.
func (r *Registry) lastID(ctx context.Context, query string, args ...any) (gameid.ID, error) {
	var raw []byte
	err := r.db.registry.GetContext(ctx, &raw, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return gameid.ID{}, nil
	}
	if err != nil {
		return gameid.ID{}, err
	}
	id, err := gameid.FromBytes(raw)
	if err != nil {
		return gameid.ID{}, nil
	}
	return id, nil
}

// lastOf is the greatest ID that a millisecond can have.
func lastOf(ms int64) gameid.ID {
	id, err := gameid.Make(gameid.TimeOf(min(ms, gameid.MaxMillis)), gameid.MaxServer, 1<<gameid.SequenceBits-1)
	if err != nil {
		panic(err) // ms is not negative
	}
	return id
}
