package verdict

import "slices"

// The codes of results, most serious first.
const (
	CodeWorldTwice          = "world-twice"
	CodeServerConflict      = "server-conflict"
	CodeWorldCloned         = "world-cloned"
	CodeWorldMerged         = "world-merged"
	CodeWorldCopied         = "world-copied"
	CodeWorldReplica        = "world-replica"
	CodeMergeUnfinished     = "merge-unfinished"
	CodeKeySpace            = "key-space"
	CodeKeyNobody           = "key-nobody"
	CodeKeyUndeclared       = "key-undeclared"
	CodeKeyCounter          = "key-counter"
	CodeKeyCollision        = "key-collision"
	CodeServerUnlisted      = "server-unlisted"
	CodeIDAboveMark         = "id-above-mark"
	CodeIDInvalid           = "id-invalid"
	CodeIDFuture            = "id-future"
	CodeUniqueCollision     = "unique-collision"
	CodeAccountOverflow     = "account-overflow"
	CodeAccountConflict     = "account-conflict"
	CodeAutoIncrement       = "auto-increment"
	CodeCounterFull         = "counter-full"
	CodeKeyWorld            = "key-world"
	CodeTableDiffers        = "table-differs"
	CodeReferenceRebind     = "reference-rebind"
	CodeReferenceAmbiguous  = "reference-ambiguous"
	CodeReferenceDangle     = "reference-dangling"
	CodeReferenceNone       = "reference-none"
	CodeReferenceTwoKinds   = "reference-two-kinds"
	CodeCellFormat          = "cell-format"
	CodeReferenceSevered    = "reference-severed"
	CodeReferenceUndeclared = "reference-undeclared"
	CodeRefusedCheck        = "refused-check"
	CodeRefusedPartition    = "refused-partition"
	CodeRefusedValue        = "refused-value"
	CodeRefusedSize         = "refused-size"
	CodeTableUncopyable     = "table-uncopyable"
	CodeSchemaVersion       = "schema-version"
	CodeSchemaTable         = "schema-table"
	CodeSchemaColumn        = "schema-column"
	CodeSchemaKey           = "schema-key"
	CodeSchemaDefault       = "schema-default"
	CodeSchemaOrder         = "schema-order"
	CodeSchemaStorage       = "schema-storage"
	CodeSchemaView          = "schema-view"
	CodeSchemaMigration     = "schema-migration"
	CodeSchemaCheck         = "schema-check"
	CodeSchemaReference     = "schema-reference"
	CodeSchemaRoutine       = "schema-routine"
	CodeSchemaCharset       = "schema-charset"
	CodeTableChanged        = "table-changed"
	CodeColumnOpaque        = "column-opaque"
	CodeTableSkipped        = "table-skipped"
	CodeRowsLeft            = "rows-left"
)

// Code documents one code.
type Code struct {
	Code       string // stable, for scripts
	Meaning    string // the meaning of a FAIL; for a code that never fails, of NOT VERIFIED
	Counts     string // the things in Result.Count; empty for a code that never fails
	Action     string // what to do about a FAIL
	Unverified string // what to do about NOT VERIFIED; never empty, also if no rule leaves it so

	// OneColumn says that it can be allowed for single columns only; see
	// [rules.Options.Allow].
	OneColumn bool
}

// Codes lists all codes, most serious first. It is the order of the
// results of a report. A code never changes its meaning.
func Codes() []Code { return slices.Clone(codes) }

// Documented returns the entry of a code.
func Documented(code string) Code {
	return codes[slices.IndexFunc(codes, func(c Code) bool { return c.Code == code })]
}

