package record

import (
	"mergesafe/internal/sqldb"
	"mergesafe/merge/world"
)

// KeysView shows [KeysTable] in plain SQL: for each source and key column the range of the
// old keys, and the number to add to one for its key in this database.
const KeysView = sqldb.KeysView

// KeysMoved is the query of the view, on an engine. Keys that came here by several merges
// got the offsets of all: those of the paths that theirs begins with. What became of keys that
// are in [MatchesTable] stands there.
func KeysMoved(d world.Dialect, matches bool) string {
	const from = `
		FROM ` + KeysTable + ` AS k WHERE k.part = 0`
	const lastKey = "(SELECT p.last_key FROM " + KeysTable + " AS p WHERE p.path = k.path AND p.tab = k.tab AND p.col = k.col ORDER BY p.part DESC LIMIT 1)"
	matched := ""
	if matches {
		matched = ", (SELECT COUNT(*) FROM " + MatchesTable + " AS m WHERE m.path = k.path AND m.tab = k.tab AND m.col = k.col) AS matched"
	}
	if d.MySQL() {
		return `SELECT LEFT(k.path, 32) AS merge_id, k.source, k.tab AS table_name, k.col AS column_name, k.space,
			CAST(NULLIF(k.first_key, '') AS DECIMAL(20)) AS first_old, CAST(NULLIF(` + lastKey + `, '') AS DECIMAL(20)) AS last_old,
			(SELECT SUM(o.shift) FROM ` + KeysTable + ` AS o
				WHERE o.part = 0 AND o.tab = k.tab AND o.col = k.col AND (o.path = k.path OR k.path LIKE CONCAT(o.path, ' %'))) AS added,
			k.n AS key_count, k.came` + matched + from
	}
	return `SELECT substr(k.path, 1, 32) AS merge_id, k.source, k.tab AS table_name, k.col AS column_name, k.space,
		CAST(NULLIF(k.first_key, '') AS INTEGER) AS first_old, CAST(NULLIF(` + lastKey + `, '') AS INTEGER) AS last_old,
		(SELECT SUM(CAST(o.shift AS INTEGER)) FROM ` + KeysTable + ` AS o
			WHERE o.part = 0 AND o.tab = k.tab AND o.col = k.col AND (o.path = k.path OR k.path LIKE o.path || ' %')) AS added,
		k.n AS key_count, k.came` + matched + from
}

// CreateKeysView are the statements that make the view, also in the place of an older one.
// Whoever reads it needs the right to read the table: an account that made it and is gone
// does no harm.
func CreateKeysView(d world.Dialect, matches bool) []string {
	if d.MySQL() {
		return []string{"CREATE OR REPLACE SQL SECURITY INVOKER VIEW " + KeysView + " AS " + KeysMoved(d, matches)}
	}
	return []string{"DROP VIEW IF EXISTS " + KeysView, "CREATE VIEW " + KeysView + " AS " + KeysMoved(d, matches)}
}
