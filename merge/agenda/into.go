package agenda

import (
	"regexp"
	"strings"

	"mergesafe/internal/sqldb"

	_ "mergesafe/internal/sqldb/mysql"  // read addresses
	_ "mergesafe/internal/sqldb/sqlite" // of databases
)

// What a name of a new database may have in it.
const (
	IntoTarget = "{target}" // the name of the world
	IntoNumber = "{n}"      // the next number
)

var (
	intoBraces = regexp.MustCompile(`^[^{}]*(?:\{target\}[^{}]*)?(?:\pL\{n\}(?:[.?][^{}]*)?)?$`)
	newName    = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.$-]{0,63}$`)
)

// intoProblem is what is wrong with the name or address of a new database; "" if nothing is.
func intoProblem(text string) string {
	const want = `want a name such as "{target}_2026" or "{target}_m{n}", ` +
		`or an address such as "mysql:tcp(db4:3306)/{target}_m{n}"`
	filled := strings.NewReplacer(IntoTarget, "w", IntoNumber, "2").Replace(text)
	server, isServer := sqldb.ParseServer(filled)
	isServer = isServer && strings.HasPrefix(text, "mysql:") && server.Database != ""
	isFile := strings.HasPrefix(text, "sqlite:") && sqldb.Redact(filled) == filled
	switch address := strings.Contains(text, ":"); {
	case text == "":
	case !intoBraces.MatchString(text):
		return "has other braces than {target}, and {n} at the end of the name behind a letter: " + want
	case !address && !newName.MatchString(filled):
		return "is no name of a database: " + want
	case strings.HasPrefix(text, "mysql:") && strings.Contains(text, "@"):
		return "has an account in it: want no user and no password, since it is opened with the account of the target"
	case address && !isServer && !isFile:
		return "is no address: " + want
	}
	return ""
}
