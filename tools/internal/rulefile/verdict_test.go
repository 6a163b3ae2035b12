package rulefile_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"mergesafe/internal/servertest"
	"mergesafe/merge"

	"mergesafe/merge/plan"
	"mergesafe/merge/verdict"
	"mergesafe/merge/worldtest"
	"mergesafe/tools/internal/rulefile"
)

const verdictCasesByDefault = 40

var (
	verdictCases = flag.Int("verdict.cases", servertest.Scale(verdictCasesByDefault, 2000), "how many random worlds and rule files are judged")
	verdictSeed  = flag.Uint64("verdict.seed", 1, "the seed of the first of them; each has the next one")
)

// With the same rules and flags: what plan calls READY, apply carries out and verify passes, and
// mergecheck passes it. What mergecheck passes and plan refuses is refused only for reasons of the
// place. More cases: -verdict.cases=2000.
func TestOneVerdict(t *testing.T) {
	var seen tally
	if testing.Short() && *verdictCases == verdictCasesByDefault {
		*verdictCases = 15
	}
	for i := range *verdictCases {
		seed := *verdictSeed + uint64(i)
		c := drawCase(seed)
		dir, err := os.MkdirTemp("/dev/shm", "mergesafe") // a disk would take most of the time
		if err != nil {
			dir = t.TempDir()
		}
		why := c.judge(t.Context(), dir, &seen)
		for _, w := range why {
			t.Errorf("seed %d: %s", seed, w)
		}
		if len(why) > 0 && *verdictCases < 500 {
			t.Logf("rules:\n%s\nallow %q, worlds:\n%s", c.rules, c.allow, strings.Join(slices.Concat(c.worlds...), ";\n"))
		}
	}
	t.Logf("from seed %d: %s", *verdictSeed, seen)
	if *verdictCases < 100 {
		return
	}
	for what, n := range map[string]int{"READY": seen.ready, "PASS": seen.pass, "refused": seen.refused} {
		if n*10 <= seen.cases {
			t.Errorf("only %d of %d cases are %s: the generator is too narrow", n, seen.cases, what)
		}
	}
}

type tally struct {
	cases, unsuitable, ready, pass, fail, notVerified, refused, place int
}

func (n tally) String() string {
	return fmt.Sprintf("%d cases: %d READY, %d PASS, %d FAIL, %d NOT VERIFIED, %d refused (%d of PASS, for the place), %d with unsuitable rules",
		n.cases, n.ready, n.pass, n.fail, n.notVerified, n.refused, n.place, n.unsuitable)
}

// judge returns in what the steps disagree.
func (c *drawn) judge(ctx context.Context, dir string, seen *tally) (wrong []string) {
	defer os.RemoveAll(dir)
	seen.cases++
	var all []merge.Database
	for i, statements := range c.worlds {
		file := filepath.Join(dir, fmt.Sprintf("w%d.db", i))
		db, err := sql.Open("sqlite", file)
		if err != nil {
			return []string{err.Error()}
		}
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				return []string{s + ": " + err.Error()}
			}
		}
		db.Close()
		all = append(all, merge.Database{Name: fmt.Sprintf("w%d", i), DSN: "sqlite:" + file})
	}
	var read rulefile.Rules
	file := filepath.Join(dir, "rules.toml")
	if err := os.WriteFile(file, []byte(c.rules), 0o600); err != nil {
		return []string{err.Error()}
	}
	if err := read.Load(file); err != nil {
		return []string{"rules: " + err.Error()}
	}
	allow := c.allow
	if c.lenient {
		allow = append(slices.Clone(allow), c.flagsOf(ctx, read, all)...)
	}
	read.Check.Allow = allow
	return c.judgeOne(ctx, dir, read, all, seen)
}

// flagsOf are those that the findings of a check name.
func (c *drawn) flagsOf(ctx context.Context, read rulefile.Rules, all []merge.Database) (flags []string) {
	read.Check.Allow = c.allow
	r, err := checked(ctx, read, all)
	if err != nil {
		return nil
	}
	for _, result := range r.Results {
		for _, step := range append(result.Next, "allow it: "+result.Allow) {
			if _, flag, found := strings.Cut(step, "-allow "); found && result.Verdict == verdict.NotVerified && !strings.HasPrefix(step, "-allow") {
				flag, _, _ = strings.Cut(flag, " ")
				flags = append(flags, strings.Trim(strings.Replace(flag, ":'", ":", 1), "';"))
			}
		}
	}
	return flags
}