// codes is the table of all codes: the source of -codes. Its order is that of [Codes].
var codes = []Code{
	{
		Code:       CodeWorldTwice,
		Meaning:    "two names lead to one database: its rows would be merged with themselves",
		Counts:     "pairs of names",
		Action:     "name each database once, and check which database the other DSN names",
		Unverified: "make sure that these are two different databases: check on their servers, or compare their files",
	},
	{
		Code:       CodeServerConflict,
		Meaning:    "two databases list the same server number for different worlds",
		Counts:     "servers",
		Action:     "do not merge these worlds: both created IDs with this server number; give each new world a number of its own",
		Unverified: "make sure that no two of these worlds ever used the same server number",
	},
	{
		Code:       CodeWorldCloned,
		Meaning:    "two databases contain the same world: a cloned disk, or a restored backup",
		Counts:     "worlds",
		Action:     "find out which copy is the live one, and leave the other out",
		Unverified: "make sure that no two of these worlds ever used the same server number",
	},
	{
		Code:       CodeWorldMerged,
		Meaning:    "a database already contains the world of another database",
		Counts:     "worlds",
		Action:     "leave out the database whose world was merged before, or undo that merge first",
		Unverified: "make sure that no two of these worlds ever used the same server number",
	},
	{
		Code:       CodeWorldCopied,
		Meaning:    "over half of the keys that two worlds share have equal rows: one world seems to be a copy of the other, such as a restored backup",
		Unverified: "find out whether both worlds have players; if they do, allow it",
	},
	{
		Code:       CodeWorldReplica,
		Meaning:    "a database is on a replica that is behind its primary",
		Counts:     "databases",
		Action:     "give the primary; if it is lost for good, let the replica apply everything it received, then make it an independent server (STOP REPLICA; RESET REPLICA ALL)",
		Unverified: "give the primary; or stop the game, wait until the replica has caught up, and allow it",
	},
	{
		Code:       CodeMergeUnfinished,
		Meaning:    "a merge into a database was begun, but neither completed nor undone",
		Counts:     "merges",
		Action:     "resume that merge or undo it (servermerge status PLAN), then check again",
		Unverified: "check whether a merge into it was begun: servermerge status PLAN",
	},
	{
		Code:       CodeKeySpace,
		Meaning:    "the keys of a world cannot get new values: a column is too narrow, an offset conflicts with other keys, or a value is not a number",
		Counts:     "columns or values that prevent it",
		Action:     "give the column a larger type in all databases, or choose other offsets",
		Unverified: "the reasons say why the values could not be read",
	},
	{
		Code:       CodeKeyNobody,
		Meaning:    "values of a reference may mean no row, but would get new values as if they were keys",
		Unverified: "declare that these values mean no row (none), or that their rows were deleted (dangling)",
	},
	{
		Code:       CodeKeyUndeclared,
		Meaning:    "a key keeps its value while others get new ones, and no rule says whether it is a key of the game's own data",
		Unverified: "declare the column: a key of a space, a reference, or shared",
		OneColumn:  true,
	},
	{
		Code:       CodeKeyCounter,
		Meaning:    "a column that is not declared, or cannot be raised, seems to be the game's counter of keys",
		Unverified: "declare the column as a counter, or as plain if it is not one",
		OneColumn:  true,
	},
	{
		Code:       CodeKeyCollision,
		Meaning:    "a primary key occurs more than once, as the first world compares keys",
		Counts:     "distinct keys",
		Action:     "do not merge; find out why both databases have the same key",
		Unverified: "make the key readable and comparable, as the reasons say: give rows with NULL in it a value, and check again when no process writes to the table. If only some values of a key change, you may allow it: the database itself refuses two rows with the same key",
	},
	{
		Code:       CodeServerUnlisted,
		Meaning:    "IDs in a primary key contain a server number that their database's registry does not list",
		Counts:     "IDs",
		Action:     "find out where the rows came from; record the merge that brought them, or remove them",
		Unverified: "make sure that no two of these worlds ever used the same server number",
	},
	{
		Code:       CodeIDAboveMark,
		Meaning:    "IDs in a primary key are later than any time that the registry reserved for their server number: the registry was lost or restored",
		Counts:     "IDs",
		Action:     "start the game server once: it then reserves times after those of its rows; check again",
		Unverified: "make sure that no two of these worlds ever used the same server number",
	},
	{
		Code:       CodeIDInvalid,
		Meaning:    "values in an ID column of a primary key are not IDs: not 10 bytes, or server number 0",
		Counts:     "values",
		Action:     "remove the rows, or give them new IDs",
		Unverified: "make the key readable and comparable, as the reasons say, or check it in another way",
	},
	{
		Code:       CodeIDFuture,
		Meaning:    "IDs in a primary key are later than the clock of their database by more than the slack",
		Counts:     "IDs",
		Action:     "correct the clocks of the database and the game server, then find out how the IDs were created",
		Unverified: "make the key readable and comparable, as the reasons say, or check it in another way",
	},
	{
		Code:       CodeUniqueCollision,
		Meaning:    "a value that must be unique occurs more than once, as the first world compares",
		Counts:     "distinct values",
		Action:     "let the merge give new names ([[merge.name]]), or rename all but one of each, with every column that repeats the name",
		Unverified: "compare the values in another way",
	},
	{
		Code:       CodeAccountOverflow,
		Meaning:    "an account would have more characters in all databases together than the limit allows",
		Counts:     "accounts that are in more than one database",
		Action:     "decide which characters the players keep, or raise the limit",
		Unverified: "compare the accounts in another way",
	},
	{
		Code:       CodeAccountConflict,
		Meaning:    "an account is in more than one database, and no rule says whether it is the same account",
		Unverified: "find out whether all worlds use one account database",
	},
	{
		Code:       CodeAutoIncrement,
		Meaning:    "databases number new rows in the same range, so new rows may collide at any time",
		Unverified: "check again when the game servers are stopped; for the future, give each counter a range of its own",
	},
	{
		Code:       CodeCounterFull,
		Meaning:    "a table with AUTO_INCREMENT has no number left for the next row after the merge, or fewer than the worlds have used so far; also if only a column that refers to it ends",
		Counts:     "counters with no number left",
		Action:     "before the merge, give the column a larger type in all databases, or give the rows with the largest keys smaller keys",
		Unverified: "give the column a larger type in all databases, or give the rows with the largest keys smaller keys; or make sure that the remaining numbers suffice",
	},
	{
		Code:       CodeKeyWorld,
		Meaning:    "keys contain the number of another world's server, or two databases have keys of the same world",
		Counts:     "rows with such keys",
		Action:     "find out where these rows come from, and give them keys of their own world before the merge",
		Unverified: "the reasons say why the keys could not be read",
	},
	{
		Code:       CodeTableDiffers,
		Meaning:    "a table or column that is declared the same in every database differs",
		Counts:     "databases whose rows are not those of the first world",
		Action:     "make the rows equal, or remove the table from the [[merge.table]] with the policy same, or its keys from keep",
		Unverified: "compare the rows in another way; if a shared column means something else in each world, declare it a reference to a [[merge.space]]",
	},
	{
		Code:       CodeReferenceRebind,
		Meaning:    "rows reference a key that exists only in another database; after a merge they would point to the wrong row",
		Counts:     "referring rows",
		Action:     "remove or correct the referring rows before the merge",
		Unverified: "check the reference in another way",
	},
	{
		Code:       CodeReferenceAmbiguous,
		Meaning:    "rows reference a key that exists in their own database and in another one; after a merge they could point to the wrong row",
		Counts:     "referring rows, those of reference-rebind not included",
		Action:     "give the colliding keys new values together with all rows that refer to them",
		Unverified: "check the reference in another way",
	},
	{
		Code:       CodeReferenceDangle,
		Meaning:    "rows reference a key that their own database does not have",
		Counts:     "referring rows, those of reference-rebind included",
		Action:     "remove or correct the referring rows",
		Unverified: "check the reference in another way",
	},
	{
		Code:       CodeReferenceNone,
		Meaning:    "rows hold keys that a rule declares to mean no row (none); after a merge they could point to the wrong row",
		Unverified: "remove the values from none, or choose other offsets; if they do mean no row, allow the code for the column",
		OneColumn:  true,
	},
	{
		Code:       CodeReferenceTwoKinds,
		Meaning:    "a reference seems to refer to different things in different rows: for certain values of another column, many match a row only in another database",
		Unverified: "use when to declare what each row refers to; if all rows refer to the same thing, allow the code for the column",
		OneColumn:  true,
	},
	{
		Code:       CodeCellFormat,
		Meaning:    "cells do not have the format declared for the keys in them, or are too short for new keys",
		Counts:     "rows",
		Action:     "correct the cells or the format; if the cells are too short, give the column a larger type in all databases, or choose smaller offsets",
		Unverified: `declare a format for the other numbers, or others = "plain" if they refer to nothing`,
	},
	{
		Code:       CodeReferenceSevered,
		Meaning:    "rows reference rows that stay behind only because those reference a table whose rows stay behind",
		Counts:     "referring rows",
		Action:     `copy the rows in between with the reference cleared (gone = "none"), or remove the referring rows`,
		Unverified: "check the reference in another way",
	},
	{
		Code:       CodeReferenceUndeclared,
		Meaning:    "an undeclared column has values that, if they are keys, would refer to other rows after the merge",
		Counts:     "rows with such values",
		Action:     "declare what the column is",
		Unverified: "write the declarations of all columns to a file: run mergecheck -propose -o rules.toml with the same worlds, read the file, and check again with -rules rules.toml",
		OneColumn:  true,
	},
	{
		Code:       CodeRefusedCheck,
		Meaning:    "rows violate a CHECK constraint that the new database takes from the first world",
		Counts:     "rows of the worlds",
		Action:     "correct the rows, or change the first world's table, before the merge",
		Unverified: "try the rows yourself: copy them into an empty copy of the first world's table",
	},
	{
		Code:       CodeRefusedPartition,
		Meaning:    "no partition of the new database, which takes those of the first world, accepts a row",
		Counts:     "rows of the worlds",
		Action:     "add a partition for the rows to the first world's table",
		Unverified: "try the rows yourself: copy them into an empty copy of the first world's table",
	},
	{
		Code:       CodeRefusedValue,
		Meaning:    "rows hold values that a column of the first world, and so of the new database, does not accept: too long, out of range, not in the list of an ENUM",
		Counts:     "rows of the worlds",
		Action:     "correct the rows, or change the first world's table, before the merge",
		Unverified: "try the rows yourself: copy them into an empty copy of the first world's table",
	},
	{
		Code:       CodeRefusedSize,
		Meaning:    "rows have a value that is longer than the first world's database server accepts",
		Counts:     "rows of the worlds",
		Action:     "raise max_allowed_packet of the database server",
		Unverified: "try the rows yourself: copy them into an empty copy of the first world's table",
	},
	{
		Code:       CodeTableUncopyable,
		Meaning:    "a merge cannot copy the rows of a table as they are",
		Counts:     "reasons",
		Action:     "change the table or the rules; the reasons say how",
		Unverified: "the reasons say why this is unknown",
	},
	{
		Code:       CodeSchemaVersion,
		Meaning:    "a database's schema version differs from the first world's",
		Counts:     "databases that differ",
		Action:     "migrate all databases to the same schema, then check again",
		Unverified: "migrate all databases to the same schema, then check again",
	},
	{
		Code:       CodeSchemaTable,
		Meaning:    "a table is missing in a database",
		Counts:     "databases without it",
		Action:     "migrate all databases to the same schema, then check again",
		Unverified: "make sure that these are the right databases",
	},
	{
		Code:       CodeSchemaColumn,
		Meaning:    "a column is missing in a database, or differs from the first world's in type, collation, nullability, or how it is generated or numbered",
		Counts:     "databases that differ",
		Action:     "migrate all databases to the same schema, then check again",
		Unverified: "migrate all databases to the same schema, then check again",
	},
	{
		Code:       CodeSchemaKey,
		Meaning:    "a primary key or unique index is only in the first world, or only in another database",
		Counts:     "databases that differ",
		Action:     "migrate all databases to the same schema, then check again",
		Unverified: "migrate all databases to the same schema, then check again",
	},
	{
		Code:       CodeSchemaDefault,
		Meaning:    "the default of a column differs from the first world's: new rows without a value for the column will differ",
		Counts:     "databases that differ",
		Action:     "migrate all databases to the same schema, then check again",
		Unverified: "migrate all databases to the same schema, then check again",
	},
	{
		Code:       CodeSchemaOrder,
		Meaning:    "columns are in a different order than in the first world: a copy that does not name the columns would mix them up",
		Counts:     "databases that differ",
		Action:     "migrate all databases to the same schema, then check again",
		Unverified: "migrate all databases to the same schema, then check again",
	},
	{
		Code:       CodeSchemaStorage,
		Meaning:    "the storage engine or the partitions of a table differ from the first world's",
		Counts:     "databases that differ",
		Action:     "migrate all databases to the same schema, then check again",
		Unverified: "migrate all databases to the same schema, then check again",
	},
	{
		Code:       CodeSchemaView,
		Meaning:    "a view is only in the first world, or only in another database",
		Counts:     "databases that differ",
		Action:     "migrate all databases to the same schema, then check again",
		Unverified: "migrate all databases to the same schema, then check again",
	},
	{
		Code:       CodeSchemaMigration,
		Meaning:    "a database is not at the first world's migration, according to the history of goose, golang-migrate, atlas, flyway, liquibase, sequelize, alembic or rails",
		Counts:     "databases that differ",
		Action:     "migrate all databases to the same schema, then check again",
		Unverified: "make sure that all databases are at the same migration, and that no migration is half done",
	},
	{
		Code:       CodeSchemaCheck,
		Meaning:    "a database has a CHECK constraint that the first world lacks: after the merge nothing enforces it",
		Unverified: "add it to the first world if the game relies on it, or make sure that the game does not need it",
	},
	{
		Code:       CodeSchemaReference,
		Meaning:    "a database has a foreign key that the first world lacks, or that acts differently there when rows are deleted or change their key",
		Unverified: "add it to the first world if the game relies on it, or make sure that the game does not need it",
	},
	{
		Code:       CodeSchemaRoutine,
		Meaning:    "a database has an event, procedure or function that the first world lacks, or that does something else there; the check compares only those that its account can see",
		Unverified: "add it to the first world if the game relies on it, or make sure that the game does not need it",
	},
	{
		Code:       CodeSchemaCharset,
		Meaning:    "a database's default collation differs from the first world's: tables that the game creates later would compare texts differently",
		Unverified: "make sure that the game sets the collation of tables that it creates",
	},
	{
		Code:       CodeTableChanged,
		Meaning:    "a table outside the snapshot changed while the check read it, so its results mix different states of the table",
		Unverified: "stop the processes that write to the table, then check again",
	},
	{
		Code:       CodeColumnOpaque,
		Meaning:    "a column may hold keys inside its values, which no rule can read",
		Unverified: "find out from the game what the column holds, then declare it",
	},
	{
		Code:       CodeTableSkipped,
		Meaning:    "a table could not be read",
		Unverified: "check the table in another way",
	},
	{
		Code:       CodeRowsLeft,
		Meaning:    "rows stay behind, as declared",
		Unverified: "see the [[merge.table]] and [[merge.leave]] of the rules",
	},
}
