// Command mutate puts faults into what carries a merge out, one after the other, and shows that the oracle finds each:
//
//	go run ./merge/oracle/mutate -cases 200
//
// A fault is a text of a source file that is replaced by another one. The compiler reads the changed file in its place
// (go build -overlay), so that the tree stays as it is. Each is looked for twice: as the program runs, where its own
// proof may find it first, and without that proof, where the reference alone does.
package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"

	"mergesafe/internal/mutant"
)

func main() {
	mutant.Main(faults, "merge/oracle", "cases", 200, func(test, folder string, cases int, seed uint64) (found, more string) {
		proved := merges(test, folder, cases, seed)
		return merges(test, folder, cases, seed, "-oracle.blind"), fmt.Sprintf("    with the proof: %s\n", proved)
	})
}

var (
	wrongAfter = regexp.MustCompile(`wrong after (\d+) cases`)
	because    = regexp.MustCompile(`-oracle.cases 1\): (\w+)`)
)

// merges merges games until one comes out wrong, and says when that was, and what saw it.
func merges(test, folder string, cases int, seed uint64, flags ...string) string {
	args := append([]string{"-test.run", "TestOracle/sqlite", "-oracle.first", "-oracle.cases", strconv.Itoa(cases),
		"-oracle.seed", strconv.FormatUint(seed, 10)}, flags...)
	cmd := exec.Command(test, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	after, why := wrongAfter.FindSubmatch(out), because.FindSubmatch(out)
	switch {
	case after != nil && why != nil:
		return fmt.Sprintf("%s: after %s", why[1], after[1])
	case err != nil:
		return fmt.Sprintf("ended: %.60q", out)
	}
	return mutant.NotFound
}