// checked is what mergecheck does.
func checked(ctx context.Context, read rulefile.Rules, all []merge.Database) (*verdict.Report, error) {
	options := read.Check
	options.Renames, options.Copies = merge.Renamed(read.Names), read.Copies
	return worldtest.Checked(ctx, all, options)
}

func (c *drawn) judgeOne(ctx context.Context, dir string, read rulefile.Rules, all []merge.Database, seen *tally) (wrong []string) {
	disagree := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf(format, args...))
	}
	r, err := checked(ctx, read, all)
	into := merge.Database{Name: "new", DSN: "sqlite:" + filepath.Join(dir, "new.db")}
	options := merge.PlanOptions{Check: read.Check, Names: read.Names, Copies: read.Copies}
	p, planErr := merge.NewPlan(ctx, into, all, options)
	switch {
	case err != nil && planErr != nil:
		seen.unsuitable++
		return nil
	case err != nil || planErr != nil:
		disagree("mergecheck: %v; plan: %v", err, planErr)
		return wrong
	}
	ready := len(p.Refusals) == 0
	switch r.Verdict {
	case verdict.Pass:
		seen.pass++
	case verdict.Fail:
		seen.fail++
	default:
		seen.notVerified++
	}
	if !ready {
		seen.refused++
	}
	if ready != (r.Verdict == verdict.Pass) {
		ofPlace := !ready && !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.Place == "" })
		if ready || !ofPlace {
			disagree("mergecheck %s (%s), plan %q", r.Verdict, notPassed(r), p.Refusals)
		} else {
			seen.place++
		}
	}
	if !ready {
		return wrong
	}
	seen.ready++
	if _, err := merge.Apply(ctx, p, into, all, merge.Options{}); err != nil {
		disagree("READY, and apply: %v", err)
		return wrong
	}
	proof, err := merge.Verify(ctx, p, into, all, merge.Options{})
	if err != nil || proof.Verdict != verdict.Pass {
		disagree("READY, and verify: %v, %v", proof, err)
		if proof != nil {
			disagree("findings %q", proof.Findings)
		}
	}
	return wrong
}

func notPassed(r *verdict.Report) string {
	var all []string
	for _, result := range r.Results {
		if result.Counts() != verdict.Pass {
			all = append(all, result.Code+" "+result.Table+" "+result.Subject)
		}
	}
	return strings.Join(all, ", ")
}

// drawn is a case.
type drawn struct {
	worlds  [][]string // statements
	rules   string
	allow   []string
	lenient bool // what the findings say is allowed too
}

// drawing draws a case. Most statements are right, and some are missing or say something else.
type drawing struct {
	*rand.Rand
	sloppy        float64 // how often a statement is not the right one
	plain, shared []string
	undecided     []string
	blocks        []string
}

func (d *drawing) chance(p float64) bool { return d.Float64() < p }

// say declares a column as kind, or not, or as something else.
func (d *drawing) say(column, kind string) {
	if d.chance(d.sloppy) {
		kind = []string{"", "plain", "shared", "undecided", "shared"}[d.IntN(5)]
	}
	switch kind {
	case "plain":
		d.plain = append(d.plain, column)
	case "shared":
		d.shared = append(d.shared, column)
	case "undecided":
		d.undecided = append(d.undecided, column)
	}
}

// refer declares references to a key, but for a few.
func (d *drawing) refer(to string, more string, at ...string) {
	for _, column := range at {
		if d.chance(d.sloppy) {
			d.say(column, "")
			continue
		}
		d.block("check.reference", fmt.Sprintf("to = %q\nat = [%q]\n%s", to, column, more))
	}
}

func (d *drawing) block(name, text string) {
	d.blocks = append(d.blocks, "[["+name+"]]\n"+text+"\n")
}

func (d *drawing) policy(table, policy, more string) {
	d.block("merge.table", fmt.Sprintf("tables = [%q]\npolicy = %q\n%s", table, policy, more))
}

