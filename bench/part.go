package main

import (
	"context"
	"errors"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"
)

// part measures some sections of the table. With an error it returns what it
// has measured nevertheless.
type part func(context.Context, options) ([]section, error)

// options say what to measure, and for how long.
type options struct {
	only  *regexp.Regexp // nil for all
	cores int
	dir   string // for files; each part has one of its own

	pace       pace          // of minting and text
	storage    pace          // of the databases
	stock      int           // items in the database when measuring begins
	insert     int           // items in one transaction, a multiple of handRows
	stressRuns int           // of each of our generators
	sustain    time.Duration // of each row at the cap
	checkRows  int           // in each database of the check before a merge

	mergePlayers int  // in the world that is merged
	mergeRounds  int  // of each side
	large        bool // measure what takes many minutes, too

	log func(format string, args ...any)
}

// wants reports whether any of these rows was asked for.
func (o options) wants(section string, names ...string) bool {
	return o.only == nil || slices.ContainsFunc(names, func(name string) bool { return o.only.MatchString(section + ": " + name) })
}

// wrong is what ends the whole run with an error: not a number that was
// missed, but a promise of ours that was broken.
type wrong struct{ what string }

func (w *wrong) Error() string { return w.what }

// notInstalled is the lack of a program that a section needs.
type notInstalled struct{ error }

// measuring is a section in the making.
type measuring struct {
	options
	section
	err      error
	cleanups []func() error // run in the end, the last first
}

// must ends the section if there is an error. It runs what was deferred, as
// FailNow of package testing does.
func (m *measuring) must(err error) {
	if err != nil {
		m.err = err
		runtime.Goexit()
	}
}

// measureSection makes a section by fill, unless none of the named rows was
// asked for. It has a row that says so if a program is not installed.
func (o options) measureSection(title, intro string, names []string, fill func(*measuring)) ([]section, error) {
	if len(names) > 0 && !o.wants(title, names...) {
		return nil, nil
	}
	m := &measuring{options: o, section: section{title: title, intro: intro}}
	var done sync.WaitGroup
	done.Go(func() { fill(m) })
	done.Wait()
	for _, f := range slices.Backward(m.cleanups) {
		f()
	}
	err := m.err
	if missing, ok := errors.AsType[notInstalled](err); ok {
		m.rows, err = []row{{what: "not measured", note: missing.Error()}}, nil
	}
	return []section{m.section}, err
}

func (m *measuring) wants(names ...string) bool { return m.options.wants(m.title, names...) }

func (m *measuring) log(format string, args ...any) { m.options.log(m.title+": "+format, args...) }

func (m *measuring) add(rows ...row) { m.rows = append(m.rows, rows...) }

// compare measures candidates beside a reference, those that were asked for.
// With rates it shows operations in a second, and the reference, too.
func (m *measuring) compare(ctx context.Context, p pace, rates bool, reference candidate, list ...candidate) {
	list = slices.DeleteFunc(list, func(c candidate) bool { return !m.wants(c.name) })
	if len(list) == 0 {
		return
	}
	m.log("%s", list[0].name)
	found, err := measure(ctx, p, reference, list)
	m.must(err)
	if rates {
		list = append([]candidate{reference}, list...)
	}
	m.add(rows(list, found, rates)...)
}
