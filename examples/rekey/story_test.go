package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"mergesafe/merge/declare"
)

func by(l declare.Leave) []string {
	if l.Best == nil {
		return nil
	}
	return []string{fmt.Sprintf("best  = { of = %q, keep = %d, by = [%q, %q] }", l.Best.Of, l.Best.Keep, l.Best.By[0], l.Best.By[1])}
}

// The story goes as told, twice in the same place, and what it shows is what is in the
// databases.
func TestStory(t *testing.T) {
	file, err := os.ReadFile("leave.toml") // which the story follows
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leaving().Leave {
		for _, want := range append([]string{fmt.Sprintf("where = %q", l.Where)}, by(l)...) {
			if !strings.Contains(string(file), want) {
				t.Errorf("leave.toml has no %s", want)
			}
		}
	}
	t.Chdir(t.TempDir())
	for range 2 {
		var out, errs bytes.Buffer
		if code := run(t.Context(), &out, &errs); code != 0 {
			t.Fatalf("exit code %d: %s\n%s", code, errs.String(), out.String())
		}
		for _, want := range []string{
			`FAIL +heroes id: `, `perhaps a counter: seq.next`, `columns are open`, `says PASS`,
			`PASS  references name the same row as before, or none as before: \d+ references`,
			`heroes of east: \d+ rows stay behind, and \d+ rows come`, `\| (east|west),,heroes,,\d+,`, `PASS: exactly these rows stayed`,
			`data/rekey/rehearsal\.db is made, of \d+ rows`, `undo drops it again`, `data/rekey/merged\.db is open`,
			`heroes 7 of west became \d+  \(merge `, `hero \d+ is born, finds item \d+`,
		} {
			if !regexp.MustCompile(want).Match(out.Bytes()) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
	}
	if _, err := os.Stat("data/rekey/rehearsal.db"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the rehearsal is still there: %v", err)
	}
	db, err := sql.Open("sqlite", "data/rekey/merged.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// A hero's things are his still: each hero of west has as many items as there.
	for _, world := range []string{"east", "west"} {
		if _, err := db.Exec("ATTACH 'data/rekey/" + world + ".db' AS " + world); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{
		`SELECT COUNT(*) FROM (SELECT * FROM east.heroes EXCEPT SELECT * FROM main.heroes)`,
		`SELECT COUNT(*) FROM west.heroes AS w JOIN main.heroes AS m USING (name) WHERE
			(SELECT COUNT(*) FROM west.items WHERE owner = w.id) <> (SELECT COUNT(*) FROM main.items WHERE owner = m.id)`,
		`SELECT COUNT(*) FROM west.mail AS w JOIN west.heroes AS wh ON w.receiver = wh.id WHERE NOT EXISTS (
			SELECT 1 FROM main.mail AS m JOIN main.heroes AS mh ON m.receiver = mh.id WHERE mh.name = wh.name AND m.kind = w.kind)`,
	} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d, %v", query, n, err)
		}
	}
}
