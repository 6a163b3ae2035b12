package fleet_test

import (
	"bufio"
	"os"
	osexec "os/exec"
	"strings"
	"testing"

	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
)

// A frozen process keeps its lease, and one that was killed does not.
func TestFleetProcessKilled(t *testing.T) {
	t.Parallel()
	const env = "MERGESAFE_TEST_FLEET"
	if dsns := os.Getenv(env); dsns != "" { // the child
		shared, game, _ := strings.Cut(dsns, " ")
		join(t, open(t, game), openFleet(t, shared), 7)
		os.Stdout.WriteString("joined\n")
		select {}
	}
	onOne(t, func(t *testing.T, newDSN func() string) {
		dsn, game := newDSN(), newDSN()
		f := newFleet(t, dsn)
		claimed(t, f, 7)
		db := withRegistry(t, game)
		child := osexec.Command(os.Args[0], "-test.run=^TestFleetProcessKilled$")
		child.Env = append(os.Environ(), env+"="+dsn+" "+game)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		must(t, err)
		must(t, child.Start())
		defer child.Wait()
		defer child.Process.Kill()
		for line := bufio.NewScanner(out); ; {
			if !line.Scan() {
				t.Fatal("the child did not join")
			}
			if line.Text() == "joined" {
				break
			}
		}
		must(t, servertest.Freeze(child.Process))
		exec(t, db, "UPDATE gameid_servers SET lease_until_ms = 1") // it is frozen for longer than that
		refused(t, db, f, 7, fleet.ErrRunning, "a live copy")
		must(t, child.Process.Kill())
		child.Wait()
		must(t, join(t, db, f, 7).Close())
	})
}
