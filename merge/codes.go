package merge

import "slices"

// The codes of the rules. A code never changes its meaning.
const (
	CodeServerConflict     = "server-conflict"
	CodeWorldCloned        = "world-cloned"
	CodeWorldMerged        = "world-merged"
	CodeKeyCollision       = "key-collision"
	CodeServerUnlisted     = "server-unlisted"
	CodeIDAboveMark        = "id-above-mark"
	CodeIDInvalid          = "id-invalid"
	CodeIDFuture           = "id-future"
	CodeUniqueCollision    = "unique-collision"
	CodeAccountOverflow    = "account-overflow"
	CodeAutoIncrement      = "auto-increment"
	CodeReferenceRebind    = "reference-rebind"
	CodeReferenceAmbiguous = "reference-ambiguous"
	CodeReferenceDangle    = "reference-dangling"
	CodeSchemaVersion      = "schema-version"
	CodeSchemaTable        = "schema-table"
	CodeSchemaColumn       = "schema-column"
	CodeSchemaKey          = "schema-key"
	CodeSchemaDefault      = "schema-default"
	CodeSchemaOrder        = "schema-order"
	CodeSchemaStorage      = "schema-storage"
	CodeSchemaView         = "schema-view"
	CodeTriggerFires       = "trigger-fires"
	CodeNoSnapshot         = "no-snapshot"
	CodeColumnOpaque       = "column-opaque"
	CodeTableSkipped       = "table-skipped"
)

// Code documents one rule.
type Code struct {
	Code       string // stable, for scripts
	Meaning    string // what a FAIL says; for a rule that never fails, what NOT VERIFIED says
	Counts     string // what Result.Count counts; empty for a rule that never fails
	Action     string // what to do about a FAIL
	Unverified string // what to do about NOT VERIFIED
}

