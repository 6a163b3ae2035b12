package sqldb

// The tables of this project in a game's database. They hold no data of the
// game.
const (
	SchemaTable   = "mergesafe_schema"   // what is there, and in which version; see [Part]
	RegistryTable = "gameid_servers"     // package store/registry
	NumbersTable  = "gameid_numbers"     // package store/numbers
	MergesTable   = "mergesafe_merges"   // package merge/transfer: every merge, with its plan
	ProgressTable = "mergesafe_progress" // how far each step of a merge came, by source and table
	RenamesTable  = "mergesafe_renames"  // every value that a merge changed
	KeysTable     = "mergesafe_keys"     // which keys came from where, and what they were
)

// Tables are all of them.
func Tables() []string {
	return []string{SchemaTable, RegistryTable, NumbersTable, MergesTable, ProgressTable, RenamesTable, KeysTable}
}
