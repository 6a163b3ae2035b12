package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"mergesafe/gameid"
	"mergesafe/internal/config"
	"mergesafe/internal/printable"
	"mergesafe/internal/servertest"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/sqlsource"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// runStory runs the program in the working directory.
func runStory(t *testing.T, beats int) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), beats, &out, &errs)
	return code, out.String(), errs.String()
}

// told is tell for a story that must go well.
func told(t *testing.T, beats int) string {
	t.Helper()
	code, stdout, stderr := runStory(t, beats)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr %q\n%s", code, stderr, stdout)
	}
	return stdout
}

// The story in full: what it says is what the files that it leaves say.
func TestStory(t *testing.T) {
	servertest.NotShort(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	story := told(t, 2000)
	t.Log(story)

	for line := range strings.Lines(story) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.Contains(story, "Removed") {
		t.Error("it claims to have removed something")
	}

	// Tens of thousands of rows, counted from the files.
	for _, name := range []string{"s1", "s2", "s3", "merged"} {
		var counts []string
		var sum int64
		db := open(t, name)
		for _, table := range []string{"players", "items", "guilds", "guild_members"} {
			var n int64
			if err := db.Get(t.Context(), &n, "SELECT COUNT(*) FROM "+table); err != nil {
				t.Fatal(err)
			}
			counts = append(counts, printable.Number(n))
			sum += n
		}
		line := regexp.MustCompile(`\n   ` + name + ` +[12] +` + strings.Join(counts, " +") + ` +data/` + name + `\.db\n`)
		if !line.MatchString(story) || sum < 15_000 {
			t.Errorf("%s has %v rows, %d together; the story tells otherwise", name, counts, sum)
		}
	}

	// The ID that is taken apart is in the database.
	parts := regexp.MustCompile(`\n +([0-9a-f]{11}) ([0-9a-f]{5}) ([0-9a-f]{4})\n`).FindStringSubmatch(story)
	if parts == nil {
		t.Fatal("no ID is taken apart")
	}
	id := gameid.MustParse(strings.Join(parts[1:], ""))
	var n int
	if err := open(t, "s1").Get(t.Context(), &n, "SELECT COUNT(*) FROM items WHERE id = ?", id); err != nil || n != 1 {
		t.Errorf("%s: %d rows, %v", id, n, err)
	}
	for _, want := range []string{fmt.Sprintf("sequence: %d,", id.Sequence()), "server: 1,", printable.Number(id.Millis()) + " ms since", id.Time().Format("15:04:05.000")} {
		if !strings.Contains(story, want) {
			t.Errorf("the story does not say %q", want)
		}
	}

	// Sealed, it is nowhere in the database. The numbers are those of players.
	shown := regexp.MustCompile(`as ([0-9a-f]{20})\. .*\n +([0-9 ]+), that of s2 is ([0-9 ]+)\.`).FindStringSubmatch(story)
	if shown == nil {
		t.Fatal("the story does not tell what players see")
	}
	if err := open(t, "s1").Get(t.Context(), &n, "SELECT COUNT(*) FROM items WHERE hex(id) = upper(?)", shown[1]); err != nil || n != 0 {
		t.Errorf("%s is the ID of %d items, %v", shown[1], n, err)
	}
	for i, name := range []string{"s1", "s2"} {
		n, err := number.ParseChecked(shown[2+i])
		if err == nil {
			_, err = starter.Players.ByNumber(t.Context(), open(t, name), n)
		}
		if err != nil {
			t.Error(err)
		}
	}

	// The verdicts, from the files.
	if report := check(t, "s1", "s2"); report.Verdict != verdict.Pass {
		t.Errorf("s1 and s2: %s", report.Verdict)
	}
	collisions := collisions(t)
	report := check(t, "s1", "s3")
	if report.Verdict != verdict.Fail || count(report, verdict.CodeServerConflict) != 1 || count(report, verdict.CodeKeyCollision) != collisions {
		t.Errorf("s1 and s3: %s, %d and %d; %d keys are in both", report.Verdict,
			count(report, verdict.CodeServerConflict), count(report, verdict.CodeKeyCollision), collisions)
	}
	if want := fmt.Sprintf("would have met %s keys twice", printable.Number(collisions)); !strings.Contains(story, want) {
		t.Errorf("the story does not say %q", want)
	}
	for _, want := range []string{"| PASS  merging ", "| FAIL  ", "server-conflict", "key-collision", "Next steps"} {
		if !strings.Contains(story, want) {
			t.Errorf("the story does not say %q", want)
		}
	}

	testMerged(t, story)
	tryCommands(t, root, story)
}

// testMerged holds what the story says of the merge against the files.
func testMerged(t *testing.T, story string) {
	t.Helper()
	find := func(pattern string) []string {
		t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(story)
		if found == nil {
			t.Fatalf("the story does not say %q", pattern)
		}
		return found[1:]
	}
	rows := func(name, more string) (n int64) {
		t.Helper()
		for _, table := range []string{"players", "items", "guilds", "guild_members"} {
			var rows int64
			if err := open(t, name).Get(t.Context(), &rows, "SELECT COUNT(*) FROM "+table+more); err != nil {
				t.Fatal(err)
			}
			n += rows
		}
		return n
	}
	s1, s2 := rows("s1", ""), rows("s2", "")
	if got := find(`plan +([0-9,]+) rows in 4 tables`)[0]; got != printable.Number(s1+s2) {
		t.Errorf("planned are %s rows, of %d and %d", got, s1, s2)
	}
	find(`open +PASS: .*(its server may start)`)
	if got := find(`open +PASS: ([0-9,]+) rows`)[0]; got != printable.Number(s1+s2) {
		t.Errorf("verified are %s rows, of %d and %d", got, s1, s2)
	}
	if merged := rows("merged", ""); merged < s1+s2+15_000 {
		t.Errorf("after some seconds of play the merged world has %d rows, of %d and %d", merged, s1, s2)
	}
	// All of s2 is there, players found by what they had before.
	db := open(t, "merged")
	db.Pool().SetMaxOpenConns(1) // which has the other file attached
	for _, table := range []string{"players", "items", "guilds"} {
		var lost int
		query := "ATTACH 'file:data/s2.db?mode=ro' AS s2"
		if table == "players" {
			if _, err := db.Pool().ExecContext(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Get(t.Context(), &lost, "SELECT COUNT(*) FROM s2."+table+" WHERE id NOT IN (SELECT id FROM main."+table+")"); err != nil || lost != 0 {
			t.Errorf("%d of %s are not in the merged world: %v", lost, table, err)
		}
	}
	said := find(`number +([0-9 ]+) is still (\S+),`)
	n, err := number.ParseChecked(said[0])
	if err != nil {
		t.Fatal(err)
	}
	if player, err := starter.Players.ByNumber(t.Context(), db, n); err != nil || player.Name != said[1] || player.ID.Server() != 2 {
		t.Errorf("%s is %+v, %v; the story says %s", n, player, err, said[1])
	}
	find(`link +[0-9a-f]{20} still leads to an item, which \S+\.s2 owns`)
	for i, got := range find(`own ([0-9,]+) items that server 1 made, and ([0-9,]+) guilds have members\n`) {
		if got == "0" {
			t.Errorf("they do not play together: %d", i)
		}
	}
}

func open(t *testing.T, name string) *store.DB {
	t.Helper()
	db, err := store.OpenReadOnly(t.Context(), "sqlite:data/"+name+".db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func check(t *testing.T, names ...string) *verdict.Report {
	t.Helper()
	var sources []catalog.Source
	for _, name := range names {
		source, err := sqlsource.Open(t.Context(), name, "sqlite:data/"+name+".db")
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		sources = append(sources, source)
	}
	report, err := merge.Check(t.Context(), sources, declare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// collisions counts the keys that are in s1 and in s3, the obvious way.
func collisions(t *testing.T) (n int64) {
	t.Helper()
	for table, key := range map[string]string{"players": "id", "items": "id", "guilds": "id", "guild_members": "player_id"} {
		seen := make(map[gameid.ID]bool)
		for _, name := range []string{"s1", "s3"} {
			var ids []gameid.ID
			if err := open(t, name).Select(t.Context(), &ids, "SELECT "+key+" FROM "+table); err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if seen[id] {
					n++
				}
				seen[id] = true
			}
		}
	}
	return n
}

// tryCommands runs what the story proposes to run, beside a copy of the
// repository's config.toml.
func tryCommands(t *testing.T, root, story string) {
	t.Helper()
	sample, err := os.ReadFile(filepath.Join(root, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("config.toml", sample, 0o600); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./tools/mergecheck", "./tools/servermerge", "./tools/gameid")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	proposed := regexp.MustCompile(`(?m)^   go run \./(\S+/(\S+))( .*?)? +# (.*)$`).FindAllStringSubmatch(story, -1)
	if len(proposed) != 10 {
		t.Fatalf("the story proposes %q, want 10 commands", proposed)
	}
	for _, p := range proposed {
		path, name, args, says := p[1], p[2], strings.Fields(p[3]), p[4]
		if name == "gameserver" {
			// It would not end by itself: see that it plays on in s1.
			c, err := config.Load("config.toml")
			if err != nil {
				t.Fatal(err)
			}
			dsn, err := c.Database.DSN(os.LookupEnv)
			if _, missing := os.Stat(filepath.Join(root, path)); missing != nil || err != nil || dsn.Reveal() != "sqlite:data/s1.db" || c.Server.Number != 1 {
				t.Errorf("%s: %v, %v, server %d on %s", path, missing, err, c.Server.Number, dsn.Reveal())
			}
			continue
		}
		cmd := exec.Command(filepath.Join(bin, name), args...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		code := cmd.ProcessState.ExitCode()
		want := 0
		fmt.Sscanf(says[strings.Index(says, "exit code")+1:], "xit code %d", &want)
		if code != want {
			t.Errorf("%s %v: exit code %d, want %d\n%s", path, args, code, want, out)
		}
	}
}

// Told again, it replaces what it left and says so. The dice are the same, the
// IDs are not.
func TestStoryAgain(t *testing.T) {
	servertest.NotShort(t)
	t.Chdir(t.TempDir())
	const beats = 300
	first := told(t, beats)
	plan(t, "s1", "s2")
	second := told(t, beats)
	if want := "Removed what an earlier run left: data/s1.db, data/s2.db, data/s3.db, data/merged.db, data/plan.json."; strings.Contains(first, want) || !strings.Contains(second, want) {
		t.Errorf("not only the second run says %q", want)
	}
	inventory := regexp.MustCompile(`(?m)^   (s[123]|merged) +[12] .*$`)
	a, b := inventory.FindAllString(first, -1), inventory.FindAllString(second, -1)
	if len(a) != 5 || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("rows of the first run and of the second:\n%q\n%q", a, b)
	}
	entries, err := os.ReadDir(dataDir)
	if err != nil || len(entries) != 4 {
		t.Errorf("left in data: %v, %v", entries, err)
	}
	plan(t, "s2", "s1")
	if third := told(t, 20); strings.Contains(third, "plan.json.)") {
		t.Error("it removed the plan of another merge")
	}
}

// plan leaves the plan of a merge where the story proposes to.
func plan(t *testing.T, worlds ...string) {
	t.Helper()
	database := func(name string) transfer.Database {
		return transfer.Database{Name: name, DSN: "sqlite:data/" + name + ".db"}
	}
	p, err := transfer.NewPlan(t.Context(), database("new"), slice.Map(worlds, database), transfer.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(planFile, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What is not its own, or in use, it leaves alone, all of it.
func TestRefuses(t *testing.T) {
	servertest.NotShort(t)
	t.Chdir(t.TempDir())
	told(t, 20)
	foreign, err := store.Open(t.Context(), "sqlite:data/foreign.db")
	if err != nil {
		t.Fatal(err)
	}
	if err := storetest.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	foreign.Close()

	for _, tt := range []struct {
		name, want string
		prepare    func(t *testing.T)
	}{
		{"a game's own database", "data/s3.db was not made by this program", func(t *testing.T) { replace(t, "data/foreign.db", "data/s3.db") }},
		{"no database", "data/s3.db was not made by this program", func(t *testing.T) {
			if err := os.WriteFile("data/s3.db", []byte("notes"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"a directory", "data/s3.db was not made by this program", func(t *testing.T) {
			os.Remove("data/s3.db")
			if err := os.Mkdir("data/s3.db", 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"in use", "data/s3.db is in use", func(t *testing.T) {
			db, err := store.Open(t.Context(), "sqlite:data/s3.db")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			saved := filepath.Join(t.TempDir(), "s3.db")
			replace(t, "data/s3.db", saved)
			replace(t, saved, "data/s3.db")
			tt.prepare(t)
			before := contents(t)
			code, stdout, stderr := runStory(t, 20)
			if code != 1 || stdout != "" || !strings.HasPrefix(stderr, "twoservers: "+tt.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d, stdout %q, stderr %q; want 1 and one line: %s", code, stdout, stderr, tt.want)
			}
			if contents(t) != before {
				t.Error("files have changed")
			}
			os.RemoveAll("data/s3.db")
			replace(t, saved, "data/s3.db")
		})
	}
	told(t, 20)
}

// replace copies a file over another.
func replace(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// contents returns what is in the four files.
func contents(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"s1", "s2", "s3", "merged"} {
		b, err := os.ReadFile("data/" + name + ".db")
		fmt.Fprintf(&all, "%s %v %x\n", name, err, b)
	}
	return all.String()
}

// A story that cannot be told to its end is no success.
func TestInterrupted(t *testing.T) {
	servertest.NotShort(t)
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	out := writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("ONE ID")) {
			cancel()
		}
		return len(p), nil
	})
	var errs bytes.Buffer
	if code := run(ctx, 50, out, &errs); code != 1 || errs.String() != "twoservers: interrupted\n" {
		t.Errorf("interrupted: exit code %d, stderr %q", code, &errs)
	}
	full := writerFunc(func([]byte) (int, error) { return 0, fmt.Errorf("no space left") })
	errs.Reset()
	if code := run(t.Context(), 20, full, &errs); code != 1 || errs.String() != "twoservers: no space left\n" {
		t.Errorf("nowhere to write: exit code %d, stderr %q", code, &errs)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 59541163151: "59,541,163,151"} {
		if got := printable.Number(n); got != want {
			t.Errorf("printable.Number(%d) = %q, want %q", n, got, want)
		}
	}
}
