package sqldb

import (
	"slices"
	"strings"
)

// The tables of this project in a game's database. They hold no data of the
// game.
const (
	SchemaTable   = "mergesafe_schema"   // the parts that the database has, and their versions; see [Part]
	RegistryTable = "gameid_servers"     // package store/registry
	NumbersTable  = "gameid_numbers"     // package store/numbers
	MergesTable   = "mergesafe_merges"   // package merge/transfer: every merge, with its plan
	ProgressTable = "mergesafe_progress" // how far each step of a merge came, by source and table
	RenamesTable  = "mergesafe_renames"  // every value that a merge changed
	KeysTable     = "mergesafe_keys"     // the source and the old value of every key that came
	MatchesTable  = "mergesafe_matches"  // of these, the keys that became a key that the target had already
)

// KeysView is the one view of this project, on KeysTable.
const KeysView = "mergesafe_moved"

// KeptPrefix begins the names of tables that keep the rows of a table which a merge empties,
// until the merge is undone. They hold rows of the game, and are no part of it.
const KeptPrefix = "mergesafe_was_"

// Ours reports whether a table is of this project, and not of the game.
func Ours(table string) bool {
	table = strings.ToLower(table)
	return slices.Contains(Tables(), table) || strings.HasPrefix(table, KeptPrefix)
}

// Tables are all but those.
func Tables() []string {
	return []string{SchemaTable, RegistryTable, NumbersTable, MergesTable, ProgressTable, RenamesTable, KeysTable, MatchesTable}
}
