package sim

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
)

// edit is a change to one source file: old, which stands there exactly once,
// is replaced. Where old is empty the whole file is, or with nothing removed.
type edit struct{ file, old, new string }

// mutations break one thing each, of the node or of the simulated database.
// want is the promise that the simulation must find not kept, by the first word
// of its report; where several are given, any of them.
var mutations = []struct {
	name  string
	want  []string
	edits []edit
}{
	{"compare-and-set ignores the epoch", []string{"compare-and-set", "mark"}, []edit{{"database_test.go",
		"if db.row.epoch != over.Epoch || db.row", "if db.row"}}},
	{"compare-and-set ignores the holder", []string{"compare-and-set"}, []edit{{"database_test.go",
		" || db.row.holder.Token != over.Holder.Token {", " {"}}},
	{"the database confirms what it does not keep", []string{"ranges", "compare-and-set"}, []edit{{"database_test.go",
		"db.row = row{epoch: over.Epoch + 1,", "_ = row{epoch: over.Epoch + 1,"}}},
	{"a refused claim is taken for granted at start", []string{"range"}, []edit{{"../node.go",
		"if err != nil || !ok {\n\t\treturn false, err", "if _ = ok; err != nil {\n\t\treturn false, err"}}},
	{"a lost answer is taken for success at start", []string{"range"}, []edit{{"../node.go",
		"if err != nil || !ok {\n\t\treturn false, err", "if err == nil && !ok {\n\t\treturn false, err"}}},
	{"a lost answer is taken for success", []string{"range"}, []edit{{"../node.go",
		"if err != nil {\n\t\t\treturn err\n\t\t}\n\t\tif ok {", "if ok || err != nil {"}}},
	{"a refused claim is taken for success", []string{"range"}, []edit{{"../node.go",
		"return err\n\t\t}\n\t\tif ok {", "return err\n\t\t}\n\t\tif ok || true {"}}},
	{"times are used before the answer", []string{"range"}, []edit{{"../node.go",
		"n.unsure = true // until", "n.limit.Store(wordOf(c.Reserved + 1))\n\t\tn.unsure = true // until"}}},
	{"another's row is taken for its own", []string{"range", "compare-and-set"}, []edit{{"../node.go",
		"\tif rec.Holder.Token != n.holder.Token {\n\t\terr", "\tif false {\n\t\terr"}}},
	{"the start is the clock, not the mark", []string{"range"}, []edit{{"../node.go",
		"n.word.Store(wordOf(used+1) - 1)", "n.word.Store(n.now()<<SequenceBits - 1)"}}},
	{"the floor is ignored", []string{"range", "mark"}, []edit{{"../node.go",
		"used = max(rec.Reserved, min(n.floor, MaxMillis))", "used = max(rec.Reserved, 0)"}}},
	{"the limit ignores the mark", []string{"range"}, []edit{{"../node.go",
		"limit := wordOf(top + 1)", "limit := wordOf(top + 1000)"}}},
	{"the limit is one millisecond further", []string{"range"}, []edit{{"../node.go",
		"limit := wordOf(top + 1)", "limit := wordOf(top + 2)"}}},
	{"the word follows the clock back", []string{"order", "range"}, []edit{{"../node.go",
		"if now > last>>SequenceBits {", "if true {"}}},
	{"the limit is not looked at", []string{"range"}, []edit{{"../node.go",
		"if first >= limit {\n\t\t\treturn 0, 0\n\t\t}\n\t\tgot = min(want, limit-first)", "_, got = limit, want"}}},
	{"the lease is not looked at", []string{"lease"}, []edit{{"../node.go",
		"if other && rec.Now.Before", "if other && false && rec.Now.Before"}}},
	{"a mark ahead is not looked at", []string{"mark"}, []edit{{"../node.go",
		"TimeOf(used).Sub(now) > limit", "TimeOf(used).Sub(now) > max(limit, 1<<62)"}}},
	{"a wrong clock is not looked at", []string{"clock"}, []edit{{"../node.go",
		"return rec, 0, &ClockError{Local: wall, Registry: rec.Now, Limit: n.opts.MaxSkew}", ""}}},
	{"a wild clock is followed", []string{"reserve"}, []edit{{"../node.go",
		"} else if wall.sub(n.agreed+elapsed).Abs() > n.opts.MaxSkew {", "} else if false {"}}},
	{"steps of the clock add up", []string{"reserve"}, []edit{{"../node.go",
		"wall.sub(n.agreed+elapsed).Abs() > n.opts.MaxSkew", "wall.sub(nanos(n.shift.Load())+elapsed).Abs() > n.opts.MaxSkew"}}},
	{"a step of the clock is not followed", []string{"late", "recovery", "reserve"}, []edit{{"../node.go",
		"n.shift.Store(uint64(wall - elapsed))", ""}}},
	{"a renewal lowers the mark", []string{"mark", "reserve"}, []edit{{"../node.go",
		"return max(n.mark, n.horizon())", "return n.horizon() - 1000"}}},
	{"the release lowers the mark below what was used", []string{"release"}, []edit{{"../node.go",
		"Claim{Reserved: min(used, n.mark), ", "Claim{Reserved: min(used, n.mark) - 1, "}}},
	{"a node that has ended mints on", []string{"ended", "refusal"}, []edit{{"../node.go",
		"n.final = n.word.Swap(stopped)", "n.final = n.word.Load()"}}},
	{"an old failure is reported for ever", []string{"refusal", "recovery"}, []edit{{"../node.go",
		"n.failure = nil", ""}}},
	{"a failed renewal is not tried again", []string{"recovery", "alive"}, []edit{{"../node.go",
		"timer.Reset(retry)", "_ = retry"}}},
	{"the second defence is left out", []string{"range", "second defence", "reserve"}, []edit{{"../node.go",
		"return rec, max(used, n.horizon()), nil", "return rec, used, nil"}}},
	{"the second defence forgets the window", []string{"range", "second defence", "reserve"}, []edit{{"../node.go",
		"return rec, max(used, n.horizon()), nil", "return rec, max(used, n.horizon()-n.window.Milliseconds()), nil"}}},
	{"the row's window does not count", []string{"window"}, []edit{{"../node.go",
		"n.window = max(n.window, rec.Window)", "_ = rec.Window"}}},
	{"opening waits for no clock", []string{"reserve"}, []edit{{"../node.go",
		"case missing > minReach || n.clock", "case true || n.clock"}}},
	{"reservations end beyond the window", []string{"reserve", "second defence"}, []edit{{"../node.go",
		"return max(n.mark, n.horizon())", "return max(n.mark, n.horizon()+1)"}}},
	{"no waiting call is woken", []string{"time", "recovery"}, []edit{{"../node.go",
		"n.raise()\n\tn.changed.Broadcast()", "n.raise()"}}},
}

