package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mergesafe/internal/gameworlds"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
)

// person decides what the tools leave to a person, and nothing else: with the true meaning of the columns. It shares no code with
// the tools.
type person struct {
	refs    *gameworlds.Refs
	names   map[string]string // columns that repeat a name: of what
	formats map[string]string // of columns with keys in cells
	decided map[string]bool   // columns
	plain   []string
	natural []string
	blocks  []string
	later   int // decisions about names and tables
}

// decide says what a column is.
func (p *person) decide(t *testing.T, at string) {
	t.Helper()
	if p.decided[at] {
		t.Fatalf("%s is asked twice", at)
	}
	p.decided[at] = true
	table, name, _ := strings.Cut(at, ".")
	meanings := p.refs.Columns[gameworlds.Column{Table: table, Name: name}]
	if of := p.names[at]; of != "" {
		p.blocks = append(p.blocks, fmt.Sprintf("[[check.reference]]\nto = %q\nat = [%q]\nnone = [\"\", \"Town hall\"]\n", of, at))
		return
	}
	reference := false
	for _, m := range meanings {
		if m.Kind != gameworlds.Reference && m.Kind != gameworlds.Cell {
			continue
		}
		block := fmt.Sprintf("[[check.reference]]\nto = %q\nat = [%q]\n", m.To[0], at)
		if format := p.formats[at]; format != "" {
			block += fmt.Sprintf("format = %q\n", format)
		}
		if m.When != nil {
			block += fmt.Sprintf("when = { column = %q, is = [%s] }\n", m.When.Column, strings.Join(m.When.Is, ", "))
			if !reference {
				block += "others = \"plain\"\n"
			}
		}
		if m.None != nil {
			block += "none = [0]\n"
		}
		reference = true
		p.blocks = append(p.blocks, block)
	}
	switch {
	case reference:
	case slices.ContainsFunc(meanings, func(m gameworlds.Meaning) bool { return m.Kind == gameworlds.Key }):
		p.blocks = append(p.blocks, fmt.Sprintf("[[merge.space]]\nkeys = [%q]\n", at))
	case slices.ContainsFunc(meanings, func(m gameworlds.Meaning) bool { return m.Kind == gameworlds.Natural }):
		p.natural = append(p.natural, at)
	default:
		p.plain = append(p.plain, at)
	}
}

