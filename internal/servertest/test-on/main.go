// Command test-on runs the tests of packages on the server that TEST_ON names, as "mysql:" and a DSN of
// go-sql-driver/mysql without a database, and prints a table of what passed, failed and was skipped. The account must be
// able to create databases and accounts. What the tests make there they drop again.
//
// Its exit code is 1 if a test failed, and 2 if it could not run them.
package main

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
)

func main() {
	failed, err := run(context.Background(), os.Getenv("TEST_ON"), os.Args[1:], os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "test-on:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

func run(ctx context.Context, on string, args []string, out io.Writer) (failed bool, err error) {
	dsn, ok := strings.CutPrefix(on, "mysql:")
	if !ok || !strings.HasSuffix(dsn, "/") {
		return false, errors.New("want a server: make test-on DSN='mysql:user:password@tcp(host:port)/'")
	}
	version, err := versionOf(ctx, dsn)
	if err != nil {
		return false, fmt.Errorf("the server does not answer: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-vet=off"}, args...)...)
	variable := servertest.EnvMySQL
	if strings.Contains(version, "MariaDB") {
		variable = servertest.EnvMariaDB
	}
	cmd.Env, cmd.Stderr = append(os.Environ(), variable+"="+dsn), os.Stderr
	events, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return false, err
	}
	tests, err := count(events)
	err = errors.Join(err, cmd.Wait())
	if _, ended := errors.AsType[*exec.ExitError](err); ended && len(tests) > 0 {
		err = nil // tests failed, which the table says
	}
	if err == nil {
		failed = tests.print(out, version)
	}
	return failed, err
}

func versionOf(ctx context.Context, dsn string) (version string, err error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return "", err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err = db.QueryRowContext(ctx, "SELECT CONCAT_WS(' ', VERSION(), @@version_comment, @@version_compile_os)").Scan(&version)
	return version, err
}

// tally is what became of the tests of a package.
type tally struct {
	passed, skipped int
	failed          []string
	output          map[string][]string // of the tests that have not passed
	seconds         float64
	broken          bool
}

type tallies map[string]*tally

// count reads the events of go test -json.
func count(events io.Reader) (tallies, error) {
	all := make(tallies)
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		var event struct {
			Action, Package, Test, Output string
			Elapsed                       float64
		}
		if json.Unmarshal(line, &event) != nil || event.Package == "" {
			continue // what the compiler says
		}
		t := all[event.Package]
		if t == nil {
			t = &tally{output: make(map[string][]string)}
			all[event.Package] = t
		}
		switch event.Action {
		case "output":
			t.output[event.Test] = append(t.output[event.Test], event.Output)
		case "pass", "skip", "fail":
			t.end(event.Action, event.Test, event.Elapsed)
		}
	}
}

func (t *tally) end(action, test string, seconds float64) {
	switch {
	case test == "":
		t.seconds, t.broken = seconds, action == "fail"
	case action == "pass":
		t.passed++
		delete(t.output, test)
	case action == "skip":
		t.skipped++
		delete(t.output, test)
	default:
		t.failed = append(t.failed, test)
	}
}

// print prints the table, and the end of what the tests said that failed.
func (all tallies) print(out io.Writer, version string) (failed bool) {
	fmt.Fprintf(out, "Tested on %s, %s\n\n", version, time.Now().UTC().Format("2006-01-02"))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\tpassed\tskipped\tfailed\tseconds")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%.0f\n", name, t.passed, t.skipped, len(t.failed), t.seconds)
	}
	table.Flush()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		if t.broken && len(t.failed) == 0 {
			t.failed = []string{""}
		}
		for _, test := range t.failed {
			failed = true
			said := t.output[test]
			fmt.Fprintf(out, "\n%s %s\n%s", name, cmp.Or(test, "(the package)"), strings.Join(said[max(0, len(said)-20):], ""))
		}
	}
	return failed
}
