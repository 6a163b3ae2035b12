// Command bench measures mergesafe beside its peers: minting, text, duplicates
// under stress, short numbers, storage beside plain database/sql, and merges
// beside plain scans and mariadb-dump. See README.md.
//
//	go run .          everything, over half an hour
//	go run . -quick   a look, under three minutes
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Exit codes.
const (
	exitWrong  = 1 // one of our promises was broken: duplicates, order, a merge as planned
	exitCannot = 2 // could not measure
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, slices.Concat([]part{
		mintingAndText, atTheCap, stress, numbersFromMemory, sqliteStorage, mariadbStorage, mysqlStorage, postgresStorage, numbersOnMariaDB, sqliteCheck, mariadbCheck, mysqlCheck,
	}, mergeParts(), []part{sqliteMerge, mariadbLarge})))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, parts []part) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "fewer and shorter rounds: under three minutes in all")
	large := flags.Bool("large", false, "measure a merge of twenty million rows, too, which takes many minutes")
	only := flags.String("only", "", "measure only the rows whose \"section: name\" matches this `regexp`")
	markdown := flags.String("markdown", "", "write the table to this `file` as well, as Markdown")
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: bench [flags]\n\nMeasures mergesafe beside its peers and prints a table.\n\n")
		flags.PrintDefaults()
		fmt.Fprintf(stderr, "\nExit code: 0 measured, %d a promise of ours was broken (duplicates, order, a merge as planned), %d could not measure.\nA missed speed goal is a \"no\" in the table and not an error.\n", exitWrong, exitCannot)
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return exitCannot
	}
	cannot := func(err error) int {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return exitCannot
	}
	if flags.NArg() > 0 {
		return cannot(fmt.Errorf("unexpected argument %q", flags.Arg(0)))
	}

	began := time.Now()
	o := options{
		cores:      runtime.GOMAXPROCS(0),
		pace:       pace{rounds: 25, slice: 40 * time.Millisecond},
		storage:    pace{rounds: 15, slice: 250 * time.Millisecond},
		stock:      100_000,
		insert:     10_000,
		stressRuns: 5,
		sustain:    2 * time.Second,
		checkRows:  10_000_000,

		mergePlayers: 1_000_000,
		mergeRounds:  2,
		large:        *large,

		log: func(format string, args ...any) {
			fmt.Fprintf(stderr, "%4.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		},
	}
	if *quick {
		o.pace = pace{rounds: 7, slice: 15 * time.Millisecond}
		o.storage = pace{rounds: 5, slice: 150 * time.Millisecond}
		o.stressRuns, o.sustain = 1, 500*time.Millisecond
		o.checkRows = 500_000
		o.mergePlayers = 100_000
	}
	if *only != "" {
		var err error
		if o.only, err = regexp.Compile(*only); err != nil {
			return cannot(fmt.Errorf("-only: %w", err))
		}
	}

	var file *os.File
	if *markdown != "" {
		var err error
		if file, err = os.Create(*markdown); err != nil { // now, rather than find out after minutes
			return cannot(err)
		}
		defer file.Close()
	}

	var sections []section
	code := 0
	for _, part := range parts {
		found, err := inFolder(ctx, o, part)
		for _, s := range found {
			if len(s.rows) > 0 {
				sections = append(sections, s)
			}
		}
		if _, ok := errors.AsType[*wrong](err); ok {
			fmt.Fprintf(stderr, "bench: broken promise: %v\n", err)
			code = exitWrong // the rest is of interest, too
		} else if err != nil {
			code = cannot(err)
			break // with what was measured before
		}
	}
	if len(sections) == 0 {
		if code == 0 {
			code = cannot(fmt.Errorf("-only %q matches no row", *only))
		}
		return code
	}
	head := fmt.Sprintf("Measured on %s, in %s.\n", machine(), time.Since(began).Round(time.Second))
	_, err := io.WriteString(stdout, head+asText(sections))
	if err == nil && file != nil {
		_, err = io.WriteString(file, head+asMarkdown(sections))
	}
	if err != nil {
		return cannot(err)
	}
	return code
}

// inFolder measures a part that has a temporary folder.
func inFolder(ctx context.Context, o options, measure part) (sections []section, err error) {
	if o.dir, err = os.MkdirTemp("", "mergesafe-bench-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(o.dir)
	return measure(ctx, o)
}
