package metrics_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
	"mergesafe/gameid/metrics"
)

// A node that lives: what is written is well formed, named as Prometheus wants
// it, and counts.
func TestWriteText(t *testing.T) {
	node, err := gameid.OpenNode(t.Context(), 7, gameidtest.NewMemory(), gameid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	type Item struct{}
	if err := gameid.NewGenerator[Item](node).Fill(make([]gameid.Of[Item], 5)); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := metrics.WriteText(&text, node.Stats()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n" + `gameid_minted_total{kind="Item"} 5` + "\n", "\n" + `gameid_lease_state{state="held"} 1` + "\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("there is no %s in\n%s", want, &text)
		}
	}
	problems, err := promlint.New(&text).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestHealth(t *testing.T) {
	away := errors.New("away")
	for _, c := range []struct {
		stats gameid.Stats
		want  string
	}{
		{gameid.Stats{Server: 7, Lease: gameid.LeaseHeld, Left: 1, LastFailure: away}, ""},
		{gameid.Stats{Server: 7, Lease: gameid.LeaseHeld}, ""}, // a renewal runs
		{gameid.Stats{Server: 7, Lease: gameid.LeaseHeld, LastFailure: away}, "server 7 has no reserved time left to make IDs: away"},
		{gameid.Stats{Server: 7, Lease: gameid.LeaseExpired, LastFailure: away}, "the lease of server 7 is expired: away"},
		{gameid.Stats{Server: 7, Lease: gameid.LeaseLost}, "the lease of server 7 is lost"},
		{gameid.Stats{Server: 7, Lease: gameid.LeaseClosed}, "the lease of server 7 is closed"},
	} {
		err := metrics.Health(c.stats)
		if got := ""; err != nil {
			if got = err.Error(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("healthy, want %q", c.want)
		}
	}
}

func TestAttr(t *testing.T) {
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("m", metrics.Attr(gameid.Stats{
		Server: 7, Lease: gameid.LeaseHeld, Minted: map[string]uint64{"a": 1, "b": 2}, Ahead: time.Second, LastFailure: errors.New("away"), RefusedClock: gameid.Epoch(),
	}))
	var line struct{ GameID map[string]any }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"server": "7", "lease": "held", "minted": 3.0, "ahead": 1e9, "last_failure": "away", "refused_clock": "2025-01-01T00:00:00Z", "waits": 0.0} {
		if line.GameID[key] != want {
			t.Errorf("%s is %v, want %v", key, line.GameID[key], want)
		}
	}
}

// The package does not burden a game server.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != "mergesafe/gameid mergesafe/gameid/metrics" {
		t.Errorf("imports %s, %v", got, err)
	}
	out, err = exec.Command("go", "list", "-deps", ".").Output()
	if err != nil || strings.Contains(string(out), "\nnet\n") || strings.Contains(string(out), "\nnet/http\n") {
		t.Errorf("imports net: %v", err)
	}
}
