package sqldb

import (
	"errors"
	"fmt"
	"net/url"
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

// WithDatabase returns the DSN of a database on the server of MySQL or MariaDB that a DSN
// without a database leads to, such as "mysql:user:password@tcp(host:3306)/".
func WithDatabase(dsn, name string) (string, error) {
	address := strings.TrimPrefix(dsn, string(MySQL)+":")
	at := strings.LastIndex(address, "/") // as the driver looks for it
	if at < 0 {
		return "", errors.New("not the DSN of a server: want mysql:user:password@tcp(host:port)/")
	}
	before, params, some := strings.Cut(address[at+1:], "?")
	if before != "" {
		return "", errors.New("the DSN names a database: want that of a server, mysql:user:password@tcp(host:port)/")
	}
	address = address[:at+1] + url.PathEscape(name)
	if some {
		address += "?" + params
	}
	return string(MySQL) + ":" + address, nil
}
