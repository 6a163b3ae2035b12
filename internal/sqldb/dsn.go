package sqldb

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// CheckPath returns an error, which quotes nothing, if a DSN of SQLite has no path of a file: no such database can be opened or
// made. Nothing is opened.
func CheckPath(dsn string) error {
	dialect, rest, err := SplitDSN(dsn)
	if e, linked := dialect.engine(); err == nil && dialect == SQLite && linked {
		return e.(interface{ IsPath(path string) error }).IsPath(rest)
	}
	return nil
}

// SplitAccount divides a DSN into the account, with the @ behind it, and the address, which has neither
// user nor password. A DSN of SQLite has no account.
func SplitAccount(dsn string) (account, address string) {
	prefix := string(MySQL) + ":"
	rest, ok := strings.CutPrefix(dsn, prefix)
	if !ok {
		return "", dsn
	}
	at := strings.LastIndexByte(rest[:max(0, strings.LastIndexByte(rest, '/'))], '@') // as the driver looks for it
	return rest[:at+1], prefix + rest[at+1:]
}

// A DSN that is written wrongly may have its password anywhere. So nothing of a DSN is shown unless it
// has our form, and each part that is shown has plain characters only.

// plainText matches a text that separates nothing in any kind of connection string, and so has no
// part that could be a secret. A space does, if the words around it are those of such a string.
var plainText = regexp.MustCompile("^[\\pL\\pN\\pM\\p{So}_.$#+~'` /\\\\-]*$")

// NamedSecret matches the name of a secret. In a DSN of another driver, or a
// connection string, it stands before the secret.
var NamedSecret = regexp.MustCompile(`(?i)pass|pwd|secret|token|key`)

// worded matches what has a secret behind a space or a dash: password PASSWORD, -pPASSWORD.
var worded = regexp.MustCompile(`(?i)(?:pass|pwd|secret|token|key)\pL* |(?:^|[ /\\])--?\pL`)

// IsPlain reports whether a text may be shown wherever it comes from.
func IsPlain(text string) bool { return plainText.MatchString(text) && !worded.MatchString(text) }

// IsPlainPath reports whether a path may be shown: a folder that exists is a path indeed, and what
// follows must be plain. That there is a file says nothing: opening it may have made it.
func IsPlainPath(path string) bool {
	if filepath.IsAbs(path) { // a drive has a colon
		path = path[len(filepath.VolumeName(path)):]
	}
	for path != ":memory:" && !IsPlain(path) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return true
		}
		folder, name := filepath.Split(strings.TrimRightFunc(path, func(r rune) bool { return r == filepath.Separator || r == '/' }))
		if !IsPlain(name) {
			return false
		}
		path = folder
	}
	return true
}

// PlainHost matches a host with a port: what else stands behind a colon may be a
// password.
const PlainHost = `(?:\[[0-9A-Fa-f:.]*(?:%[A-Za-z0-9_.-]+)?\]|[\pL\pN._-]*)(?::[0-9]{1,5})?`

// PlainAddress matches nothing but that.
var PlainAddress = regexp.MustCompile(`^` + PlainHost + `$`)

// Redact returns dsn as it may be shown: without the password and everything
// else that may be secret. It is meant for messages and takes any text, also one
// that is not a DSN, such as the name of a file. A text that is neither a DSN of ours nor a plain
// name or path is shown as ***, behind the prefix that it has.
func Redact(dsn string) string {
	dialect, rest, err := SplitDSN(dsn)
	if err != nil && IsPlainPath(dsn) {
		return dsn
	}
	if err == nil {
		if e, linked := dialect.engine(); linked {
			if shown, ok := e.Shown(rest); ok {
				return string(dialect) + ":" + shown
			}
		}
	}
	if scheme, _, _ := strings.Cut(dsn, ":"); slices.Contains(dialects, Dialect(scheme)) {
		return scheme + ":***"
	}
	return "***"
}

// Server is the server, database and user of a DSN, as they may be shown. Several hosts are
// one Address, with commas. User is empty if no colon is behind it: then it may be the password.
type Server struct{ User, Network, Address, Database string }

// ParseServer reads that from a DSN of MySQL, with its prefix "mysql:" or without. It is not ok if a part of
// the DSN may be a password in the wrong place.
func ParseServer(dsn string) (_ Server, ok bool) {
	if e, linked := MySQL.engine(); linked {
		return e.(interface{ ParseServer(string) (Server, bool) }).ParseServer(dsn)
	}
	return Server{}, false
}