// file writes the decisions.
func (p *person) file(t *testing.T, path string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "[check]\nplain = %s\nshared = %s\n\n%s", quotedList(p.plain), quotedList(p.natural), strings.Join(p.blocks, "\n"))
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func quotedList(all []string) string {
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, strconv.Quote(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// wrong says what of a proposed column is not true; "" if nothing is, or nothing is claimed.
func (p *person) wrong(c verdict.ProposedColumn) string {
	meanings := p.refs.Columns[gameworlds.Column{Table: c.Table, Name: c.Column}]
	is := func(kind gameworlds.Kind) bool {
		return slices.ContainsFunc(meanings, func(m gameworlds.Meaning) bool { return m.Kind == kind })
	}
	switch c.Class {
	case verdict.ClassReference:
		for _, m := range meanings {
			covered := m.When == nil && c.When == nil || m.When != nil && c.When != nil && c.When.Column == m.When.Column && !slices.ContainsFunc(c.When.Is, func(v string) bool { return !slices.Contains(m.When.Is, v) })
			if m.Kind == gameworlds.Reference && m.To[0].String() == c.To && covered {
				return ""
			}
		}
		return fmt.Sprintf("a reference to %s, when %s", c.To, c.When.Text())
	case verdict.ClassPlain, verdict.ClassShared:
		if is(gameworlds.Reference) || is(gameworlds.Cell) || is(gameworlds.Key) || p.names[c.Table+"."+c.Column] != "" {
			return string(c.Class)
		}
	case verdict.ClassKey:
		if !is(gameworlds.Key) {
			return "a key"
		}
	}
	return ""
}

// The game of a rehearsal, in two worlds with gaps in their keys and with rows that lead nowhere: from what the tool proposes, through
// what it leaves to a person, to a merge in which every reference leads to the row that it led to.
func TestRehearsal(t *testing.T) {
	servertest.Needs(t, servertest.MariaDB)
	folder := "../../internal/gameworlds/testdata/"
	game, err := gameworlds.Load(folder+"rehearsal.sql", folder+"rehearsal.refs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	check, err := mergecheck()
	if err != nil {
		t.Fatal(err)
	}
	p := &person{refs: game.Refs, decided: make(map[string]bool), formats: map[string]string{"hero_state.data": "json '$.mount'"},
		names: map[string]string{"mail.sender_name": "hero.name"}}
	o := &oracle{refs: game.Refs, left: make(map[string]bool), inCells: make(map[string]int64), things: make(map[string]string), bySQL: make(map[gameworlds.Column]bool), renamed: make(map[string]bool)}
	var dsns []string
	for _, seed := range []uint64{1, 2} {
		opts := gameworlds.Typical(seed)
		opts.Characters, opts.Items = servertest.Scale(1000, 2000), servertest.Scale(1000, 8000)
		dsn := servertest.DSN(t)
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		if _, err := game.Fill(t.Context(), db, sqldb.MySQL, opts); err != nil {
			t.Fatal(err)
		}
		statements(t, db, []string{
			"UPDATE guild_log SET hero2 = 1 + id % 9 WHERE etype = 4",
			"UPDATE mail m LEFT JOIN hero h ON h.id = m.sender SET m.sender_name = IF(m.kind = 0, COALESCE(h.name, ''), 'Town hall')",
		})
		o.dbs, dsns = append(o.dbs, db), append(dsns, "mysql:"+dsn)
	}
	worlds := dsns

	// What the tool proposes, and what it leaves to a person.
	rules, mine := filepath.Join(dir, "rules.toml"), filepath.Join(dir, "mine.toml")
	proposed := checked(t, check, append([]string{"-json", "-propose", "-o", rules}, worlds...))
	sure := 0
	for _, c := range proposed.Proposed.Columns {
		if wrong := p.wrong(c); wrong != "" {
			t.Errorf("%s.%s is proposed as %s (%s)", c.Table, c.Column, wrong, c.Evidence)
		}
		at := c.Table + "." + c.Column
		if c.Class == verdict.ClassUndecided && !p.decided[at] {
			t.Logf("asked: %s: %s %s", at, c.Evidence, c.When.Text())
			p.decide(t, at)
		} else if c.Class != verdict.ClassUndecided {
			sure++
		}
	}
	asked := len(p.decided)
	files := []string{"-rules", rules, "-rules", mine}
	for range 5 {
		p.file(t, mine)
		open := 0
		for _, r := range checked(t, check, append(append([]string{"-json"}, files...), worlds...)).Results {
			if r.Allowed || r.Verdict == verdict.Pass {
				continue
			}
			t.Logf("left: %s %s %s: %s", r.Code, r.Table, r.Subject, r.Message)
			if r.Code == verdict.CodeReferenceUndeclared && len(r.Columns) == 1 {
				p.decide(t, r.Table+"."+r.Columns[0])
				open++
			}
			switch {
			case r.Code == verdict.CodeUniqueCollision:
				p.blocks = append(p.blocks, fmt.Sprintf("[[merge.name]]\nat = %q\ntemplate = \"{name}_{source}\"\n", r.Table+"."+r.Columns[0]))
				open, p.later = open+1, p.later+1
			case r.Code == verdict.CodeKeyCollision && r.Count > 0: // the boards of a world are made anew
				p.blocks = append(p.blocks, fmt.Sprintf("[[merge.table]]\ntables = [%q]\npolicy = \"skip\"\n", r.Table))
				open, p.later, o.left[r.Table] = open+1, p.later+1, true
			}
		}
		if open == 0 {
			break
		}
	}
	t.Logf("decisions: %d columns of %d were asked, %d were open later, %d about names and tables", asked, sure+asked, len(p.decided)-asked, p.later)

	// The merge.
	for world, db := range o.dbs {
		o.mark(t, db, uint64(world+1))
	}
	file := filepath.Join(dir, "plan.json")
	into, made := newDatabase(t)
	planned := ran(t, cli.OK, append(append([]string{"plan", "-into", into, "-o", file, "-rules", marksFile(t)}, files...), worlds...)...)
	if !strings.HasPrefix(planned.stdout, "READY ") {
		t.Fatalf("%.3000s", planned.stdout)
	}
	with := func(command string) []string { return append([]string{command, "-json", file, into}, worlds...) }
	applied, proof := outcome(t, with("apply")), outcome(t, with("verify"))
	if proof.Proof.Verdict != verdict.Pass {
		t.Errorf("%s: %+v", proof.Proof.Verdict, proof.Proof.Keys)
	}
	for _, r := range plan(t, file).Renames {
		o.renamed[fmt.Sprintf("%s.%s %q %q", r.Table, r.Column, r.Old, r.New)] = true
	}
	rows, references, dangling := o.compare(t, made)
	t.Logf("%d rows came; %d references lead to a row, %d lead nowhere; in cells: %v", rows, references, dangling, o.inCells)
	if applied.Applied.Rows < rows || references < 50_000 || dangling < 500 || len(o.inCells) != 1 || slices.Min(slices.Collect(maps.Values(o.inCells))) < 100 {
		t.Error("there was little to compare")
	}
	if asked > 8 || len(p.decided)+p.later > asked+4 {
		t.Errorf("%d decisions were asked, %d later", asked, len(p.decided)-asked+p.later)
	}
}

// checked runs mergecheck and returns its report.
func checked(t *testing.T, program string, args []string) *verdict.Report {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // its exit code is that of the report
	r := new(verdict.Report)
	if err := json.Unmarshal(stdout.Bytes(), r); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return r
}
