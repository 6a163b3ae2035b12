//go:build linux

package numbers_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/storetest"
)

// What the process of TestNumbersKilled is told.
const (
	numbersDSN  = "MERGESAFE_NUMBERS_DSN"
	numbersLog  = "MERGESAFE_NUMBERS_LOG"
	numbersOf   = "MERGESAFE_NUMBERS_OF"   // a name in taken
	numbersEach = "MERGESAFE_NUMBERS_EACH" // how many are in the log at a time
)

var (
	kills  = flag.Int("numbers.kills", servertest.Scale(3, 400), "processes that TestNumbersKilled kills")
	before = flag.Int("numbers.each", servertest.Scale(1, 2_600_000), "numbers that each of them takes before it is killed, or more")

	killedBlock = numbers.Options{MinBlock: 10, MaxBlock: 50, Timeout: time.Minute}
)

// taken are the things that processes take, and the runs of them that server 7 has.
var taken = map[string]struct {
	open  func(*testing.T, *store.DB, numbers.Options) func(context.Context) (int64, error)
	spans [][2]int64
}{
	"numbers": {takeShort, numbers.Spans(7, 15)},
	"wide":    {takeKeys(gameid.Wide), [][2]int64{{gameid.Wide.Join(7, 1), gameid.Wide.Join(8, 0)}}},
	"narrow":  {takeKeys(gameid.Narrow), [][2]int64{{gameid.Narrow.Join(7, 1), gameid.Narrow.Join(8, 0)}}},
}

func takeShort(t *testing.T, db *store.DB, o numbers.Options) func(context.Context) (int64, error) {
	n := share(t, db).open(t, o)
	return func(ctx context.Context) (int64, error) { got, err := n.Next(ctx); return int64(got), err }
}

func takeKeys(f gameid.KeyForm) func(*testing.T, *store.DB, numbers.Options) func(context.Context) (int64, error) {
	return func(t *testing.T, db *store.DB, o numbers.Options) func(context.Context) (int64, error) {
		n := openKeys(t, db, 7, numbers.KeyOptions{Form: f, MinBlock: o.MinBlock, MaxBlock: o.MaxBlock, Timeout: o.Timeout})
		return func(ctx context.Context) (int64, error) { got, err := n.Next(ctx); return int64(got), err }
	}
}

