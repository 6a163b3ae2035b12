package garbage

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
)

// What is measured is a process of its own: the setting is one of the process.
func TestMain(m *testing.M) {
	switch os.Getenv("GARBAGE_TEST") {
	case "":
		os.Exit(m.Run())
	case "allow":
		Allow(Allowance)
	}
	fmt.Print(paced(2 * Allowance))
	kept := make([]byte, 200<<20)
	fmt.Print(paced(260 << 20))
	runtime.KeepAlive(kept)
	fmt.Print(paced(2 * Allowance))
	os.Exit(0)
}

// paced collects until the size at which the collector means to run next is below the limit.
// After each collection the new pace is set by a goroutine, which comes when it comes.
func paced(limit uint64) string {
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	rounds := 1000
	if os.Getenv("GARBAGE_TEST") != "allow" || os.Getenv("GOGC") != "" { // nothing is to come
		rounds = 20
	}
	for range rounds {
		runtime.GC()
		runtime.Gosched()
		if metrics.Read(goal); goal[0].Value.Uint64() < limit {
			return "below "
		}
	}
	return "above "
}

// The next collection is soon when little is live, when much is, and when little is again, unless
// the environment says otherwise.
func TestAllow(t *testing.T) {
	for _, c := range []struct {
		name, want string
		env        []string
	}{
		{"as Go does", "below above below ", []string{"GARBAGE_TEST=default"}},
		{"allowed", "below below below ", []string{"GARBAGE_TEST=allow"}},
		{"the environment counts", "above above above ", []string{"GARBAGE_TEST=allow", "GOGC=1000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			for _, v := range os.Environ() {
				if !strings.HasPrefix(v, "GOGC=") {
					cmd.Env = append(cmd.Env, v)
				}
			}
			cmd.Env = append(cmd.Env, c.env...)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := string(out); got != c.want {
				t.Errorf("with nothing, 200 MiB, nothing live the next collection comes %s, want %s", got, c.want)
			}
		})
	}
}
