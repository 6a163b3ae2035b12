package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/agenda"
	"mergesafe/merge/copies"
	"mergesafe/merge/progress"
	"mergesafe/merge/transfer"
)

// A rehearsal writes nothing to the worlds, which may run, measures the merges that can be
// carried out, tells why others cannot, and leaves no copy behind.
func TestRehearse(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 30, 20, 10, 5)
	b := rehearsedWell(t, p, Rehearsal{})
	must(t, os.WriteFile(p.dir+"/w4.db", []byte("no database at all, but a text of some length"), 0o644))
	result, err := Rehearse(t.Context(), b, p.options(), Rehearsal{})
	must(t, err)
	phases := make(map[string]progress.Phase)
	for _, m := range result.Merges {
		phases[m.Target] = m.Phase
	}
	if phases["w1"] != progress.Verified || phases["w3"] != progress.Refused { // a damaged world costs the others nothing
		t.Errorf("%+v", result.Merges)
	}
	if _, err := os.Stat(p.dir + "/night.toml.rehearsal"); err == nil {
		t.Error("the copies are still there")
	}
}

// The copies of worlds on a server are databases of their own there. They are counted, so that no
// other test runs beside this one.
func TestRehearseOnServer(t *testing.T) {
	p := newServerPlace(t, 30, 20, 10, 5)
	dsn := p.server("w1")
	at := strings.LastIndex(dsn, "/")
	_, params, _ := strings.Cut(dsn[at+1:], "?")
	server := dsn[:at+1] + "?" + params
	copies := func() (n int) {
		db, err := sqldb.Dial(t.Context(), dsn, true)
		must(t, err)
		defer db.Close()
		must(t, db.Get(t.Context(), &n, "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'rehearsal\\_%'"))
		return n
	}
	b := rehearsedWell(t, p, Rehearsal{Server: server})
	if n := copies(); n != 0 {
		t.Errorf("%d copies are left", n)
	}
	none, err := Rehearse(t.Context(), b, p.options(), Rehearsal{})
	must(t, err)
	for _, m := range none.Merges {
		if m.Phase != progress.Refused || !strings.Contains(m.Problem, "name one for its copy") {
			t.Errorf("without a server: %+v", m)
		}
	}
	if len(none.Merges) != 2 {
		t.Errorf("%d merges", len(none.Merges))
	}
	// As after a kill: the next rehearsal removes what it finds.
	folder := filepath.Join(p.dir, "kept")
	kept, err := Rehearse(t.Context(), b, p.options(), Rehearsal{Folder: folder, Server: server, Keep: true})
	must(t, err)
	if n := copies(); n != 4 || kept.Kept != folder {
		t.Errorf("%d copies were kept in %q", n, kept.Kept)
	}
	_, err = Rehearse(t.Context(), b, p.options(), Rehearsal{Folder: folder, Server: server})
	must(t, err)
	if n := copies(); n != 0 {
		t.Errorf("%d copies are left", n)
	}
}

