// Package oracle merges random games, and compares what comes out with a reference that shares no code with the
// program.
//
// draw_test.go draws a game: tables, rules, and rows of two to five worlds. product_test.go has the program merge them,
// and is the only file that knows it. reference.py computes the merge from the documents; of the plan it knows offsets,
// new names and counters. oracle_test.go compares them, row by row. mutate puts faults into the program, and shows that
// each is found.
package oracle

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
)

var (
	cases = flag.Int("oracle.cases", 0, "how many random games are merged on each engine; 0: those that take seconds")
	seed  = flag.Uint64("oracle.seed", 1, "the number of the first game; each has the next")
	first = flag.Bool("oracle.first", false, "end at the first case that comes out wrong")
	blind = flag.Bool("oracle.blind", false, "skip the program's own proof, and so what opens: the reference alone judges")
)

// Random games are merged into a new database, and come out as the reference says, row by row; the worlds stay as they
// were, and an undo leaves nothing.
func TestOracle(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		n := servertest.Scale(10, 2000)
		if testing.Short() {
			n = 5
		}
		judge(t, n, false, func(t *testing.T) places { return files{t.TempDir()} })
	})
	servertest.OnMySQLIfLong(t, func(t *testing.T) {
		admin := servertest.Admin(t)
		judge(t, servertest.Scale(2, 300), true, func(t *testing.T) places { return &schemas{t: t, admin: admin} })
	})
}

// places are where the databases of one case are. clear removes them.
type places interface {
	database(name string, made bool) (database, error)
	clear()
}

// files are databases of SQLite.
type files struct{ dir string }

func (f files) database(name string, _ bool) (database, error) {
	return database{Name: name, DSN: "sqlite:" + filepath.Join(f.dir, name+".db")}, nil
}

func (f files) clear() { os.RemoveAll(f.dir) }

// schemas are databases of a server.
type schemas struct {
	t     *testing.T
	admin *sql.DB
	made  []string
}

func (s *schemas) database(name string, made bool) (database, error) {
	cfg, err := mysql.ParseDSN(servertest.ServerDSN(s.t))
	if err != nil {
		return database{}, err
	}
	cfg.DBName = "mergesafetest" + strings.ToLower(rand.Text()[:12]) + name
	s.made = append(s.made, cfg.DBName)
	if made {
		_, err = s.admin.Exec("CREATE DATABASE `" + cfg.DBName + "` CHARACTER SET utf8mb4")
	}
	return database{Name: name, DSN: "mysql:" + cfg.FormatDSN()}, err
}

func (s *schemas) clear() {
	for _, name := range s.made {
		if _, err := s.admin.Exec("DROP DATABASE IF EXISTS `" + name + "`"); err != nil {
			s.t.Error(err)
		}
	}
}

// judge merges n games, of the next seeds.
func judge(t *testing.T, n int, mysql bool, place func(t *testing.T) places) {
	if *cases > 0 {
		n = *cases
	}
	ref := startReference(t)
	total := &tally{seen: make(map[string]int)}
	for i := range n {
		s := *seed + uint64(i)
		g := drawGame(s, mysql)
		c := &oracleCase{g: g, ref: ref, tally: total, places: place(t)}
		total.cases++
		for _, f := range sorted(g.Features) {
			total.seen[f]++
		}
		err := c.run(t.Context())
		c.places.clear()
		if errors.Is(err, errRefused) {
			continue
		}
		if err != nil {
			t.Errorf("seed %d (-run '%s$' -oracle.seed %d -oracle.cases 1): %v", s, t.Name(), s, err)
			if n == 1 {
				t.Log(c.reproduction(t))
			}
			if *first {
				t.Fatalf("wrong after %d cases", i+1)
			}
		} else {
			total.right++
		}
	}
	total.report(t, mysql)
}

// tally is what the cases had in them.
type tally struct {
	cases, right, refused, merges, undone, altered, traced int

	seen map[string]int // features that were drawn, and what the reference met
}

