//go:build linux

package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
)

// The check sees what it is there for.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		logs map[string][]int // the IDs by number; a negative one is of server 8
		want Tally
	}{
		{"good", map[string][]int{"7-1-0": {1, 3, 5}, "7-1-1": {2, 4}, "7-2-0": {6, 7}, "8-1-0": {-1, -2}}, Tally{IDs: 9}},
		{"twice in two goroutines", map[string][]int{"7-1-0": {1, 3}, "7-1-1": {2, 3}}, Tally{IDs: 4, Duplicates: 1}},
		{"a goroutine goes back", map[string][]int{"7-1-0": {1, 3, 2}}, Tally{IDs: 3, Disorder: 1}},
		{"a goroutine gets the same again", map[string][]int{"7-1-0": {1, 1}}, Tally{IDs: 2, Disorder: 1, Duplicates: 1}},
		{"a later process is not above all of an earlier one", map[string][]int{"7-1-0": {1}, "7-1-1": {2, 6}, "7-2-0": {5, 7}}, Tally{IDs: 5, Disorder: 1}},
		{"nor of one before that", map[string][]int{"7-1-0": {9}, "7-2-0": {}, "7-3-0": {8}}, Tally{IDs: 2, Disorder: 1}},
		{"a later process repeats", map[string][]int{"7-1-0": {1, 2}, "7-2-0": {2, 3}}, Tally{IDs: 4, Disorder: 1, Duplicates: 1}},
		{"of another server", map[string][]int{"7-1-0": {1, -2}}, Tally{IDs: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, numbers := range tt.logs {
				var b []byte
				for _, n := range numbers {
					raw := numbered(t, n).Bytes()
					b = append(b, raw[:]...)
				}
				write(t, dir, name, b)
			}
			logs, err := readLogs(dir)
			if err != nil {
				t.Fatal(err)
			}
			reports := 0
			got := logs.check(func(string, ...any) { reports++ })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if good := tt.name == "good"; good != (reports == 0) {
				t.Errorf("%d reports", reports)
			}
			if !logs.has(numbered(t, 1)) && len(tt.logs["7-1-0"]) > 1 || logs.has(numbered(t, 1000)) {
				t.Error("has is wrong")
			}
		})
	}
}

func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	raw := numbered(t, 1).Bytes()
	write(t, dir, "7-1-0", append(raw[:], raw[:4]...))
	logs, err := readLogs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := logs.check(t.Errorf); got != (Tally{IDs: 1, Torn: 1}) {
		t.Errorf("got %+v", got)
	}
	write(t, dir, "7-2-0", make([]byte, gameid.Size))
	if _, err := readLogs(dir); err == nil {
		t.Error("a log with a zero ID is read")
	}
}

func numbered(t *testing.T, n int) gameid.ID {
	t.Helper()
	server := gameid.ServerID(7)
	if n < 0 {
		n, server = -n, 8
	}
	id, err := gameid.Make(gameid.Epoch().Add(time.Hour), server, uint16(n))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func write(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	var server, process, goroutine int
	fmt.Sscanf(name, "%d-%d-%d", &server, &process, &goroutine)
	path := filepath.Join(dir, fmt.Sprintf("%07d-%06d-%02d%s", server, process, goroutine, logSuffix))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