// rehearsedWell rehearses a merge that works, and one that does not because its players have
// the same names.
func rehearsedWell(t *testing.T, p *place, how Rehearsal) *Book {
	t.Helper()
	p.exec("w4", "UPDATE players SET name = 'n3-0' WHERE name = 'n4-0'")
	b := p.book("parallel = 2\ncontinue = true", "w1 w2", "w3 w4")
	failure, stop := p.starts("w2", 2)
	must(t, failure)
	defer stop()
	worlds := []string{"w1", "w2", "w3", "w4"}
	var before []string
	for _, w := range worlds {
		before = append(before, p.content(w))
	}
	result, err := Rehearse(t.Context(), b, p.options(), how)
	must(t, err)
	var got []string
	for _, m := range result.Merges {
		got = append(got, fmt.Sprintf("%s %s", m.Target, m.Phase))
	}
	if diff := cmp.Diff([]string{"w1 verified", "w3 refused"}, got); diff != "" {
		t.Errorf("%s: %+v", diff, result.Merges)
	}
	for i, w := range worlds {
		if diff := cmp.Diff(before[i], p.content(w)); diff != "" {
			t.Errorf("the rehearsal wrote to %s: %s", w, diff)
		}
	}
	s, err := b.Status(t.Context())
	must(t, err)
	for _, m := range s.Merges {
		if m.Phase != progress.Waiting || m.Plan != "" {
			t.Errorf("the rehearsal changed %+v", m)
		}
		if m.Target == "w1" && (m.Predicted[0] <= 0 || m.Predicted[0] != m.Predicted[1]) {
			t.Errorf("predicted %v", m.Predicted)
		}
	}
	events, err := b.Events(t.Context(), 0, 100)
	must(t, err)
	var told []string
	for _, e := range events {
		if e.Kind == agenda.KindRehearsed {
			told = append(told, e.Target+" "+e.Text)
		}
	}
	if len(told) != 2 || !strings.HasPrefix(told[0], "w1 on copies it is verified, in ") || !strings.HasPrefix(told[1], "w3 on copies it is refused: ") {
		t.Errorf("told %q", told)
	}
	return b
}

// content is every row of a world but the lease of a game that runs.
func (p *place) content(world string) string {
	p.Helper()
	text := p.dump(world)
	return text[:strings.LastIndex(strings.TrimSpace(text), "\n\n")]
}

// An interrupted rehearsal removes its copies, and a folder that is not of a rehearsal stays.
func TestRehearseInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 30, 20)
	b := p.book("", "w1 w2")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := p.options()
	o.Work.Pause = func(context.Context) error { cancel(); return ctx.Err() }
	if _, err := Rehearse(ctx, b, o, Rehearsal{}); !errors.Is(err, transfer.ErrStopped) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(p.dir + "/night.toml.rehearsal"); err == nil {
		t.Error("the copies are still there")
	}
	foreign := filepath.Join(p.dir, "foreign")
	must(t, os.Mkdir(foreign, 0o755))
	must(t, os.WriteFile(filepath.Join(foreign, "w1.db"), []byte("precious"), 0o644))
	if _, err := Rehearse(t.Context(), b, p.options(), Rehearsal{Folder: foreign}); err == nil || !strings.Contains(err.Error(), "no rehearsal made it") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(foreign, "w1.db")); err != nil {
		t.Error(err)
	}
}

// A database that is only listed as about to be made is somebody's, if it has tables.
func TestRehearseSparesOthers(t *testing.T) {
	t.Parallel()
	dsn := "mysql:" + servertest.DSN(t)
	at, _ := sqldb.ParseServer(dsn)
	server := dsn[:strings.LastIndex(dsn, "/")+1]
	db, err := sqldb.Dial(t.Context(), dsn, false)
	must(t, err)
	defer db.Close()
	for _, statement := range []string{"DROP DATABASE IF EXISTS rehearsal_9_theirs", "CREATE DATABASE rehearsal_9_theirs", "CREATE TABLE rehearsal_9_theirs.t (id INT)"} {
		_, err := db.Exec(t.Context(), statement)
		must(t, err)
	}
	t.Cleanup(func() { _, _ = db.Exec(context.Background(), "DROP DATABASE rehearsal_9_theirs") })
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "rehearsal"), []byte("making "+at.Address+" rehearsal_9_theirs\nmade "+at.Address+" game\n"), 0o600))
	_, err = copies.Open(t.Context(), folder, server)
	if err == nil || !strings.Contains(err.Error(), "not certain that a rehearsal made it") || !strings.Contains(err.Error(), "its name is none of a rehearsal") {
		t.Errorf("got %v", err)
	}
	var n int
	must(t, db.Get(t.Context(), &n, "SELECT COUNT(*) FROM rehearsal_9_theirs.t"))
}
