package main

import (
	"fmt"
	"io"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/sqlsource"
	"mergesafe/tools/internal/databases"
)

// writeGrants prints what gives the accounts of the sources all that a check
// takes. It asks no database: the account may not be there yet. target is the
// name of the target, "" for the first.
func writeGrants(w io.Writer, places []databases.Place, target string) error {
	var b strings.Builder
	for i, p := range places {
		database, account, severalHosts, err := accountOf(p)
		switch {
		case err != nil:
			return err
		case account == "":
			fmt.Fprintf(&b, "-- %s: an SQLite file, which must be readable, and its folder too\n", p.Name)
			continue
		}
		write := func(format, privilege string) {
			fmt.Fprintf(&b, format, sqlsource.Grant(privilege, database, account, false), p.Name)
			if literal := sqlsource.Grant(privilege, database, account, true); literal != sqlsource.Grant(privilege, database, account, false) {
				fmt.Fprintf(&b, "-- with partial_revokes = ON instead: %s;\n", literal)
			}
		}
		write("%s; -- %s\n", "SELECT")
		if severalHosts {
			fmt.Fprintf(&b, "-- and, if its hosts are a MySQL group: %s;\n", sqlsource.GrantMembers(account))
		}
		if p.Name == target || target == "" && i == 0 {
			b.WriteString("-- and to see the triggers of the target, without which trigger-fires is NOT VERIFIED (the account could make some, too):\n")
			write("-- %[1]s;\n", "TRIGGER")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// accountOf returns what a GRANT has to name, and whether the DSN names several
// hosts; no account for an SQLite file.
func accountOf(p databases.Place) (database, account string, severalHosts bool, err error) {
	dsn := p.DSN.Reveal()
	if !strings.HasPrefix(dsn, "mysql:") {
		return "", "", false, nil
	}
	m, ok := sqldb.ParseServer(dsn)
	if !ok || m.Database == "" || m.User == "" {
		return "", "", false, fmt.Errorf("%s: the DSN has no user or no database: want mysql:user:password@tcp(host:port)/database", p.Name)
	}
	return m.Database, m.User + "@%", strings.Contains(m.Address, ","), nil
}