func (s *tally) report(t *testing.T, mysql bool) {
	t.Logf("%d cases, %d right, %d refused and rightly so, %d merges, %d undone, %d altered, %d keys traced",
		s.cases, s.right, s.refused, s.merges, s.undone, s.altered, s.traced)
	for _, f := range sorted(s.seen) {
		t.Logf("  %-40s %d", f, s.seen[f])
	}
	if s.cases < 200 {
		return
	}
	for _, f := range features {
		if s.seen[f] == 0 {
			t.Errorf("no case had: %s", f)
		}
	}
	if s.right*10 < s.cases*6 {
		t.Errorf("%d of %d cases were merged: too few", s.right, s.cases)
	}
}

var errRefused = errors.New("the plan is refused")

// oracleCase is one game on its way.
type oracleCase struct {
	g      *Game
	ref    *reference
	tally  *tally
	places places

	merges []*aMerge // in a chain each is a world of a later one
}

// aMerge is one merge of a case.
type aMerge struct {
	into   database
	worlds []database
	plan   *chosen
	before []*Contents
	files  [][]byte // of worlds in SQLite
	opened bool
	raised bool // the undo of a later merge has written to it
}

func (c *oracleCase) run(ctx context.Context) error {
	r := mathrand.New(mathrand.NewPCG(c.g.Seed, 2))
	var worlds []database
	for w := range c.g.Tables[0].Rows {
		d, err := c.places.database(fmt.Sprint("s", w+1), true)
		if err != nil {
			return err
		}
		if err := c.g.create(ctx, d, w); err != nil {
			return err
		}
		worlds = append(worlds, d)
	}
	if !c.g.Features["chain: the first"] && !c.g.Features["chain: not the first"] {
		return c.finish(ctx, c.merge(ctx, r, "new", worlds))
	}
	half := 2 + r.IntN(len(worlds)-2)
	if err := c.merge(ctx, r, "m1", worlds[:half]); err != nil || *blind { // what is not open is no world
		return err
	}
	chained := append([]database{c.merges[0].into}, worlds[half:]...)
	if c.g.Features["chain: not the first"] {
		slices.Reverse(chained)
	}
	return c.finish(ctx, c.merge(ctx, r, "new", chained))
}

// aMerge merges worlds, and compares what comes out.
func (c *oracleCase) merge(ctx context.Context, r *mathrand.Rand, name string, worlds []database) (err error) {
	m := &aMerge{worlds: worlds}
	if m.into, err = c.places.database(name, r.IntN(3) == 0); err != nil {
		return err
	}
	for _, d := range worlds {
		world, err := c.g.read(ctx, d)
		if err != nil {
			return err
		}
		m.before, m.files = append(m.before, world), append(m.files, fileOf(d))
	}
	if m.plan, err = planned(ctx, &c.g.Rules, m.into, worlds); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if len(m.plan.Refused) > 0 {
		return c.refused(m)
	}
	if m.plan.own {
		c.tally.seen["an offset of its own"]++
	}
	if err := m.plan.apply(ctx, m.into, worlds); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	c.merges = append(c.merges, m)
	c.tally.merges++
	if !*blind {
		if r.IntN(4) == 0 {
			if err := c.alter(ctx, r, m); err != nil {
				return err
			}
		}
		if err := m.plan.prove(ctx, m.into, worlds); err != nil {
			return err
		}
		if r.IntN(6) == 0 && name == "new" { // an undo of what was never opened leaves the worlds as they were
			defer func() {
				if err == nil {
					err = c.undo(ctx)
				}
			}()
		} else if err := m.plan.open(ctx, m.into, worlds); err != nil {
			return err
		} else {
			m.opened = true
		}
	}
	return c.compare(ctx, r, m)
}

