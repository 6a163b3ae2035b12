// Package databases finds the databases that the arguments of a tool name, and
// reads its configuration for that.
package databases

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/config"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/tools/internal/cli"
)

// Place is the location of a database, and its name.
type Place struct {
	Arg  string // as it was given; may be secret
	Name string // never secret
	DSN  config.Secret

	full string // see FullName
}

// Locate finds the databases that the arguments mean, two or more: each is a
// DSN or the name of a source in the configuration. One that is given by DSN is
// named after it, as shortly as tells it from the others.
func (c *Config) Locate(args []string) ([]Place, error) {
	if len(args) < 2 {
		return nil, cli.Usage("got %d of the databases to merge, want two or more: each a DSN such as \"sqlite:data/s1.db\" or the name of a [[source]] in %s", len(args), c.file)
	}
	places, err := c.Places(args)
	for i, arg := range args {
		if err == nil && slices.Contains(args[:i], arg) {
			err = cli.Usage("%q is given twice: want each database once", places[i].Name)
		}
	}
	return places, err
}

// Places is Locate of any number of databases.
func (c *Config) Places(args []string) ([]Place, error) {
	var places []Place
	for _, arg := range args {
		dsn, err := c.DSN(arg)
		if err != nil {
			return nil, err
		}
		if err := sqldb.CheckPath(dsn.Reveal()); err != nil {
			return nil, cli.Usage("%s: %v", printable.Quoted(sqldb.Redact(dsn.Reveal())), err)
		}
		places = append(places, Place{Arg: arg, Name: arg, DSN: dsn})
	}
	nameDSNs(places)
	return places, nil
}

// nameDSNs names those databases that were given by DSN, as shortly as tells
// them apart.
func nameDSNs(places []Place) {
	short, full := make(map[string]int), make(map[string]int)
	for i := range places {
		p := &places[i]
		if p.full = p.Arg; p.isDSN() {
			p.Name, p.full = names(p.Arg)
		}
		short[p.Name]++
		full[p.full]++
	}
	for i := range places {
		p := &places[i]
		if p.isDSN() && full[p.full] > 1 { // neither is shown
			p.full += fmt.Sprintf(" (database %d)", i+1)
		}
		if p.isDSN() && short[p.Name] > 1 {
			p.Name = p.full
		}
	}
}

// FullName is the name of the source, or what tells the DSN from all others and
// is not secret: for an SQLite file the DSN itself, else host and database.
func (p Place) FullName() string { return p.full }

func (p Place) isDSN() bool { return strings.Contains(p.Arg, ":") }

// names returns a short and a long name of what a DSN leads to, neither of
// which is secret.
func names(dsn string) (short, long string) {
	shown := sqldb.Redact(dsn)
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok && shown == dsn {
		return path, dsn
	}
	if m, ok := sqldb.ParseServer(dsn); ok && m.Database != "" && shown != "sqlite:***" {
		return m.Database, m.Address + "/" + m.Database
	}
	return shown, shown
}

// Where names the server and database of a DSN, without secrets.
func Where(dsn string) string {
	_, long := names(dsn)
	return long
}

// Names returns the names of places.
func Names(places []Place) []string {
	return slice.Map(places, func(p Place) string { return p.Name })
}
