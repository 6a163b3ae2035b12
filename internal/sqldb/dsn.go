package sqldb

import (
	"fmt"
	"slices"
	"strings"
)

const wantDSN = `want "sqlite:" and the path of a file, or "mysql:" and user:password@tcp(host:port)/database, or postgres://user:password@host:port/database`

// SplitDSN separates the dialect from the rest of a DSN.
func SplitDSN(dsn string) (Dialect, string, error) {
	scheme, rest, _ := strings.Cut(dsn, ":")
	if scheme == "postgresql" {
		scheme = string(PostgreSQL)
	}
	switch d := Dialect(scheme); {
	case dsn == "":
		return "", "", fmt.Errorf("the DSN is empty: %s", wantDSN)
	case !slices.Contains(dialects, d):
		return "", "", fmt.Errorf("unknown kind of database: %s", wantDSN)
	case d == PostgreSQL && !strings.HasPrefix(rest, "//"):
		return "", "", fmt.Errorf("no // after %q: %s", scheme+":", wantDSN)
	case d != PostgreSQL && strings.HasPrefix(rest, "//"):
		return "", "", fmt.Errorf("no // after %q: %s", scheme+":", wantDSN)
	default:
		return d, rest, nil
	}
}
