// Command mutate puts faults into what carries a merge out, one after the other, and shows that the oracle finds each:
//
//	go run ./merge/transfer/oracle/mutate -cases 200
//
// A fault is a text of a source file that is replaced by another one. The compiler reads the changed file in its place
// (go build -overlay), so that the tree stays as it is. Each is looked for twice: as the program runs, where its own
// proof may find it first, and without that proof, where the reference alone does.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"mergesafe/internal/mutant"
)

func main() {
	cases := flag.Int("cases", 200, "how many games are merged until a fault counts as not found")
	only := flag.String("only", "", "only faults whose names match this expression")
	from := flag.String("from", "", "begin with the fault of this name")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()/1000%1_000_000_000), "the number of the first game")
	flag.Parse()
	if err := run(*cases, *only, *from, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(cases int, only, from string, seed uint64) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	b, err := mutant.NewBuilder(faults)
	if err != nil {
		return err
	}
	defer b.Close()
	m := &mutator{b, cases, seed}
	fmt.Printf("%d cases from seed %d\n", cases, seed)
	fmt.Printf("%-34s %-46s %-24s %s\n", "fault", "file", "with the proof", "the reference alone")
	proved, alone, err := m.try(nil) // what is found without a fault would be found with each
	if err != nil {
		return err
	}
	if proved != notFound || alone != notFound {
		return fmt.Errorf("without a fault: %s; %s", proved, alone)
	}
	missed := 0
	for _, f := range faults {
		if from = strings.TrimPrefix(from, f.Name); from != "" || !wanted.MatchString(f.Name) {
			continue
		}
		proved, alone, err := m.try(&f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		fmt.Printf("%-34s %-46s %-24s %s\n", f.Name, f.File, proved, alone)
		if alone == notFound {
			missed++
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d faults were not found", missed)
	}
	return nil
}

type mutator struct {
	*mutant.Builder
	cases int
	seed  uint64
}

// notFound is the result of a fault that no case shows.
const notFound = "NOT FOUND"

// try builds the test with the fault, if there is one, and runs it with the program's proof and without.
func (m *mutator) try(f *mutant.Fault) (proved, alone string, err error) {
	test, err := m.Test(f, "merge/transfer/oracle")
	if err != nil {
		return "", "", err
	}
	return m.look(test), m.look(test, "-oracle.blind"), nil
}

var (
	wrongAfter = regexp.MustCompile(`wrong after (\d+) cases`)
	because    = regexp.MustCompile(`-oracle.cases 1\): (\w+)`)
)

// look merges games until one comes out wrong, and says when that was, and what saw it.
func (m *mutator) look(test string, flags ...string) string {
	args := append([]string{"-test.run", "TestOracle/sqlite", "-oracle.first", "-oracle.cases", strconv.Itoa(m.cases),
		"-oracle.seed", strconv.FormatUint(m.seed, 10)}, flags...)
	cmd := exec.Command(test, args...)
	cmd.Dir = filepath.Join(m.Root, "merge/transfer/oracle")
	out, err := cmd.CombinedOutput()
	after, why := wrongAfter.FindSubmatch(out), because.FindSubmatch(out)
	switch {
	case after != nil && why != nil:
		return fmt.Sprintf("%s: after %s", why[1], after[1])
	case err != nil:
		return fmt.Sprintf("ended: %.60q", out)
	}
	return notFound
}
