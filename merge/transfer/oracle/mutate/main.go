// Command mutate puts faults into what carries a merge out, one after the other, and shows that the oracle finds each:
//
//	go run ./merge/transfer/oracle/mutate -cases 200
//
// A fault is a text of a source file that is replaced by another one. The compiler reads the changed file in its place
// (go build -overlay), so that the tree stays as it is. Each is looked for twice: as the program runs, where its own
// proof may find it first, and without that proof, where the reference alone does.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
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
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return err
	}
	m := &mutator{root: strings.TrimSpace(string(root)), cases: cases, seed: seed}
	if m.folder, err = os.MkdirTemp("", "mutate"); err != nil {
		return err
	}
	defer os.RemoveAll(m.folder)
	for _, f := range faults { // all texts are there before the first is tried
		if _, err := m.changed(&f); err != nil {
			return err
		}
	}
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
		if from = strings.TrimPrefix(from, f.name); from != "" || !wanted.MatchString(f.name) {
			continue
		}
		proved, alone, err := m.try(&f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Printf("%-34s %-46s %-24s %s\n", f.name, f.file, proved, alone)
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
	root, folder string
	cases        int
	seed         uint64
}

// changed is the file with the fault in it.
func (m *mutator) changed(f *fault) (string, error) {
	text, err := os.ReadFile(filepath.Join(m.root, f.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), f.old); n != 1 {
		return "", fmt.Errorf("%s: %s has %d times, want once: %s", f.name, f.file, n, f.old)
	}
	return strings.Replace(string(text), f.old, f.new, 1), nil
}

// notFound is the result of a fault that no case shows.
const notFound = "NOT FOUND"

// try builds the test with the fault, if there is one, and runs it with the program's proof and without.
func (m *mutator) try(f *fault) (proved, alone string, err error) {
	in := func(name string) string { return filepath.Join(m.folder, name) }
	file, overlay, test := in("changed.go"), in("overlay.json"), in("oracle.test")
	replace := make(map[string]string)
	if f != nil {
		text, err := m.changed(f)
		if err != nil {
			return "", "", err
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return "", "", err
		}
		replace[filepath.Join(m.root, f.file)] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		return "", "", err
	}
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", test, "./merge/transfer/oracle")
	build.Dir = m.root
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("%w\n%s", err, out)
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
	cmd.Dir = filepath.Join(m.root, "merge/transfer/oracle")
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
