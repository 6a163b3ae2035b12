package main

import (
	"fmt"
	"io"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/sqlsource"
	"mergesafe/tools/internal/databases"
)

// writeGrants prints what gives the accounts of the sources all that a check
// takes. It asks no database: the account may not be there yet. Comments are
// wrapped at width, and statements never are, so that they can be pasted; 0 is no limit.
func writeGrants(w io.Writer, width int, places []databases.Place) error {
	var b strings.Builder
	comment := func(text string) {
		for _, line := range columns.Wrap("", text, max(0, width-len("-- "))) {
			b.WriteString("-- " + line + "\n")
		}
	}
	for _, p := range places {
		database, account, severalHosts, err := accountOf(p)
		switch {
		case err != nil:
			return err
		case account == "":
			comment(p.Name + ": an SQLite file, which must be readable, and its folder too")
			continue
		}
		statement := sqlsource.Grant("SELECT", database, account, false)
		if line := statement + "; -- " + p.Name; width == 0 || columns.Width(line) <= width {
			b.WriteString(line + "\n")
		} else {
			comment(p.Name + ":")
			b.WriteString(statement + ";\n")
		}
		if literal := sqlsource.Grant("SELECT", database, account, true); literal != statement {
			fmt.Fprintf(&b, "-- with partial_revokes = ON instead: %s;\n", literal)
		}
		if severalHosts {
			fmt.Fprintf(&b, "-- and, if its hosts are a MySQL group: %s;\n", sqlsource.GrantMembers(account))
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
