package mysql

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqldb/mysql/certificates"
)

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
	dsn, _, err := certificates.Split(dsn)
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
