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
	RecordTable   = "mergesafe_merge"    // package merge/transfer: the merge that made the database, with its plan
	MergesTable   = "mergesafe_merges"   // earlier merges, which made the first world of that one
	ProgressTable = "mergesafe_progress" // how far each step of a merge came, by source and table
	RenamesTable  = "mergesafe_renames"  // every value that a merge changed
	KeysTable     = "mergesafe_keys"     // the source and the old value of every key that came
	MatchesTable  = "mergesafe_matches"  // of these, the keys that became a key that an earlier world had
)

// KeysView is the one view of this project, on KeysTable.
const KeysView = "mergesafe_moved"

// Ours reports whether a table is of this project, and not of the game.
func Ours(table string) bool {
	return slices.Contains(Tables(), strings.ToLower(table))
}

// Tables are the tables of this project.
func Tables() []string {
	return []string{SchemaTable, RegistryTable, NumbersTable, RecordTable, MergesTable, ProgressTable, RenamesTable, KeysTable, MatchesTable}
}
