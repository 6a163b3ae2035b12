package sqldb

import "strings"

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
