package world_test

import (
	"context"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A plan for a disk that is too small is refused, before anything is made there.
func TestRoomForTheNewDatabase(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		worlds, into := []world.Database{worldtest.CountedWorld(t, e, "s1", 3), worldtest.CountedWorld(t, e, "s2", 5)}, e.Fresh(t, "new")
		for name, tt := range map[string]struct {
			free  int64
			known bool
			want  string
		}{
			"too small": {2000, true, `database "new": its disk has 2.0 KiB left, but it takes about `},
			"there is":  {1 << 40, true, ""},
			"unknown":   {0, false, ""},
		} {
			opts := worldtest.CountedRules()
			opts.Free = func(_ context.Context, d world.Database) (int64, bool) {
				if d.Name != "new" {
					t.Errorf("%s: the room of %q is asked for", name, d.Name)
				}
				return tt.free, tt.known
			}
			if got := worldtest.RefusalsOf(t, into, worlds, opts); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%s: got %q, want %q", name, got, tt.want)
			}
		}
	})
}

// What is wrong with the server of the new database is said of that, and not of the world.
func TestServerOfTheNewDatabase(t *testing.T) {
	t.Parallel()
	server := servertest.Private(t)
	e := worldtest.EngineOn(server)
	s1, s2, into := worldtest.CountedWorld(t, e, "s1", 3), worldtest.CountedWorld(t, e, "s2", 5), e.Fresh(t, "new")
	worldtest.Exec(t, s1, "SET GLOBAL innodb_default_row_format = COMPACT")
	opts := worldtest.CountedRules()
	if got, want := worldtest.RefusalsOf(t, into, []world.Database{s1, s2}, opts), `database "new": the server: it has innodb_default_row_format=compact`; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
