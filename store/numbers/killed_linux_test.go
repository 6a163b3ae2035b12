//go:build linux

package numbers_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/numbers"
)

// What the process of TestNumbersKilled is told.
const (
	numbersDSN = "MERGESAFE_NUMBERS_DSN"
	numbersLog = "MERGESAFE_NUMBERS_LOG"
)

var killedBlock = numbers.Options{MinBlock: 10, MaxBlock: 50, Timeout: time.Minute}

// TestNumbersProcess is a process that takes numbers until it is killed. Each
// is in its log before it takes the next.
func TestNumbersProcess(t *testing.T) {
	dsn := os.Getenv(numbersDSN)
	if dsn == "" {
		t.Skip("it is started by TestNumbersKilled")
	}
	log, err := os.OpenFile(os.Getenv(numbersLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(t, err)
	n := share(t, open(t, dsn)).open(t, killedBlock)
	for {
		got, err := n.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintln(log, got); err != nil {
			t.Fatal(err)
		}
	}
}

// Processes are killed at any moment, two at a time. No number comes twice,
// and no more are lost than the rest of a block and the next.
func TestNumbersKilled(t *testing.T) {
	onBothWithShare(t, func(t *testing.T, db *store.DB, dsn string) {
		const kills = 8
		logs := filepath.Join(t.TempDir(), "numbers-")
		began := make([]*osexec.Cmd, kills)
		end := func(cmd *osexec.Cmd, log string) {
			// Whatever it does then, it does at least something.
			awaitLine(t, log)
			time.Sleep(rand.N(30 * time.Millisecond)) // not for anything: any moment will do
			must(t, cmd.Process.Kill())
			cmd.Wait() // that it was killed is no news
		}
		for i := range kills {
			cmd := osexec.Command(os.Args[0], "-test.run=^TestNumbersProcess$")
			cmd.Env = append(os.Environ(), numbersDSN+"="+dsn, numbersLog+"="+logs+strconv.Itoa(i))
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			must(t, cmd.Start())
			began[i] = cmd
			if i > 0 {
				end(began[i-1], logs+strconv.Itoa(i-1))
			}
		}
		end(began[kills-1], logs+strconv.Itoa(kills-1))

		seen := make(map[number.Number]bool)
		for i := range kills {
			text, err := os.ReadFile(logs + strconv.Itoa(i))
			must(t, err)
			for line := range strings.Lines(string(text)) {
				n, err := number.Parse(strings.TrimSpace(line))
				must(t, err)
				if seen[n] {
					t.Errorf("%d came twice", n)
				}
				seen[n] = true
			}
		}
		spans := numbers.Spans(7, 15)
		var next int64
		must(t, db.Get(t.Context(), &next, "SELECT next_number FROM gameid_numbers"))
		taken := int64(0)
		for _, s := range spans {
			taken += max(0, min(next, s[1])-s[0])
		}
		// One more number of each may have been handed out and not logged.
		if lost := taken - int64(len(seen)); lost < 0 || lost > int64(kills*2*killedBlock.MaxBlock) {
			t.Errorf("of %d numbers that were taken %d were handed out", taken, len(seen))
		}
		t.Logf("%d processes killed, %d numbers, %d lost", kills, len(seen), taken-int64(len(seen)))
	})
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