// TestNumbersProcess is a process that takes numbers until it is killed. Each is in its log
// before it takes the next, as the ends of a run, or so many runs at a time.
func TestNumbersProcess(t *testing.T) {
	dsn := os.Getenv(numbersDSN)
	if dsn == "" {
		t.Skip("it is started by TestNumbersKilled")
	}
	log, err := os.OpenFile(os.Getenv(numbersLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(t, err)
	each, err := strconv.Atoi(os.Getenv(numbersEach))
	must(t, err)
	o := killedBlock
	o.MinBlock, o.MaxBlock = o.MinBlock*each, o.MaxBlock*each
	next := taken[os.Getenv(numbersOf)].open(t, open(t, dsn), o)
	var runs []byte
	for {
		runs = runs[:0]
		first, last := int64(0), int64(0)
		for range each {
			got, err := next(t.Context())
			must(t, err)
			if got != last+1 || first == 0 {
				if first != 0 {
					runs = fmt.Appendln(runs, first, last)
				}
				first = got
			}
			last = got
		}
		must(t, storetest.Second(log.Write(fmt.Appendln(runs, first, last))))
	}
}

// Processes are killed at any moment, two at a time. No number and no key comes twice, and no
// more are lost than the rest of a block and the next.
func TestNumbersKilled(t *testing.T) {
	for of, kind := range taken {
		t.Run(of, func(t *testing.T) {
			if of == "narrow" && *kills < 10 {
				t.Skip("it differs from wide by its range")
			}
			on := storetest.OnOneOrEach
			if of == "numbers" {
				on = onEach
			}
			on(t, func(t *testing.T, newDSN func() string) {
				dsn := newDSN()
				db := withTables(t, dsn)
				ran(t, db, 7)
				numbersKilled(t, db, dsn, of, kind.spans)
			})
		})
	}
}

func numbersKilled(t *testing.T, db *store.DB, dsn, of string, spans [][2]int64) {
	each := min(max(1, *before/10), 100_000)
	logs := filepath.Join(t.TempDir(), "numbers-")
	began := make([]*osexec.Cmd, *kills)
	end := func(cmd *osexec.Cmd, log string) {
		// Whatever it does then, it does at least something.
		for i := 0; i < 2 || len(runsOf(t, log)) == 0 || countOf(runsOf(t, log)) < int64(*before); i++ {
			awaitLine(t, log)
			time.Sleep(rand.N(15 * time.Millisecond)) // not for anything: any moment will do
		}
		must(t, cmd.Process.Kill())
		cmd.Wait() // that it was killed is no news
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
			t.Errorf("a process ended by itself: %s", cmd.ProcessState)
		}
	}
	for i := range began {
		cmd := osexec.Command(os.Args[0], "-test.run=^TestNumbersProcess$")
		cmd.Env = append(os.Environ(), numbersDSN+"="+dsn, numbersLog+"="+logs+strconv.Itoa(i), numbersOf+"="+of, numbersEach+"="+strconv.Itoa(each))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		cmd.Stdout = os.Stderr
		must(t, cmd.Start())
		began[i] = cmd
		if i > 0 {
			end(began[i-1], logs+strconv.Itoa(i-1))
		}
	}
	end(began[*kills-1], logs+strconv.Itoa(*kills-1))

	var runs [][2]int64
	for i := range began {
		runs = append(runs, runsOf(t, logs+strconv.Itoa(i))...)
	}
	slices.SortFunc(runs, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for i, r := range runs {
		if i > 0 && r[0] <= runs[i-1][1] {
			t.Errorf("%d came twice", r[0])
		}
		if !slices.ContainsFunc(spans, func(s [2]int64) bool { return s[0] <= r[0] && r[1] < s[1] }) {
			t.Errorf("%d to %d are not of server 7", r[0], r[1])
		}
	}
	var next int64
	must(t, db.Get(t.Context(), &next, "SELECT next_number FROM gameid_numbers"))
	all := int64(0)
	for _, s := range spans {
		all += max(0, min(next, s[1])-s[0])
	}
	// So many more of each may have been handed out and not logged.
	if lost := all - countOf(runs); lost < 0 || lost > int64(*kills*each*(2*killedBlock.MaxBlock+1)) {
		t.Errorf("of %d numbers that were taken %d were handed out", all, countOf(runs))
	}
	t.Logf("%d processes killed, %d numbers, %d lost", *kills, countOf(runs), all-countOf(runs))
}

// runsOf reads the complete lines of a log.
func runsOf(t *testing.T, log string) (runs [][2]int64) {
	text, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r [2]int64
		if !strings.HasSuffix(line, "\n") {
			break
		}
		must(t, storetest.Second(fmt.Sscan(line, &r[0], &r[1])))
		runs = append(runs, r)
	}
	return runs
}

func countOf(runs [][2]int64) (n int64) {
	for _, r := range runs {
		n += r[1] - r[0] + 1
	}
	return n
}

// A server that takes connections and says nothing.
func TestNumbersFrozen(t *testing.T) {
	server := servertest.Private(t)
	dsn, err := server.Database(t.Context())
	must(t, err)
	db := withTables(t, "mysql:"+dsn)
	ran(t, db, 7)
	n := share(t, db).open(t, blocksOf20)
	numbersOutage(t, n, context.DeadlineExceeded,
		func() { must(t, server.Freeze()) },
		func() { must(t, server.Thaw()) })
	must(t, n.Close())
}

// awaitLine waits for the first line of a file.
func awaitLine(t testing.TB, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		_, err = bufio.NewReader(f).ReadString('\n')
		f.Close()
		if err == nil {
			return
		}
	}
	t.Fatalf("no process has written to %q", path)
}
