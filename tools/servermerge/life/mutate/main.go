// Command mutate puts faults into the life of a merge, one after the other, and shows that generated sequences find each:
//
//	go run ./tools/servermerge/life/mutate -sequences 2000
package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"

	"mergesafe/internal/mutant"
)

func main() { mutant.Main(faults, "tools/servermerge/life", "sequences", 2000, look) }

var (
	failedAfter = regexp.MustCompile(`(?:failed|panic) after (\d+) tests: ([^\n]*)`)
	passed      = regexp.MustCompile(`OK, passed \d+ tests`)
	step        = regexp.MustCompile(`(?m)^ +\w+_test.go:\d+: ( ?\d+  .*)$`)
)

// look generates sequences until one breaks an invariant, and says when that was, and how the shortest went.
func look(test, folder string, sequences int, seed uint64) (after, steps string) {
	cmd := exec.Command(test, "-test.run", "^TestLife$/sqlite", "-test.timeout", "2h", "-life.sequences", strconv.Itoa(sequences),
		"-life.seed", strconv.FormatUint(seed, 10), "-rapid.shrinktime", "15s")
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	found := failedAfter.FindSubmatch(out)
	switch {
	case found != nil:
		for _, s := range step.FindAllSubmatch(out, -1) {
			steps += fmt.Sprintf("    %s\n", s[1])
		}
		return fmt.Sprintf("after %s: %s", found[1], found[2]), steps
	case err != nil && step.Match(out):
		return "at once, when nothing happens", ""
	case err != nil && !passed.Match(out):
		return fmt.Sprintf("ended: %.200q", out), ""
	}
	return mutant.NotFound, ""
}
