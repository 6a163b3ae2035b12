package mysql

import (
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/sqldb"
)

// plainMySQL matches a DSN in which nothing but what stands before the last @
// can be a password: where the address or the slash is missing, it could end
// up anywhere.
var plainMySQL = regexp.MustCompile(`^(?s:.*@)?(?:tcp\(\s*` + sqldb.PlainHost + `(?:\s*,\s*` + sqldb.PlainHost + `)*\s*\)|unix\([^()@:]*\))/[^/@()?:;=\s]*(?:\?[^@]*)?$`)

// twoAddresses matches a DSN with an address inside of the account, which may be that of another DSN.
var twoAddresses = regexp.MustCompile(`(?s)@(?:tcp|unix)\([^()]*\)/.*@`)

// ParseServer reads that from a DSN, with its prefix "mysql:" or without. It is not ok if a part of
// the DSN may be a password in the wrong place.
func (engine) ParseServer(dsn string) (_ sqldb.Server, ok bool) {
	dsn = strings.TrimPrefix(dsn, string(sqldb.MySQL)+":")
	if !plainMySQL.MatchString(dsn) || twoAddresses.MatchString(dsn) {
		return sqldb.Server{}, false
	}
	c, err := parseMySQL(dsn) // which may find the address elsewhere
	if err != nil || !sqldb.IsPlain(c.DBName) || c.Net == "unix" && !sqldb.IsPlainPath(c.Addr) {
		return sqldb.Server{}, false
	}
	for address := range strings.SplitSeq(c.Addr, ",") {
		if c.Net != "unix" && !sqldb.PlainAddress.MatchString(address) {
			return sqldb.Server{}, false
		}
	}
	return sqldb.Server{User: shownUser(dsn, c), Network: c.Net, Address: c.Addr, Database: c.DBName}, true
}

// shownUser is the user of a DSN; "" if no colon is behind it, so that it may be the password.
func shownUser(dsn string, c *mysql.Config) string {
	if !strings.HasPrefix(dsn, c.User+":") || !sqldb.IsPlain(c.User) || strings.ContainsAny(c.User, ` /\`) {
		return ""
	}
	return c.User
}
