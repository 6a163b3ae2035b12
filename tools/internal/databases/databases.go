// Package databases finds the databases that the arguments of a tool mean.
package databases

import (
	"os"
	"strings"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/config"
	"mergesafe/store"
	"mergesafe/tools/internal/cli"
)

// DefaultConfig is the configuration file of tools that are not told another
// one.
const DefaultConfig = "config.toml"

// Place is where a database is, and what it is called.
type Place struct {
	Arg  string // as it was given; may be secret
	Name string // never secret
	DSN  config.Secret
}

// Locate finds the databases that the arguments mean, two or more: each is a
// DSN or the name of a source in the configuration. One that is given by DSN is
// named after it, as shortly as tells it from the others.
func Locate(args []string, configFile string, env cli.Env) ([]Place, error) {
	if len(args) < 2 {
		return nil, cli.Usage("got %d of the databases to merge, want two or more: each a DSN such as \"sqlite:data/s1.db\" or the name of a [[source]] in %s", len(args), configFile)
	}
	var places []Place
	for _, arg := range args {
		dsn, err := config.FindDSN(arg, configFile, env)
		if err != nil {
			return nil, err
		}
		places = append(places, Place{Arg: arg, Name: arg, DSN: dsn})
	}
	nameDSNs(places)
	return places, distinct(places)
}

// nameDSNs names those databases that were given by DSN, as shortly as tells
// them apart.
func nameDSNs(places []Place) {
	count := make(map[string]int)
	for i := range places {
		if p := &places[i]; p.isDSN() {
			p.Name, _ = names(p.Arg)
		}
		count[places[i].Name]++
	}
	for i := range places {
		if p := &places[i]; p.isDSN() && count[p.Name] > 1 {
			_, p.Name = names(p.Arg)
		}
	}
}

// FullName is the name of the source, or what tells the DSN from all others and
// is not secret: for an SQLite file the DSN itself, else host and database.
func (p Place) FullName() string {
	if !p.isDSN() {
		return p.Arg
	}
	_, long := names(p.Arg)
	return long
}

func (p Place) isDSN() bool { return strings.Contains(p.Arg, ":") }

// names returns a short and a long name of what a DSN leads to, neither of
// which is secret.
func names(dsn string) (short, long string) {
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		return path, dsn
	}
	rest, _ := strings.CutPrefix(dsn, "mysql:")
	if c, err := mysql.ParseDSN(rest); err == nil && c.DBName != "" {
		return c.DBName, c.Addr + "/" + c.DBName
	}
	return store.Redact(dsn), store.Redact(dsn)
}

// Names returns the names of places.
func Names(places []Place) []string {
	var all []string
	for _, p := range places {
		all = append(all, p.Name)
	}
	return all
}

// distinct returns an error if two places are the same database as far as
// their DSNs tell.
func distinct(places []Place) error {
	for i, p := range places {
		for _, other := range places[:i] {
			if sameDatabase(other.DSN.Reveal(), p.DSN.Reveal()) {
				return cli.Usage("%q and %q are the same database: want each once", other.Name, p.Name)
			}
		}
	}
	return nil
}

func sameDatabase(a, b string) bool {
	if a == b {
		return true
	}
	pathA, okA := strings.CutPrefix(a, "sqlite:")
	pathB, okB := strings.CutPrefix(b, "sqlite:")
	if okA && okB {
		infoA, errA := os.Stat(pathA)
		infoB, errB := os.Stat(pathB)
		return errA == nil && errB == nil && os.SameFile(infoA, infoB)
	}
	ca, errA := mysql.ParseDSN(strings.TrimPrefix(a, "mysql:"))
	cb, errB := mysql.ParseDSN(strings.TrimPrefix(b, "mysql:"))
	return errA == nil && errB == nil && ca.Net == cb.Net && ca.Addr == cb.Addr && ca.DBName == cb.DBName
}
