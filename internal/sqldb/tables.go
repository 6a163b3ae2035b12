package sqldb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The tables of this project in a game's database. They hold no data of the
// game.
const (
	SchemaTable   = "mergesafe_schema"   // the parts that the database has, and their versions; see [Part]
	RegistryTable = "gameid_servers"     // package store/registry
	NumbersTable  = "gameid_numbers"     // package store/numbers
	RecordTable   = "mergesafe_merge"    // package merge: the merge that made the database, with its plan
	MergesTable   = "mergesafe_merges"   // earlier merges, which made the worlds of that one
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

// NewIdentity makes the identity of a world or a registry: 128 random bits as
// 32 hexadecimal digits.
func NewIdentity() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// HeldBy is the condition that the column holder has a holder with a certain
// token, as gameid.Holder writes it, or has no holder if the token is empty.
// HeldByArgs returns its arguments. The token is the first field of the JSON:
// programs of other versions may write other fields after it.
const HeldBy = "SUBSTR(holder, 1, ?) = ?"

// HeldByArgs returns the arguments of [HeldBy].
func HeldByArgs(token string) []any {
	if token == "" {
		return []any{1, ""}
	}
	quoted, err := json.Marshal(token)
	if err != nil {
		panic(err) // a string always has its JSON
	}
	prefix := `{"token":` + string(quoted)
	return []any{utf8.RuneCountInString(prefix), prefix}
}

// Swap runs an update that is to find one row, by its epoch, and reports
// whether it did. {now} in it is the clock of the database.
func (s *Session) Swap(ctx context.Context, query string, args ...any) (bool, error) {
	result, err := s.Exec(ctx, s.Dialect().With(query), args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, s.Fault("update", err)
}

// UnixMilli is a time that a column holds as milliseconds of Unix time: 0 is
// never, the zero time.
func UnixMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
