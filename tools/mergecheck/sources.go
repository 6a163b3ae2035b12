package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/config"
	"mergesafe/internal/nearest"
	"mergesafe/merge"
	"mergesafe/merge/sqlsource"
	"mergesafe/store"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/throttle"
)

const defaultConfig = "config.toml"

// place is where a database is, and what it is called.
type place struct {
	arg  string // as it was given; may be secret
	name string
	dsn  config.Secret
}

// locate finds the databases that the arguments mean: each is a DSN or the
// name of a source in the configuration.
func locate(args []string, configFile string, env cli.Env) ([]place, error) {
	if len(args) < 2 {
		return nil, cli.Usage("got %d of the databases to merge, want two or more: each a DSN such as \"sqlite:data/s1.db\" or the name of a [[source]] in %s", len(args), configFile)
	}
	var places []place
	for _, arg := range args {
		dsn, err := config.FindDSN(arg, configFile, env)
		if err != nil {
			return nil, err
		}
		places = append(places, place{arg: arg, name: arg, dsn: dsn})
	}
	nameDSNs(places)
	return places, distinct(places)
}

// nameDSNs names those databases that were given by DSN, as shortly as tells
// them apart.
func nameDSNs(places []place) {
	count := make(map[string]int)
	for i := range places {
		if p := &places[i]; p.isDSN() {
			p.name, _ = names(p.arg)
		}
		count[places[i].name]++
	}
	for i := range places {
		if p := &places[i]; p.isDSN() && count[p.name] > 1 {
			_, p.name = names(p.arg)
		}
	}
}

func (p place) isDSN() bool { return strings.Contains(p.arg, ":") }

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

func placeNames(places []place) []string {
	var all []string
	for _, p := range places {
		all = append(all, p.name)
	}
	return all
}

// distinct returns an error if two places are the same database as far as
// their DSNs tell.
func distinct(places []place) error {
	for i, p := range places {
		for _, other := range places[:i] {
			if sameDatabase(other.dsn.Reveal(), p.dsn.Reveal()) {
				return cli.Usage("%q and %q are the same database: want each once", other.name, p.name)
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

// findTarget returns the name of the place that -target means, "" if it is
// not given.
func findTarget(target string, places []place) (string, error) {
	if target == "" {
		return "", nil
	}
	var names []string
	for _, p := range places {
		if target == p.name || target == p.arg {
			return p.name, nil
		}
		names = append(names, p.name)
	}
	return "", cli.Usage("-target %s is none of the databases%s: want one of %s", store.Redact(target), nearest.Hint(target, names), strings.Join(names, ", "))
}

// open opens all places, to be read as the settings say. rests is told when the
// reading of one has to wait because of its server's load. closeAll closes those
// that were opened, also if there is an error.
func open(ctx context.Context, s settings, rests func(source string, threads int)) (sources []merge.Source, closeAll func(), err error) {
	var opened []*sqlsource.Source
	closeAll = func() {
		// All at once: each waits a moment for a server that does not answer.
		var closing sync.WaitGroup
		for _, s := range opened {
			closing.Go(func() { s.Close() }) // nothing was written that could be lost
		}
		closing.Wait()
	}
	for _, p := range s.places {
		var source *sqlsource.Source // set before anybody pauses
		options := sqlsource.Options{NoSnapshot: !s.snapshot}
		if s.throttle != (throttle.Throttle{}) {
			options.Pause = s.throttle.Pauser(
				func(ctx context.Context) (int, error) { return source.Load(ctx) },
				func(threads int) { rests(p.name, threads) })
		}
		source, err = sqlsource.OpenWith(ctx, p.name, p.dsn.Reveal(), options)
		if err != nil {
			return nil, closeAll, fmt.Errorf("%s: %w", p.name, err)
		}
		opened = append(opened, source)
		sources = append(sources, source)
	}
	return sources, closeAll, nil
}
