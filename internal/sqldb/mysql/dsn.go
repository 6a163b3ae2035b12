package mysql

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/sqldb"
)

// bareIPv6 matches an address of IPv6 with a port and without brackets, before the last slash.
var bareIPv6 = regexp.MustCompile(`tcp\(([0-9a-fA-F:]+):([0-9]{1,5})\)/[^/]*$`)

// mysqlConfig reads a DSN of one host as go-sql-driver does, and sets what
// this package relies on, whatever the DSN says of it.
func mysqlConfig(dsn string, readOnly bool, files certificates) (*mysql.Config, error) {
	if plainMySQL.MatchString(dsn) { // otherwise what stands there may be a password
		if err := checkTLS(dsn); err != nil {
			return nil, err
		}
	}
	if m := bareIPv6.FindStringSubmatch(dsn); m != nil {
		if host, err := netip.ParseAddr(m[1]); err == nil && host.Is6() {
			address := net.JoinHostPort(m[1], m[2])
			return nil, fmt.Errorf("an IPv6 address with a port needs brackets: want tcp(%s)", address)
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
		return nil, errors.New("the address is not the path of a socket: want user:password@unix(/path/of/socket)/database")
	}
	if cfg.Net == "tcp" && !sqldb.PlainAddress.MatchString(cfg.Addr) {
		return nil, errors.New("the address is not a host and a port: want user:password@tcp(host:port)/database")
	}
	if name, _, _ := strings.Cut(dsn[strings.LastIndex(dsn, "/")+1:], "?"); !sqldb.IsPlain(cfg.DBName) || strings.ContainsAny(name, " \t\n") {
		return nil, errors.New("the name of the database has a character with a special meaning in DSNs: want letters, digits and _-.$#+~, " +
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
	if err := files.apply(cfg); err != nil {
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
	cfg.MaxAllowedPacket = 0        // asks the server: the driver sends values in pieces that it takes
	cfg.ColumnsWithAlias = false    // columns are found by their names
	cfg.Logger = &mysql.NopLogger{} // errors are returned, not printed
	cfg.Timeout = cmp.Or(cfg.Timeout, 30*time.Second)
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
		return errors.New("the name of the database ends with a space: remove it")
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

// manyHosts matches a DSN of MySQL with a list of hosts. What stands before the
// last @ is the account.
var manyHosts = regexp.MustCompile(`(?s)^((?:.*@)?tcp\()([^()@]*,[^()@]*)(\)/[^/]*)$`)

// eachHost returns a DSN for each host that dsn names, in their order.
func eachHost(dsn string) ([]string, error) {
	m := manyHosts.FindStringSubmatch(dsn)
	if m == nil {
		return []string{dsn}, nil
	}
	var hosts, each []string
	for _, host := range strings.Split(m[2], ",") {
		host = strings.TrimSpace(host)
		switch {
		case host == "":
			return nil, fmt.Errorf("the list of hosts has an empty one: want tcp(host1:port,host2:port)")
		case slices.Contains(hosts, host):
			return nil, fmt.Errorf("the list of hosts has %q twice: want each once", sqldb.Redact(host))
		}
		hosts, each = append(hosts, host), append(each, m[1]+host+m[3])
	}
	return each, nil
}

// parseMySQL reads a DSN for what it says. Addr lists all hosts.
func parseMySQL(dsn string) (*mysql.Config, error) {
	dsn, _, err := splitCertificates(dsn)
	if err != nil {
		return nil, err
	}
	each, err := eachHost(dsn)
	if err != nil {
		return nil, err
	}
	var first *mysql.Config
	var addresses []string
	for _, dsn := range each {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = cfg
		}
		addresses = append(addresses, cfg.Addr)
	}
	first.Addr = strings.Join(addresses, ",")
	return first, nil
}
