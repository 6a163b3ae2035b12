package postgres_test

import (
	"strings"
	"testing"

	"mergesafe/store"
)

// The errors of a connection are one line without a password, also if that stands where a user or a database does.
func TestConnectErrors(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://game:hunter2@127.0.0.1:1/s1":            "user=game database=s1",
		"postgres://hunter2@127.0.0.1:1/s1":                 "user=*** database=s1",
		"postgres://127.0.0.1:1/s1?user=hunter2":            "user=*** database=s1",
		"postgres://r@127.0.0.1:1/s1":                       "user=*** database=s1`: 127.0.0.1:1 (127.0.0.1): dial error", // no "e***o***"
		"postgres://127.0.0.1:1/game:hunter2@db":            "database=***",
		"postgres://game:pass@127.0.0.1:1/s1;pw=hunter2":    "database=***",
		"postgres://game:hunter2@nohost.invalid:1/s1":       "nohost.invalid",
		"postgres://game:hunter2@127.0.0.1:1,127.0.0.1:2/s": "127.0.0.1:2",
	} {
		_, err := store.Open(t.Context(), dsn)
		if err == nil || strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), "hunter2") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", dsn, err, want)
		}
	}
}