// drawCase draws tables of a small game, rows for two or three worlds, and rules for them.
func drawCase(seed uint64) *drawn {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 0x766572)), sloppy: 0.12}
	if d.chance(0.7) {
		d.sloppy = 0
	}
	c := &drawn{lenient: d.chance(0.7), worlds: make([][]string, 2+d.IntN(2))}
	apart, rekey := d.chance(0.3), false
	if !apart || d.chance(0.3) {
		rekey = !d.chance(d.sloppy)
	}
	same := func(format string, args ...any) { // in every world
		for w := range c.worlds {
			c.worlds[w] = append(c.worlds[w], fmt.Sprintf(format, args...))
		}
	}
	chars := make([]int, len(c.worlds))
	first := func(w int) int {
		if apart {
			return 1 + w*1000
		}
		return 1
	}
	each := func(most int, row func(w, i int) string) {
		for w := range c.worlds {
			for i := range d.IntN(most + 1) {
				c.worlds[w] = append(c.worlds[w], row(w, i))
			}
		}
	}
	anyChar := func(w int) int { // a key of this world, or rarely of none
		if chars[w] == 0 || d.chance(d.sloppy/4) {
			return 900
		}
		return first(w) + d.IntN(chars[w])
	}
	space := func(table string, more string) {
		if rekey && !d.chance(d.sloppy/2) {
			d.block("merge.space", fmt.Sprintf("name = %q\nkeys = [\"%[1]s.id\"]\n%s", table, more))
		}
	}
	pick := func(words ...string) string { return words[d.IntN(len(words))] }

	unique := pick("", " UNIQUE")
	same("CREATE TABLE chars (id INTEGER PRIMARY KEY%s, name VARCHAR(30) COLLATE NOCASE NOT NULL%s, account INTEGER, level INTEGER)", pick("", " AUTOINCREMENT"), unique)
	distinct := d.chance(0.4)
	for w := range c.worlds {
		chars[w] = d.IntN(6)
		for i := range chars[w] {
			name := fmt.Sprintf("n%d", i)
			if distinct {
				name = fmt.Sprintf("w%dn%d", w, i)
			}
			c.worlds[w] = append(c.worlds[w], fmt.Sprintf("INSERT INTO chars VALUES (%d, '%s', %d, %d)", first(w)+i, name, 70+i, 1+d.IntN(9)))
		}
	}
	space("chars", "")
	d.say("chars.level", "plain")
	d.say("chars.account", pick("shared", "plain"))
	names := unique != "" && (!distinct || d.chance(0.3)) && !d.chance(d.sloppy)
	if names {
		d.block("merge.name", "at = \"chars.name\"\n"+pick("", "template = \"{name}_{source}\"", "max = 12", "template = \"{name}_who_is_now_someone_else\"\nmax = 20"))
	}
	if d.chance(0.7) {
		foreign := pick("", " REFERENCES chars (id)")
		same("CREATE TABLE items (id INTEGER PRIMARY KEY, owner INTEGER%s, kind INTEGER)", foreign)
		each(6, func(w, i int) string {
			return fmt.Sprintf("INSERT INTO items VALUES (%d, %d, %d)", first(w)+i, anyChar(w), d.IntN(4))
		})
		space("items", "")
		d.say("items.kind", "plain")
		if foreign == "" {
			d.refer("chars.id", "", "items.owner")
		}
		if d.chance(0.08) {
			c.worlds[0] = append(c.worlds[0], "CREATE TRIGGER one AFTER "+pick("INSERT", "DELETE")+" ON items BEGIN UPDATE chars SET level = 1 WHERE id = 0; END")
		}
	}
	if d.chance(0.5) { // without a key
		same("CREATE TABLE log (who INTEGER, what TEXT, kind INTEGER)")
		each(5, func(w, i int) string {
			return fmt.Sprintf("INSERT INTO log VALUES (%d, 'did %d', %d)", anyChar(w), i/2, i/3)
		})
		if d.chance(0.1) {
			d.refer("chars.id", "when = { column = \"kind\", is = [0] }\nothers = \"plain\"", "log.who")
		} else {
			d.refer("chars.id", "", "log.who")
		}
		d.say("log.what", "plain")
		d.say("log.kind", "plain")
	}
	if d.chance(0.5) {
		same("CREATE TABLE mail (id INTEGER PRIMARY KEY, sender INTEGER, kind INTEGER, sender_name VARCHAR(30) COLLATE NOCASE, body %s)", pick("TEXT", "BLOB"))
		each(5, func(w, i int) string {
			who, kind := anyChar(w), d.IntN(2)
			if kind == 1 {
				who = 1 + d.IntN(9)
			}
			return fmt.Sprintf("INSERT INTO mail SELECT %d, %d, %d, (SELECT name FROM chars WHERE id = %[2]d), 'hello'", first(w)+i, who, kind)
		})
		space("mail", "")
		d.refer("chars.id", "when = { column = \"kind\", is = [0] }\nothers = \"plain\"", "mail.sender")
		d.say("mail.kind", "plain")
		if names && d.chance(0.7) {
			d.block("check.reference", "at = [\"mail.sender_name\"]\nby = \"sender\"\nto = \"chars.name\"")
			d.say("mail.sender_name", pick("", "undecided"))
		} else {
			d.say("mail.sender_name", "plain")
		}
		d.say("mail.body", "plain")
	}
	if d.chance(0.6) {
		equal := d.chance(0.5)
		same("CREATE TABLE settings (k VARCHAR(20) PRIMARY KEY, v INTEGER NOT NULL, hero INTEGER)")
		each(3, func(w, i int) string {
			if equal {
				return fmt.Sprintf("INSERT INTO settings VALUES ('k%d%d', %d, 1)", w, i, i)
			}
			return fmt.Sprintf("INSERT INTO settings VALUES ('k%d', %d, %d)", i, w+i, d.IntN(3))
		})
		if equal {
			for w := range c.worlds {
				c.worlds[w] = append(c.worlds[w], "DELETE FROM settings", "INSERT INTO settings VALUES ('a', 1, 1), ('b', 2, 3)")
			}
		}
		if policy := pick("", "same", "skip", "reset", "combine", "combine"); policy == "combine" {
			d.policy("settings", policy, "set = { v = \""+pick("sum", "max", "first", "last")+"\", hero = \"first\" }")
		} else if policy != "" {
			d.policy("settings", policy, "")
		}
		d.say("settings.v", "plain")
		d.say("settings.hero", pick("", "plain"))
	}
	if d.chance(0.5) {
		same("CREATE TABLE guilds (id INTEGER PRIMARY KEY, title VARCHAR(20), leader INTEGER)")
		same("CREATE TABLE members (guild INTEGER NOT NULL, hero INTEGER NOT NULL, PRIMARY KEY (guild, hero))")
		each(2, func(w, i int) string {
			return fmt.Sprintf("INSERT INTO guilds VALUES (%d, 'g%d', %d)", first(w)+i, i, anyChar(w))
		})
		each(3, func(w, i int) string {
			return fmt.Sprintf("INSERT OR IGNORE INTO members VALUES (%d, %d)", first(w), anyChar(w))
		})
		space("guilds", "")
		d.refer("chars.id", "", "guilds.leader", "members.hero")
		d.refer("guilds.id", "", "members.guild")
		d.say("guilds.title", "plain")
	}
	if d.chance(0.3) {
		same("CREATE TABLE rates (rate %s PRIMARY KEY, v INTEGER)", pick("REAL", "DECIMAL(8,2)", "DATE"))
		each(2, func(w, i int) string { return fmt.Sprintf("INSERT INTO rates VALUES (%d.5, 1)", 10*w+i) })
		d.say("rates.rate", pick("shared", ""))
		d.say("rates.v", "plain")
	}
	if d.chance(0.3) {
		same("CREATE TABLE seq (name VARCHAR(20) PRIMARY KEY, next INTEGER)")
		for w := range c.worlds {
			c.worlds[w] = append(c.worlds[w], fmt.Sprintf("INSERT INTO seq VALUES ('char', %d)", first(w)+chars[w]))
		}
		if d.policy("seq", "skip", ""); rekey && !d.chance(d.sloppy) {
			d.block("merge.counter", "at = \"seq.next\"\nto = \"chars\"")
		}
	}
	if d.chance(0.4) {
		same("CREATE TABLE online (hero INTEGER PRIMARY KEY%s, since INTEGER)", pick("", " REFERENCES chars (id)"))
		each(3, func(w, i int) string { return fmt.Sprintf("INSERT OR IGNORE INTO online VALUES (%d, 5)", anyChar(w)) })
		if policy := pick("", "skip", "reset"); policy != "" {
			d.policy("online", policy, "")
		}
		d.refer("chars.id", "", "online.hero")
		d.say("online.since", "plain")
	}
	list := func(name string, columns []string) string {
		if len(columns) == 0 {
			return ""
		}
		return name + " = [\"" + strings.Join(columns, "\", \"") + "\"]\n"
	}
	c.rules = "[check]\n" + list("plain", d.plain) + list("shared", d.shared) + list("undecided", d.undecided) + strings.Join(d.blocks, "")
	if d.chance(0.15) {
		c.allow = []string{pick("unique-collision", "key-collision", "reference-dangling", "schema-view")}
	}
	return c
}