// Codes lists all rules, the gravest first. It is the order of the results of
// a report.
func Codes() []Code {
	const (
		registry = "make sure by other means that no two of these worlds ever had one server number"
		readable = "make the key readable and comparable as the reasons say, or check it by other means"
		follow   = "check the reference by other means"
		migrate  = "migrate all databases to one schema, then check again"
	)
	return []Code{
		{
			Code:       CodeServerConflict,
			Meaning:    "two databases list the same server number for different worlds",
			Counts:     "server numbers",
			Action:     "do not merge these worlds; give one of them another server number before it mints again",
			Unverified: registry,
		}, {
			Code:       CodeWorldCloned,
			Meaning:    "two databases hold the same world: a cloned disk, a restored backup, or one database given twice",
			Counts:     "worlds",
			Action:     "find out which copy is the live one, and leave the other out",
			Unverified: registry,
		}, {
			Code:       CodeWorldMerged,
			Meaning:    "a database already holds the world that another one runs",
			Counts:     "worlds",
			Action:     "leave out the database whose world was merged before, or undo that merge first",
			Unverified: registry,
		}, {
			Code:       CodeKeyCollision,
			Meaning:    "a primary key is there more than once, as the target compares",
			Counts:     "distinct keys",
			Action:     "do not merge; find out how the same key came to be in both databases",
			Unverified: "give the table a primary key that can be compared, or compare its rows by other means",
		}, {
			Code:       CodeServerUnlisted,
			Meaning:    "IDs in a primary key carry a server that the registry of their database does not list",
			Counts:     "IDs",
			Action:     "find out where the rows came from; record the merge that brought them, or remove them",
			Unverified: registry,
		}, {
			Code:       CodeIDAboveMark,
			Meaning:    "IDs in a primary key are later than the registry's mark for their server: the registry was lost or restored",
			Counts:     "IDs",
			Action:     "start the server once, so that it raises its mark above its rows, then check again",
			Unverified: registry,
		}, {
			Code:       CodeIDInvalid,
			Meaning:    "values in an ID column of a primary key are no IDs: not 10 bytes, or server 0",
			Counts:     "values",
			Action:     "remove the rows, or give them new IDs",
			Unverified: readable,
		}, {
			Code:       CodeIDFuture,
			Meaning:    "IDs in a primary key are later than the clock of their database by more than the slack",
			Counts:     "IDs",
			Action:     "set the clocks of database and game server right, then find out how the IDs were made",
			Unverified: readable,
		}, {
			Code:       CodeUniqueCollision,
			Meaning:    "a value that the target wants unique is there more than once, as the target compares",
			Counts:     "distinct values",
			Action:     "rename all but one of each before the merge",
			Unverified: "compare the values by other means",
		}, {
			Code:       CodeAccountOverflow,
			Meaning:    "an account would have more characters in all databases together than one may have",
			Counts:     "accounts that are in more than one database",
			Action:     "decide which characters the players keep, or raise the limit",
			Unverified: "compare the accounts by other means",
		}, {
			Code:       CodeAutoIncrement,
			Meaning:    "databases count the same keys up from the same start, so that new rows may collide any time",
			Unverified: "check once more when the game servers are stopped; give the counters ranges of their own for the future",
		}, {
			Code:       CodeReferenceRebind,
			Meaning:    "rows refer to something that their own database has not but another has: a merge would give them a stranger's",
			Counts:     "referring rows",
			Action:     "remove or correct the referring rows before the merge",
			Unverified: follow,
		}, {
			Code:       CodeReferenceAmbiguous,
			Meaning:    "rows refer to a key that their own database has and another one has too: after a merge they could mean a stranger's",
			Counts:     "referring rows, those of " + CodeReferenceRebind + " not included",
			Action:     "give the colliding keys new values together with all rows that refer to them",
			Unverified: follow,
		}, {
			Code:       CodeReferenceDangle,
			Meaning:    "rows refer to something that their own database has not",
			Counts:     "referring rows, those of " + CodeReferenceRebind + " included",
			Action:     "remove or correct the referring rows",
			Unverified: follow,
		}, {
			Code:       CodeSchemaVersion,
			Meaning:    "a database has another schema version than the target",
			Counts:     "databases that differ",
			Action:     migrate,
			Unverified: migrate,
		}, {
			Code:       CodeSchemaTable,
			Meaning:    "a table is missing in a database",
			Counts:     "databases without it",
			Action:     migrate,
			Unverified: "make sure that these are the right databases",
		}, {
			Code:       CodeSchemaColumn,
			Meaning:    "a column is missing in a database, or has another type, collation or nullability than in the target, or is generated or counted up otherwise",
			Counts:     "databases that differ",
			Action:     migrate,
			Unverified: migrate,
		}, {
			Code:       CodeSchemaKey,
			Meaning:    "a primary key or unique index of the target is missing in a database, or the other way round",
			Counts:     "databases that differ",
			Action:     migrate,
			Unverified: migrate,
		}, {
			Code:       CodeSchemaDefault,
			Meaning:    "a column has another default than in the target: rows that leave it out come to differ",
			Counts:     "databases that differ",
			Action:     migrate,
			Unverified: migrate,
		}, {
			Code:       CodeSchemaOrder,
			Meaning:    "columns come in another order than in the target: a copy that does not name them mixes them up",
			Counts:     "databases that differ",
			Action:     migrate,
			Unverified: migrate,
		}, {
			Code:       CodeSchemaStorage,
			Meaning:    "a table has another storage engine or other partitions than in the target",
			Counts:     "databases that differ",
			Action:     migrate,
			Unverified: migrate,
		}, {
			Code:       CodeSchemaView,
			Meaning:    "a view of the target is missing in a database, or the other way round",
			Counts:     "databases that differ",
			Action:     migrate,
			Unverified: migrate,
		}, {
			Code:       CodeTriggerFires,
			Meaning:    "the target has triggers that would run for every row that is copied into it",
			Unverified: "read what the triggers do; drop them for the merge if it is not meant for copied rows",
		}, {
			Code:       CodeNoSnapshot,
			Meaning:    "a database was not read as of one moment: rows may have moved from what was read to what was not",
			Unverified: "check once more when the game servers are stopped",
		}, {
			Code:       CodeColumnOpaque,
			Meaning:    "a column may hold IDs where no rule can see them",
			Unverified: "look for IDs in the column with what the game knows of its format",
		}, {
			Code:       CodeTableSkipped,
			Meaning:    "a table was not read",
			Unverified: "check the table by other means, or leave it out of the merge",
		},
	}
}

// ranks gives the position of every code in [Codes].
func ranks() map[string]int {
	ranks := make(map[string]int)
	for i, c := range Codes() {
		ranks[c.Code] = i
	}
	return ranks
}

func documented(code string) Code {
	all := Codes()
	return all[slices.IndexFunc(all, func(c Code) bool { return c.Code == code })]
}