// alter changes a value of the new database, which its proof has to find, and changes it back.
func (c *oracleCase) alter(ctx context.Context, r *mathrand.Rand, m *aMerge) error {
	now, err := c.g.read(ctx, m.into)
	if err != nil {
		return err
	}
	var t *Table
	var column *Column
	var row []*string
	for try := 0; row == nil; try++ {
		t = c.g.Tables[r.IntN(len(c.g.Tables))]
		column = t.Columns[r.IntN(len(t.Columns))]
		rows, at := now.Tables[t.Name], slices.Index(t.Columns, column)
		if len(rows) > 0 && t.free(column) {
			row = rows[r.IntN(len(rows))]
		}
		if row != nil && (row[at] == nil || *row[at] == "tother" || column.Kind == "text" && column.Size == 0) {
			row = nil
		}
		if try == 50 {
			return nil
		}
	}
	to := map[string]string{"int": column.Name + " + 1", "text": "'other'", "bytes": "x'09'"}[column.Kind]
	db, err := openDatabase(m.into.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	var where []string
	var old string
	for i, of := range t.Columns {
		if of == column {
			old = sqlOf(row[i])
		} else if slices.Contains(t.Key, of.Name) {
			where = append(where, of.Name+" = "+sqlOf(row[i]))
		}
	}
	set := "UPDATE " + t.Name + " SET " + column.Name + " = %s WHERE " + strings.Join(where, " AND ")
	if _, err := db.ExecContext(ctx, fmt.Sprintf(set, to)); err != nil {
		return err
	}
	if err := m.plan.prove(ctx, m.into, m.worlds); err == nil || !strings.HasPrefix(err.Error(), "proof:") {
		return fmt.Errorf("%s of %s was changed, and the proof says: %v", column.Name, t.Name, err)
	}
	c.tally.altered++
	_, err = db.ExecContext(ctx, fmt.Sprintf(set, old))
	return err
}

// remembered asks the new database what some keys of the worlds became.
func (c *oracleCase) remembered(ctx context.Context, r *mathrand.Rand, m *aMerge, origins [][4]string) error {
	for range min(3, len(origins)) {
		o := origins[r.IntN(len(origins))]
		now, err := became(ctx, m.into, o[1], o[0], o[2])
		if err != nil {
			return err
		}
		if !slices.Contains(now, o[3]) {
			return fmt.Errorf("whois: the key %s of %s of %s became %s, and is remembered as %q", o[2], o[0], o[1], o[3], now)
		}
		c.tally.traced++
	}
	return nil
}

// refused is right only if a row refers to one that stays behind, and no rule says what becomes of it.
func (c *oracleCase) refused(m *aMerge) error {
	answer, err := c.ref.ask(c.g, m)
	if err != nil {
		return err
	}
	if c.g.Features["gone is not said"] && strings.HasSuffix(answer.Wrong, "nothing says what becomes of it") {
		c.tally.refused++
		return errRefused
	}
	return fmt.Errorf("refused: %s", strings.Join(m.plan.Refused, "; "))
}

// compare asks the reference what the merge has to be, and compares.
func (c *oracleCase) compare(ctx context.Context, r *mathrand.Rand, m *aMerge) error {
	answer, err := c.ref.ask(c.g, m)
	if err != nil {
		return err
	}
	for what, n := range answer.Seen {
		if n > 0 {
			c.tally.seen[what]++
		}
	}
	if answer.Wrong != "" {
		return fmt.Errorf("the reference: %s", answer.Wrong)
	}
	got, err := c.g.read(ctx, m.into)
	if err != nil {
		return err
	}
	for _, t := range c.g.Tables {
		if diff := cmp.Diff(lines(answer.Tables[t.Name]), lines(got.Tables[t.Name])); diff != "" {
			return fmt.Errorf("rows of %s (-want +got):\n%s", t.Name, diff)
		}
		if got.Next[t.Name] < answer.Next[t.Name] {
			return fmt.Errorf("the next number of %s is %d, want at least %d", t.Name, got.Next[t.Name], answer.Next[t.Name])
		}
	}
	if err := c.remembered(ctx, r, m, answer.Origins); err != nil {
		return err
	}
	return c.untouched(ctx, m, true)
}

// untouched compares the worlds with what they were. An undo of what was open raises counters of the first.
func (c *oracleCase) untouched(ctx context.Context, m *aMerge, counters bool) error {
	for w, d := range m.worlds {
		if (counters || !m.opened) && !bytes.Equal(m.files[w], fileOf(d)) {
			return fmt.Errorf("the file of %s was written to", d.Name)
		}
		world, err := c.g.read(ctx, d)
		if err != nil {
			return err
		}
		for _, t := range c.g.Tables {
			want, got := lines(m.before[w].Tables[t.Name]), lines(world.Tables[t.Name])
			if diff := cmp.Diff(want, got); diff != "" && (counters || t.Name != "seq") {
				return fmt.Errorf("%s of %s was changed:\n%s", t.Name, d.Name, diff)
			}
			if before, now := m.before[w].Next[t.Name], world.Next[t.Name]; now < before || counters && now != before {
				return fmt.Errorf("the next number of %s of %s is %d, and was %d", t.Name, d.Name, now, before)
			}
		}
	}
	return nil
}

// fileOf is the file of a world in SQLite. That of a merged one, into which the reader of this test may write, is left
// out.
func fileOf(d database) []byte {
	path, is := strings.CutPrefix(d.DSN, "sqlite:")
	if !is || d.Name == "m1" {
		return nil
	}
	all, _ := os.ReadFile(path)
	return all
}

// finish takes a part of the merges back, the last first.
func (c *oracleCase) finish(ctx context.Context, err error) error {
	if err != nil || *blind || c.g.Seed%3 != 0 {
		return err
	}
	return c.undo(ctx)
}

func (c *oracleCase) undo(ctx context.Context) error {
	for len(c.merges) > 0 {
		m := c.merges[len(c.merges)-1]
		c.merges = c.merges[:len(c.merges)-1]
		if m.raised && !undoneAfterRaised {
			continue
		}
		if err := m.plan.undo(ctx, m.into, m.worlds); err != nil {
			return fmt.Errorf("undo: %w", err)
		}
		if err := c.untouched(ctx, m, false); err != nil {
			return fmt.Errorf("after the undo: %w", err)
		}
		if _, err := c.g.read(ctx, m.into); err == nil {
			return fmt.Errorf("%s is there after its undo", m.into.Name)
		}
		c.tally.undone++
		for _, earlier := range c.merges {
			earlier.raised = m.opened && earlier.into == m.worlds[0] && c.g.table("seq") != nil
		}
	}
	return nil
}

// reproduction is the case for who has to look into it.
func (c *oracleCase) reproduction(t testing.TB) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rules (rekey %v):\n%s", c.g.Rules.Rekey, c.g.Rules.text(t))
	for w := range c.g.Tables[0].Rows {
		fmt.Fprintf(&b, "-- s%d\n%s;\n", w+1, strings.Join(c.g.statements(w), ";\n"))
	}
	return b.String()
}

