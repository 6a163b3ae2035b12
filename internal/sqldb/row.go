package sqldb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"
	"unicode/utf8"
)

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
