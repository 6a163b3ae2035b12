package mysql

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqldb/mysql/certificates"
)

// bareIPv6 matches an address of IPv6 with a port and without brackets, before the last slash.
var bareIPv6 = regexp.MustCompile(`tcp\(([0-9a-fA-F:]+):([0-9]{1,5})\)/[^/]*$`)

// mysqlConfig reads a DSN of one host as go-sql-driver does, and sets what
// this package relies on, whatever the DSN says of it.
func mysqlConfig(dsn string, readOnly bool, files certificates.Files) (*mysql.Config, error) {
	if plainMySQL.MatchString(dsn) { // otherwise what stands there may be a password
		if err := certificates.Check(dsn); err != nil {
			return nil, err
		}
	}
	if m := bareIPv6.FindStringSubmatch(dsn); m != nil {
		if host, err := netip.ParseAddr(m[1]); err == nil && host.Is6() {
			address := net.JoinHostPort(m[1], m[2])
			return nil, fmt.Errorf("the port of an IPv6 address comes after brackets: want tcp(%s)", address)
		}
	}
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		// The driver's messages may quote any part of the DSN.
		if s := err.Error(); strings.HasPrefix(s, "invalid DSN: ") {
			return nil, errors.New(s)
		}
		return nil, errors.New("not a DSN of go-sql-driver/mysql: want user:password@tcp(host:port)/database?param=value, with the values URL-escaped")
	}
	if cfg.Net != "tcp" && cfg.Net != "unix" { // anything else may be a part of the password
		return nil, errors.New("unknown network: want user:password@tcp(host:port)/database, or unix(/path/of/socket) instead of tcp")
	}
	if cfg.DBName == "" {
		return nil, errors.New("no database named: want it after the slash, as in tcp(host:port)/database")
	}
	// Nothing of this goes to the system or the server, whose messages would quote it.
	if cfg.Net == "unix" && !sqldb.IsPlainPath(cfg.Addr) {
		return nil, errors.New("the address is not the plain path of a socket: want user:password@unix(/path/of/socket)/database")
	}
	if cfg.Net == "tcp" && !sqldb.PlainAddress.MatchString(cfg.Addr) {
		return nil, errors.New("the address is not a host and the number of a port: want user:password@tcp(host:port)/database")
	}
	if name, _, _ := strings.Cut(dsn[strings.LastIndex(dsn, "/")+1:], "?"); !sqldb.IsPlain(cfg.DBName) || strings.ContainsAny(name, " \t\n") {
		return nil, errors.New("the name of the database has a character in it that separates something elsewhere: want letters, digits and _-.$#+~, " +
			"%20 for a space, and the password before the address, as in user:password@tcp(host:port)/database")
	}
	if err := unfit(cfg.DBName); err != nil {
		return nil, err
	}
	if err := secretParameter(cfg.Params); err != nil {
		return nil, err
	}
	if err := fights(dsn, cfg.Params, readOnly); err != nil {
		return nil, err
	}
	if err := files.Apply(cfg); err != nil {
		return nil, err
	}
	if err := cfg.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, err
	}
	// Times are UTC on both sides of the wire.
	cfg.ParseTime, cfg.Loc = true, time.UTC
	// Rows affected are rows found: an update that changes nothing has found
	// its row.
	cfg.ClientFoundRows = true
	// One round trip instead of three for what is not prepared. It is safe in
	// utf8mb4.
	cfg.InterpolateParams = true
	cfg.MultiStatements = false
	cfg.ColumnsWithAlias = false    // columns are found by their names
	cfg.Logger = &mysql.NopLogger{} // errors are returned, not printed
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	return cfg, nil
}

// unfit returns an error for the name of a database that no server takes
// (dev.mysql.com/doc/refman/8.4/en/identifiers.html, mariadb.com/kb/en/identifier-names).
func unfit(name string) error {
	const most = 64
	n, last := utf8.RuneCountInString(name), name[len(name)-1]
	switch {
	case n > most:
		return fmt.Errorf("the name of the database has %d characters: want at most %d", n, most)
	case last == ' ' || last == '\t' || last == '\n' || last == '\r':
		return errors.New("the name of the database ends with a space: want one that does not")
	case strings.ContainsFunc(name, func(r rune) bool { return r > 0xFFFF }):
		return errors.New("the name of the database has a character beyond U+FFFF, such as an emoji: want letters, digits and _-.$#+~")
	}
	return nil
}

// secretParameter returns an error if a parameter is named like a part of the
// account: the driver would send it as a setting, and the server would quote it.
func secretParameter(params map[string]string) error {
	for key := range params {
		name := strings.ToLower(key)
		found := sqldb.NamedSecret.FindString(name)
		for _, account := range []string{"user", "uid", "login"} {
			if found == "" && strings.Contains(name, account) {
				found = account
			}
		}
		if found != "" && !strings.HasSuffix(name, "_key_checks") { // of foreign keys
			return fmt.Errorf("the DSN has a parameter with %q in its name: user and password belong before the address, as in user:password@tcp(host:port)/database", found)
		}
	}
	return nil
}