// reference is the program of Python that knows what comes out of a merge. One process answers for all cases.
type reference struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// answer is what it says of a case.
type answer struct {
	Wrong  string                 `json:"wrong"`
	Tables map[string][][]*string `json:"tables"`
	Next   map[string]int64       `json:"next"`
	Seen   map[string]int         `json:"seen"`

	Origins [][4]string `json:"origins"` // table, world, key there, key now
}

// startReference starts it, or skips the test where there is no Python; TEST_LANGUAGES_REQUIRED may not allow that.
func startReference(t *testing.T) *reference {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if required := os.Getenv("TEST_LANGUAGES_REQUIRED"); slices.Contains(strings.Fields(required), "python") {
			t.Fatalf("python3 is missing, and TEST_LANGUAGES_REQUIRED=%q wants it", required)
		}
		t.Skip("python3 is missing: no merge is compared with the reference")
	}
	cmd := exec.Command(python, "-B", "reference.py")
	var problems strings.Builder
	cmd.Stderr = &problems
	r := new(reference)
	if r.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReaderSize(out, 1<<20)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("reference.py: %v\n%s", err, problems.String())
		}
	})
	return r
}

func (r *reference) ask(g *Game, m *aMerge) (*answer, error) {
	question := struct {
		*chosen
		Schema map[string]any `json:"schema"`
		Rules  *Rules         `json:"rules"`
		Worlds []*Contents    `json:"worlds"`
		Now    int64          `json:"now"`
		Rows   bool           `json:"count_keys_of_no_rows"`
		Drops  bool           `json:"count_keys_of_dropped"`
	}{m.plan, g.schema(), &g.Rules, m.before, now, countKeysOfNoRows, countKeysOfDropped}
	if err := json.NewEncoder(r.in).Encode(question); err != nil {
		return nil, fmt.Errorf("reference.py: %w", err)
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("reference.py ended: %w", err)
	}
	a := new(answer)
	return a, json.Unmarshal(line, a)
}
