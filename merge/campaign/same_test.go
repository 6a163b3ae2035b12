package campaign

import (
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"

	"mergesafe/merge"
)

// A world under two names is found, though its DSNs have two addresses.
func TestOneDatabaseAtTwoAddresses(t *testing.T) {
	t.Parallel()
	world := func(name string) merge.Database {
		return merge.Database{Name: name, DSN: "mysql:" + servertest.DSN(t)}
	}
	p := &place{TB: t, server: func(string) string { return "sqlite:never.db" }}
	w1, w2, w3 := world("w1"), world("w2"), world("w3")
	alias := merge.Database{Name: "w4", DSN: strings.Replace(w2.DSN, "tcp(127.0.0.1:", "tcp(localhost:", 1)}
	if alias.DSN == w2.DSN {
		t.Skip("the server of the tests is not at 127.0.0.1")
	}
	for last, want := range map[merge.Database]string{
		alias: `world w4 (merge w3): it is the same database as the world "w2": a world can be in a campaign only once`,
		{Name: "w4", DSN: strings.Replace(world("w4").DSN, "tcp(127.0.0.1:", "tcp(localhost:", 1)}: "",
	} {
		n := newPreflight(&Campaign{}, []*job{p.jobOf(w1, w2), p.jobOf(w3, last)}, time.Now)
		if err := n.lookDistinct(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range n.problems {
			got = append(got, p.String())
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got %q, want %q", last.DSN, got, want)
		}
	}
}
