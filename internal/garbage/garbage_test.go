package garbage

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// What is measured is a process of its own: the setting is one of the process.
func TestMain(m *testing.M) {
	switch os.Getenv("GARBAGE_TEST") {
	case "":
		os.Exit(m.Run())
	case "allow":
		Allow()
	}
	// Twice is what Go aims at; on a busy machine the collector comes late.
	if os.Getenv("GARBAGE_TEST") == "allow" && churn() > 4*Allowance {
		os.Stdout.WriteString("too much beside nothing")
	}
	kept := make([]byte, 200<<20) // live
	for i := range kept {
		kept[i] = 1
	}
	runtime.GC()
	most := churn()
	runtime.KeepAlive(kept)
	if most > 260<<20 {
		os.Stdout.WriteString("twice what is live")
	}
	os.Exit(0)
}

// churn makes garbage and returns the most that the heap had.
func churn() (most uint64) {
	for range 400 {
		_ = allocate(1 << 20)
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc)
	}
	return most
}

//go:noinline
func allocate(n int) []byte { return make([]byte, n) }

// A program that keeps much does not take twice of it, unless the environment says so.
func TestAllow(t *testing.T) {
	for _, c := range []struct {
		name  string
		env   []string
		twice bool
	}{
		{"as Go does", []string{"GARBAGE_TEST=default"}, true},
		{"allowed", []string{"GARBAGE_TEST=allow"}, false},
		{"the environment counts", []string{"GARBAGE_TEST=allow", "GOGC=100"}, true},
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
			if strings.Contains(string(out), "beside nothing") && len(c.env) == 1 {
				t.Error("nothing is live, and there was more garbage than is allowed")
			}
			if twice := strings.Contains(string(out), "twice"); twice != c.twice {
				t.Errorf("took twice what is live: %v, want %v", twice, c.twice)
			}
		})
	}
}
