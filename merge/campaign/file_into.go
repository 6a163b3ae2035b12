package campaign

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"mergesafe/internal/sqldb"

	_ "mergesafe/internal/sqldb/mysql"  // read addresses
	_ "mergesafe/internal/sqldb/sqlite" // of databases
)

// What a name of a new database may have in it.
const (
	intoFirst  = "{first}" // the name of the first world
	intoNumber = "{n}"     // the next number
)

// DefaultInto is the new database of a merge if the file names none: w1_m2, and w1_m3 if that is merged
// again. A name that no server takes, and one that a world has, is a problem of the file.
const DefaultInto = intoFirst + "_m" + intoNumber

var (
	intoBraces = regexp.MustCompile(`^[^{}]*(?:\{first\}[^{}]*)?(?:\pL\{n\}(?:[.?][^{}]*)?)?$`)
	newName    = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.$-]*$`)
)

// isNewName reports whether a name is one of a new database. How long it may be is not in the expression: 64 times
// all letters there are took a fifth of the time that a command needs to start.
func isNewName(name string) bool {
	return newName.MatchString(name) && utf8.RuneCountInString(name) <= 64
}

// intoProblem is what is wrong with the name or address of a new database; "" if nothing is.
func intoProblem(text string) string { return intoProblemOf(text, "w") }

// intoProblemOf is intoProblem for the merge of a world.
func intoProblemOf(text, first string) string {
	const want = `want a name such as "{first}_2026" or "{first}_m{n}", ` +
		`or an address such as "mysql:tcp(db4:3306)/{first}_m{n}"`
	filled := strings.NewReplacer(intoFirst, first, intoNumber, "2").Replace(text)
	server, isServer := sqldb.ParseServer(filled)
	isServer = isServer && strings.HasPrefix(text, "mysql:") && server.Database != ""
	isFile := strings.HasPrefix(text, "sqlite:") && sqldb.Redact(filled) == filled && sqldb.CheckPath(filled) == nil
	switch address := strings.Contains(text, ":"); {
	case text == "":
		return "is empty: " + want
	case !intoBraces.MatchString(text):
		return "has braces other than {first}, or than {n} after a letter at the end of the name: " + want
	case !address && !isNewName(filled):
		return "is not a valid name of a database: " + want
	case strings.HasPrefix(text, "mysql:") && strings.Contains(text, "@"):
		return "contains an account: want no user and no password, since the first world's account is used"
	case address && !isServer && !isFile:
		return "is no address: " + want
	}
	return ""
}