// Each mutation is found within a few hundred worlds. The subtests build the
// simulation with the changed file in place of the real one, which stays as it
// is. Without LONG they only look whether it can be changed in this way.
func TestMutationsAreFound(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			overlay(t, m.edits)
			servertest.Long(t)
			out, err := simulateWith(t, []string{"-sim.seeds", "2000"}, m.edits...)
			if err == nil {
				t.Fatal("the simulation does not see it")
			}
			found := false
			for _, want := range m.want {
				found = found || strings.Contains(out, ": "+want+": ")
			}
			if !found {
				t.Errorf("it was found as something else than %q:\n%s", m.want, out)
			}
		})
	}
}

// Mutations are found long before an ID occurs twice. So here is shown that
// this would be seen too.
func TestDuplicatesAreSeen(t *testing.T) {
	for _, c := range []struct {
		name   string
		a, b   span
		forgot bool // the database had forgotten about the first process
		seen   bool
	}{
		{"apart", span{10, 19}, span{20, 29}, false, false},
		{"one", span{10, 20}, span{20, 29}, false, true},
		{"within", span{10, 29}, span{20, 20}, false, true},
		{"forgotten", span{10, 20}, span{20, 29}, true, false},
	} {
		w := &world{tally: newTally(), forks: make(map[[2]*process]string)}
		for i, s := range []span{c.b, c.a, {40, 49}} {
			p := &process{w: w, id: i, conn: new(conn), minted: []span{s}}
			w.procs = append(w.procs, p)
		}
		if c.forgot {
			w.forks[[2]*process{w.procs[1], w.procs[0]}] = twoLive
		}
		w.verify()
		if seen := strings.HasPrefix(w.broken, "duplicate: 0+20 "); seen != c.seen || !seen && w.broken != "" {
			t.Errorf("%s: %q", c.name, w.broken)
		}
	}
}

// A node that reads the clock of the machine does not read it for every ID: the
// cycle counter tells it when to. Here the counter is made to follow virtual
// time, and every node to go by it.
func TestCycleCounter(t *testing.T) {
	servertest.NotShort(t)
	counter := []edit{
		{"../node.go", "n.clock, n.fresh = SystemClock(), freshCycles()\n\t}", "n.clock = SystemClock()\n\t}\n\tn.fresh = freshCycles()"},
		{"../cycles_" + runtime.GOARCH + ".go", "", `package gameid

import "time"

func cycles() uint64 { return uint64(time.Now().UnixNano()) }

func freshCycles() uint64 { return 100_000 }
`},
		{"../cycles_" + runtime.GOARCH + ".s", "", ""},
	}
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("there is no cycle counter on this processor")
	}
	flags := []string{"-sim.coarse", "-sim.first", strconv.FormatUint(*flagFirst, 10), "-sim.seeds", strconv.Itoa(*flagSeeds)}
	out, err := simulateWith(t, flags, counter...)
	if err != nil {
		t.Fatal(out)
	}
	_, summary, _ := strings.Cut(out, "sim_test.go:")
	summary, _, _ = strings.Cut(summary, "---")
	t.Log("with the cycle counter, at line " + summary)
}

// simulateWith runs the simulation in a process of its own, with some source
// files changed.
func simulateWith(t *testing.T, flags []string, edits ...edit) (string, error) {
	args := []string{"test", "-overlay", overlay(t, edits), "-vet=off", "-ldflags=-s -w", "-count=1", "-v", "-run", "^TestSimulation$", "."}
	out, err := exec.Command("go", append(args, flags...)...).CombinedOutput()
	if err != nil && strings.Contains(string(out), "[build failed]") {
		t.Fatalf("%s", out)
	}
	return string(out), err
}

// overlay writes the changed files, and a list of them for the go command.
func overlay(t *testing.T, edits []edit) (file string) {
	dir := t.TempDir()
	changed := struct{ Replace map[string]string }{make(map[string]string)}
	for i, e := range edits {
		file, err := filepath.Abs(e.file)
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(cmp.Or(changed.Replace[file], file))
		if err != nil {
			t.Fatal(err)
		}
		text := e.new
		if e.old != "" {
			if n := strings.Count(string(source), e.old); n != 1 {
				t.Fatalf("%s has %q %d times, want once: bring the test up to date", e.file, e.old, n)
			}
			text = strings.Replace(string(source), e.old, e.new, 1)
		}
		changed.Replace[file] = ""
		if text != "" {
			changed.Replace[file] = filepath.Join(dir, strconv.Itoa(i)+".go")
			if err := os.WriteFile(changed.Replace[file], []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	j, err := json.Marshal(changed)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, j, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}
