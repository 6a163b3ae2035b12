package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-sql-driver/mysql"

	"mergesafe/merge/sqlsource"
)

// writeGrants prints what gives the accounts of the sources all that a check
// takes. It asks no database: the account may not be there yet.
func writeGrants(w io.Writer, places []place) error {
	for _, p := range places {
		text, err := grant(p)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

func grant(p place) (string, error) {
	dsn, ok := strings.CutPrefix(p.dsn.Reveal(), "mysql:")
	if !ok {
		return fmt.Sprintf("-- %s: an SQLite file, which must be readable, and its folder too", p.name), nil
	}
	c, err := mysql.ParseDSN(dsn)
	if err != nil || c.DBName == "" || c.User == "" { // the error may quote the password
		return "", fmt.Errorf("%s: the DSN has no user or no database: want mysql:user:password@tcp(host:port)/database", p.name)
	}
	return sqlsource.Grant(c.DBName, c.User+"@%") + "; -- " + p.name, nil
}
