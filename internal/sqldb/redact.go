package sqldb

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// A DSN that is written wrongly may have its password anywhere. So nothing of a DSN is shown unless it
// has our form, and each part that is shown has plain characters only.

// plainText matches a text that separates nothing in any kind of connection string, and so has no
// part that could be a secret. A space does, if the words around it are those of such a string.
var plainText = regexp.MustCompile("^[\\pL\\pN\\pM\\p{So}_.$#+~'` /\\\\-]*$")

// namedSecret matches the name of a secret. In a DSN of another driver, or a
// connection string, it stands before the secret.
var namedSecret = regexp.MustCompile(`(?i)pass|pwd|secret|token|key`)

// worded matches what has a secret behind a space or a dash: password PASSWORD, -pPASSWORD.
var worded = regexp.MustCompile(`(?i)(?:pass|pwd|secret|token|key)\pL* |(?:^|[ /\\])--?\pL`)

// isPlain reports whether a text may be shown wherever it comes from.
func isPlain(text string) bool { return plainText.MatchString(text) && !worded.MatchString(text) }

// isPlainPath reports whether a path may be shown: a folder that exists is a path indeed, and what
// follows must be plain. That there is a file says nothing: opening it may have made it.
func isPlainPath(path string) bool {
	if filepath.IsAbs(path) { // a drive has a colon
		path = path[len(filepath.VolumeName(path)):]
	}
	for path != ":memory:" && !isPlain(path) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return true
		}
		folder, name := filepath.Split(strings.TrimRight(path, string(filepath.Separator)+"/"))
		if !isPlain(name) {
			return false
		}
		path = folder
	}
	return true
}

// plainHost matches a host with a port: what else stands behind a colon may be a
// password.
const plainHost = `(?:\[[0-9A-Fa-f:.]*(?:%[A-Za-z0-9_.-]+)?\]|[\pL\pN._-]*)(?::[0-9]{1,5})?`

var plainAddress = regexp.MustCompile(`^` + plainHost + `$`)

// plainMySQL matches a DSN in which nothing but what stands before the last @
// can be a password: where the address or the slash is missing, it could end
// up anywhere.
var plainMySQL = regexp.MustCompile(`^(?s:.*@)?(?:tcp\(\s*` + plainHost + `(?:\s*,\s*` + plainHost + `)*\s*\)|unix\([^()@:]*\))/[^/@()?:;=\s]*(?:\?[^@]*)?$`)

// twoAddresses matches a DSN with an address inside of the account, which may be that of another DSN.
var twoAddresses = regexp.MustCompile(`(?s)@(?:tcp|unix)\([^()]*\)/.*@`)

// Server is the server, database and user of a DSN of MySQL, as they may be shown. Several hosts are
// one Address, with commas. User is empty if no colon is behind it: then it may be the password.
type Server struct{ User, Network, Address, Database string }

// ParseServer reads that from a DSN, with its prefix "mysql:" or without. It is not ok if a part of
// the DSN may be a password in the wrong place.
func ParseServer(dsn string) (_ Server, ok bool) {
	dsn = strings.TrimPrefix(dsn, string(MySQL)+":")
	if !plainMySQL.MatchString(dsn) || twoAddresses.MatchString(dsn) {
		return Server{}, false
	}
	c, err := parseMySQL(dsn) // which may find the address elsewhere
	if err != nil || !isPlain(c.DBName) || c.Net == "unix" && !isPlainPath(c.Addr) {
		return Server{}, false
	}
	for address := range strings.SplitSeq(c.Addr, ",") {
		if c.Net != "unix" && !plainAddress.MatchString(address) {
			return Server{}, false
		}
	}
	return Server{shownUser(dsn, c), c.Net, c.Addr, c.DBName}, true
}

// shownUser is the user of a DSN; "" if no colon is behind it, so that it may be the password.
func shownUser(dsn string, c *mysql.Config) string {
	if !strings.HasPrefix(dsn, c.User+":") || !isPlain(c.User) || strings.ContainsAny(c.User, ` /\`) {
		return ""
	}
	return c.User
}

// Redact returns dsn as it may be shown: without the password and everything
// else that may be secret. It is meant for messages and takes any text, also one
// that is not a DSN, such as the name of a file. A text that is neither a DSN of ours nor a plain
// name or path is shown as ***, behind the prefix that it has.
func Redact(dsn string) string {
	dialect, rest, err := SplitDSN(dsn)
	switch {
	case err != nil && isPlainPath(dsn), err == nil && dialect == SQLite && isPlainPath(rest):
		return dsn
	case err == nil && dialect == MySQL:
		if s, ok := ParseServer(rest); ok {
			account := ""
			switch {
			case s.User != "":
				account = s.User + ":***@"
			case strings.Contains(rest, "@"):
				account = "***@"
			}
			return fmt.Sprintf("mysql:%s%s(%s)/%s", account, s.Network, s.Address, s.Database)
		}
	}
	if scheme, _, _ := strings.Cut(dsn, ":"); Dialect(scheme) == MySQL || Dialect(scheme) == SQLite {
		return scheme + ":***"
	}
	return "***"
}
