// Command bench measures mergesafe beside its peers: IDs beside other libraries, package store beside plain
// database/sql, and a merge beside the dump of the database and myloader. It also counts how often a merge reads a row.
// See README.md.
//
//	go run .          everything, a quarter of an hour
//	go run . -quick   a look, under three minutes
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, []part{
		{"Minting and text", ids}, {"Storage on SQLite", sqliteStorage}, {"Storage on MariaDB", mariadbStorage}, {"Storage on MySQL", mysqlStorage},
		{"Storage on PostgreSQL", postgresStorage}, {"Merge on MariaDB", mariadbMerge}, {"Merge on MySQL", mysqlMerge}, {"Rows read", rowsRead},
	}))
}

// part measures some sections of the table.
type part struct {
	title   string
	measure func(context.Context, options) ([]section, error)
}

// options say for how long to measure.
type options struct {
	dir        string // for files; each part has one of its own
	ids        pace   // of minting and text
	storage    pace   // of the databases
	stock      int    // items in the database when measuring begins
	characters int    // in the world that is merged
	rounds     int    // of the merge
	log        func(format string, args ...any)
}

// errNoProgram is the lack of a program that a part needs.
var errNoProgram = errors.New("not installed")

func run(ctx context.Context, args []string, stdout, stderr io.Writer, parts []part) (code int) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "fewer and shorter rounds: under three minutes in all")
	only := flags.String("only", "", "measure only the parts whose title matches this `regexp`, such as \"Merge|Rows\"")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 1
	}
	wanted, err := regexp.Compile(*only)
	if err != nil || flags.NArg() > 0 {
		fmt.Fprintf(stderr, "bench: -only %q, arguments %q: %v\n", *only, flags.Args(), err)
		return 1
	}
	began := time.Now()
	o := options{
		ids:     pace{rounds: 25, slice: 40 * time.Millisecond},
		storage: pace{rounds: 15, slice: 250 * time.Millisecond},
		stock:   100_000, characters: 100_000, rounds: 3,
		log: func(format string, args ...any) {
			fmt.Fprintf(stderr, "%4.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		},
	}
	if *quick {
		o.ids = pace{rounds: 7, slice: 15 * time.Millisecond}
		o.storage = pace{rounds: 5, slice: 150 * time.Millisecond}
		o.characters, o.rounds = 5000, 1
	}
	var sections []section
	for _, p := range parts {
		if !wanted.MatchString(p.title) {
			continue
		}
		o.log("%s", p.title)
		found, err := p.inFolder(ctx, o)
		if errors.Is(err, errNoProgram) {
			found, err = []section{{title: p.title, rows: []row{{what: "not measured", note: err.Error()}}}}, nil
		}
		sections = append(sections, found...)
		if err != nil {
			fmt.Fprintf(stderr, "bench: %s: %v\n", p.title, err)
			code = 1 // the rest is of interest, too
		}
	}
	fmt.Fprintf(stdout, "Measured on %s, in %s.\n%s", machine(), time.Since(began).Round(time.Second), asMarkdown(sections))
	return code
}

// inFolder measures a part that has a temporary folder.
func (p part) inFolder(ctx context.Context, o options) (sections []section, err error) {
	if o.dir, err = os.MkdirTemp("", "mergesafe-bench-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(o.dir)
	return p.measure(ctx, o)
}

// machine says what the numbers were measured on.
func machine() string {
	return fmt.Sprintf("%s, %d cores, %s, %s/%s", field("/proc/cpuinfo", "model name"), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// field returns the first value of a key in a file of lines "key: value".
func field(file, key string) string {
	f, err := os.Open(file)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
