package transfer

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/prove"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

var (
	rekeyCases = flag.Int("rekey.cases", 0, "how many random games are merged; 0: as many as take a moment")
	rekeySeed  = flag.Uint64("rekey.seed", 1, "the seed of the first of them; each has the next one")
)

// Games of any schema of integer keys, with rows of any kind, are merged with new keys.
// Either the plan is refused, for a reason that the oracle knows too; or every world is
// in the merged database as it was, the proof says so, the memory of keys is right, and
// an undo leaves the rows of before. What is changed afterwards, the proof finds. More
// cases: -rekey.cases=5000.
func TestRekeyedWorldsStayAsTheyWere(t *testing.T) {
	servertest.NotShort(t)
	onSQLite(t, func(t *testing.T) {
		seen, n := newKeyTally(), rekeyCasesByDefault
		if *rekeyCases > 0 {
			n = *rekeyCases
		}
		t.Run("games", func(t *testing.T) {
			for part := range 2 {
				t.Run(fmt.Sprint(part), func(t *testing.T) {
					t.Parallel()
					for i := part; i < n && seen.failures() < 5; i += 2 {
						dir, err := os.MkdirTemp("", "mergesafe")
						if err != nil {
							t.Fatal(err)
						}
						g := drawKeyGame(*rekeySeed+uint64(i), false)
						var all []rowio.Database
						for w := range g.worlds {
							all = append(all, rowio.Database{Name: worldNamed(w), DSN: "sqlite:" + filepath.Join(dir, worldNamed(w)+".db")})
						}
						seen.prove(t, g, all)
						os.RemoveAll(dir)
					}
				})
			}
		})
		seen.enough(t)
	})
	t.Run("server", func(t *testing.T) {
		seen, n := newKeyTally(), 8
		if *rekeyCases > 0 {
			n = *rekeyCases
		}
		var all []rowio.Database
		for w := range 5 {
			all = append(all, rowio.Database{Name: worldNamed(w), DSN: "mysql:" + servertest.DSN(t)})
		}
		for i := 0; i < n && seen.failures() < 5; i++ {
			g := drawKeyGame(*rekeySeed+uint64(i), true)
			for _, d := range all {
				if err := emptied(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			seen.prove(t, g, all[:g.worlds])
		}
		t.Log(seen)
	})
}

// emptied drops all tables of a database of a server.
func emptied(ctx context.Context, d rowio.Database) error {
	db, err := openPlainly(d)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'")
	if err != nil {
		return err
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, "`"+name+"`")
	}
	rows.Close()
	if len(names) == 0 {
		return nil
	}
	if _, err := db.ExecContext(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "DROP TABLE "+strings.Join(names, ", "))
	return err
}

// keyTally counts what the cases had to prove.
type keyTally struct {
	mu                                 sync.Mutex
	failed                             int
	cases, applied, moved, still       int // of applied, those with new keys and those without
	mappable, refused, refusedMappable int
	keyCompared
	cut          int // rows that name what stays behind
	emptied      int // tables with rows, of which the undo put all back
	traced, gaps int // keys of Whois and Whereis; keys that a game made later
	reasons      map[string]int
	tampered     map[string]int
	limits       []string       // of refusedMappable, the reasons
	forgotten    map[string]int // what became of a reference that is not declared
}

func newKeyTally() *keyTally {
	return &keyTally{reasons: make(map[string]int), tampered: make(map[string]int), forgotten: make(map[string]int)}
}

func (s *keyTally) failures() int { s.mu.Lock(); defer s.mu.Unlock(); return s.failed }

func (s *keyTally) String() string {
	return fmt.Sprintf("%d cases: %d refused, %d merged (%d with new keys, %d without); of %d that can be mapped %d refused; %d rows, %d references, %d of them nowhere; %d tables emptied; %d rows cut; %d keys traced, %d in gaps; "+
		"refused for %v; tampered %v; forgotten %v", s.cases, s.refused, s.applied, s.moved, s.still, s.mappable, s.refusedMappable, s.rows, s.references, s.nowhere, s.emptied, s.cut, s.traced, s.gaps, s.reasons, s.tampered, s.forgotten)
}

// enough makes sure that the property was not true for want of cases.
func (s *keyTally) enough(t *testing.T) {
	t.Logf("%v\nrefused though it could be: %q", s, s.limits)
	if s.cases < rekeyCasesByDefault {
		return
	}
	if s.moved == 0 || s.still == 0 || s.refused == 0 || s.nowhere == 0 || s.traced == 0 || s.gaps == 0 || s.emptied == 0 || s.cut == 0 || s.forgotten["refused"] == 0 {
		t.Errorf("the cases prove too little: %v", s)
	}
	for _, name := range tamperings {
		if s.tampered[name] == 0 {
			t.Errorf("nothing was tampered with in this way: %s", name)
		}
	}
	if s.refusedMappable*20 >= s.mappable {
		t.Errorf("%d of %d games that can be merged are refused", s.refusedMappable, s.mappable)
	}
}

// prove proves one game.
func (s *keyTally) prove(t *testing.T, g *keyGame, all []rowio.Database) {
	t.Helper()
	c := &keyCase{g: g, all: all, rnd: rand.New(rand.NewPCG(g.seed, 2)), tampered: make(map[string]int)}
	err := c.prove(t.Context())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cases++; err != nil {
		s.failed++
		t.Errorf("%v\n%v", err, g)
		return
	}
	if c.mappable {
		s.mappable++
	}
	if slices.Contains(g.defect, "forgotten") {
		s.forgotten[map[bool]string{true: "refused", false: "no matter"}[len(c.reasons) > 0]]++
	}
	if len(c.reasons) > 0 {
		s.refused++
		if c.mappable {
			s.refusedMappable++
			s.limits = append(s.limits, fmt.Sprintf("%d: %v", g.seed, c.reasons))
		}
		for _, code := range c.reasons {
			s.reasons[code]++
		}
		return
	}
	s.applied++
	if c.plan.Rekey != nil && c.plan.Rekey.Moves() {
		s.moved++
	} else {
		s.still++
	}
	s.rows, s.references, s.nowhere = s.rows+c.seen.rows, s.references+c.seen.references, s.nowhere+c.seen.nowhere
	s.traced, s.gaps, s.emptied, s.cut = s.traced+c.traced, s.gaps+c.gaps, s.emptied+c.emptied, s.cut+c.cut
	for name, n := range c.tampered {
		s.tampered[name] += n
	}
}

// keyCase is one game on its way.
type keyCase struct {
	g        *keyGame
	all      []rowio.Database
	rnd      *rand.Rand
	plan     *plan.Plan
	before   []keyContents // of all databases
	worlds   []keyContents // the same, as it is declared what comes
	merged   keyContents
	mappable bool
	reasons  []string // codes of refusals
	seen     keyCompared
	traced   int
	gaps     int
	emptied  int
	cut      int
	tampered map[string]int
}

func (c *keyCase) prove(ctx context.Context) error {
	g := c.g
	for w, d := range c.all {
		if err := g.create(ctx, d, w); err != nil {
			return fmt.Errorf("creating %s: %w", d.Name, err)
		}
		world, err := g.contents(ctx, d)
		if err != nil {
			return err
		}
		c.before = append(c.before, world)
		if w > 0 {
			cut := 0
			world, cut = g.asDeclared(world)
			c.cut += cut
		}
		c.worlds = append(c.worlds, world)
	}
	target, sources := c.all[0], c.all[1:]
	var err error
	if c.plan, err = planner.NewPlan(ctx, target, sources, g.options()); err != nil {
		return err
	}
	if err := c.judgeRefusals(); err != nil || len(c.reasons) > 0 {
		return err
	}
	if _, err := apply.Apply(ctx, c.plan, target, sources, job.Options{}); err != nil {
		return err
	}
	if c.merged, err = g.contents(ctx, target); err != nil {
		return err
	}
	if c.seen, err = g.compareWorlds(c.worlds, c.merged); err != nil {
		return fmt.Errorf("merged: %w\n%v", err, offsetsOf(c.plan))
	}
	if err := c.verified(ctx); err != nil {
		return err
	}
	if c.plan.Rekey != nil {
		if err := c.trace(ctx); err != nil {
			return err
		}
		if err := c.tamper(ctx); err != nil {
			return err
		}
	}
	return c.undo(ctx)
}

// offsetsOf shows what a plan does.
func offsetsOf(p *plan.Plan) string {
	var b strings.Builder
	if p.Rekey != nil {
		for _, s := range p.Rekey.Spaces {
			fmt.Fprintf(&b, "%s (%v, own %v):", s.Name, s.Keys, s.Own)
			for _, of := range s.Sources {
				fmt.Fprintf(&b, " %s + %d of %v", of.Source, of.Offset, of.Values)
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}

// judgeRefusals makes sure that each reason for which the plan is refused is one that
// the oracle knows.
func (c *keyCase) judgeRefusals() error {
	g := c.g
	defect := func(all ...string) bool {
		return slices.ContainsFunc(all, func(d string) bool { return slices.Contains(g.defect, d) })
	}
	room, linked, together, full := g.room()
	guessed := g.auto && (!together || defect("offset")) // keys that nobody named, beside others with other offsets
	heavy, twice := g.heavy(), g.twice()
	c.mappable = len(g.limits) == 0 && room && !linked && !full && !heavy && !twice && !guessed && !g.covered() && !slices.ContainsFunc(g.defect, func(d string) bool { return d != "middle" })
	all := make(map[string]bool)
	for _, r := range c.plan.Refusals {
		all[r.Code] = true
	}
	for _, r := range c.plan.Refusals {
		known := false
		switch r.Code {
		case verdict.CodeKeySpace:
			known = !room || linked || defect("middle", "offset", "one to one")
		case verdict.CodeKeyNobody:
			known = heavy || defect("sentinel")
		case verdict.CodeReferenceNone:
			known = g.covered() || defect("middle")
		case verdict.CodeKeyUndeclared:
			known = guessed || defect("natural", "forgotten", "one to one")
		case verdict.CodeKeyCounter, verdict.CodeReferenceUndeclared:
			known = defect("plain", "others", "forgotten", "natural", "named and excluded", "one to one")
		case verdict.CodeKeyCollision, verdict.CodeUniqueCollision, verdict.CodeReferenceRebind, verdict.CodeReferenceAmbiguous, verdict.CodeReferenceDangle, verdict.CodeAutoIncrement, "":
			known = defect("forgotten", "named and excluded", "one to one") || twice && r.Code != ""
		}
		// Without offsets the keys collide, and everything that follows from it.
		known = known || all[verdict.CodeKeySpace] && r.Code != verdict.CodeKeySpace && r.Code != verdict.CodeKeyNobody
		if strings.Contains(r.Reason, "it has no key, and only some values") && slices.Contains(g.limits, r.Table) {
			known = true // a limit
			r.Code = "(no key)"
		}
		if strings.Contains(r.Reason, "would be counted on") {
			known = full
			r.Code = "(counter)"
		}
		if strings.Contains(r.Reason, "only some of its values move") {
			known = true // a limit: rows that do not keep their order are not compared
			r.Code += " (order)"
		}
		if !known {
			return fmt.Errorf("refused, and the oracle knows no reason: %v; room %v, linked %v, heavy %v, twice %v\n%v", r, room, linked, heavy, twice, c.plan.Refusals)
		}
		if !slices.Contains(c.reasons, r.Code) {
			c.reasons = append(c.reasons, r.Code)
		}
	}
	return nil
}

// verified makes sure that the proof says PASS, in all its parts.
func (c *keyCase) verified(ctx context.Context) error {
	proof, err := prove.Verify(ctx, c.plan, c.all[0], c.all[1:], job.Options{})
	if err != nil {
		return err
	}
	if proof.Verdict != verdict.Pass {
		return fmt.Errorf("verify says %s: %+v %+v\n%v", proof.Verdict, proof.Keys, proof.Findings, offsetsOf(c.plan))
	}
	if c.plan.Rekey != nil {
		if len(proof.Keys) != 6 {
			return fmt.Errorf("the proof has %d parts, want 6: %+v", len(proof.Keys), proof.Keys)
		}
		for _, part := range proof.Keys {
			if part.Verdict != verdict.Pass || part.Wrong > 0 {
				return fmt.Errorf("%+v, and the verdict is PASS", part)
			}
		}
	}
	return nil
}

// integerOf reads a number as the tests ask for it.
func integerOf(v string) rekey.Integer {
	n, ok := rekey.ParseInteger([]byte(v))
	if !ok {
		panic(v)
	}
	return n
}

// spaceTables are the tables whose keys have moved.
func (c *keyCase) spaceTables() (all []*keyTable) {
	for _, t := range c.g.tables {
		if t.form == surrogateKey && !t.excluded {
			all = append(all, t)
		}
	}
	return all
}

// trace asks the memory of keys for some that came, some that were there, some that the
// worlds did not have, and some that the game makes now.
func (c *keyCase) trace(ctx context.Context) error {
	target := c.all[0]
	none := func(way []ledger.Origin, err error, format string, args ...any) error {
		if err != nil || len(way) > 0 {
			return fmt.Errorf("%s: %v, %v, want nothing", fmt.Sprintf(format, args...), way, err)
		}
		return nil
	}
	for _, t := range c.spaceTables() {
		for w := 1; w < c.g.worlds; w++ {
			for _, tag := range some(c.rnd, 1, c.worlds[w][t.name]) {
				old, now := c.worlds[w][t.name][tag]["id"], c.merged[t.name][tag]["id"]
				for what, way := range map[string]func() ([]ledger.Origin, error){
					"whois": func() ([]ledger.Origin, error) { return ledger.Whois(ctx, target, t.name, integerOf(now)) },
					"whereis": func() ([]ledger.Origin, error) {
						return ledger.Whereis(ctx, target, worldNamed(w), t.name, integerOf(old))
					},
				} {
					got, err := way()
					if err != nil {
						return fmt.Errorf("%s of %s: %w", what, tag, err)
					}
					if len(got) != 1 || got[0].Source != worldNamed(w) || got[0].Table != t.name || got[0].Old != integerOf(old) || got[0].New != integerOf(now) || got[0].Merge != c.plan.ID || got[0].Undone {
						return fmt.Errorf("%s of %s, which was %s and is %s: %+v", what, tag, old, now, got)
					}
					c.traced++
				}
			}
			for _, v := range t.gone[w][:min(1, len(t.gone[w]))] {
				way, err := ledger.Whereis(ctx, target, worldNamed(w), t.name, integerOf(v))
				if err := none(way, err, "whereis %s of %s, which no row of w%d has", v, t.name, w); err != nil {
					return err
				}
			}
		}
		for _, tag := range some(c.rnd, 1, c.worlds[0][t.name]) {
			key := c.merged[t.name][tag]["id"]
			way, err := ledger.Whois(ctx, target, t.name, integerOf(key))
			if err := none(way, err, "whois %s of %s, which is the target's own", key, t.name); err != nil {
				return err
			}
		}
	}
	t, key := c.gap()
	if t == nil {
		return nil
	}
	way, err := ledger.Whois(ctx, target, t.name, integerOf(key))
	if err := none(way, err, "whois %s of %s, in a gap", key, t.name); err != nil {
		return err
	}
	c.gaps++
	return nil
}

// some returns some of the tags.
func some(rnd *rand.Rand, n int, rows map[string]keyRow) []string {
	all := slices.Sorted(maps.Keys(rows))
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// gap returns a table and a key in it that lies between keys which came from a world,
// and is none; nil if there is none.
func (c *keyCase) gap() (*keyTable, string) {
	for _, t := range c.spaceTables() {
		if len(t.uniques) > 0 || len(c.worlds[0][t.name]) == 0 {
			continue
		}
		for w := 1; w < c.g.worlds; w++ {
			by := c.offset(t, w)
			if by == nil || by.Sign() == 0 {
				continue
			}
			came := numberSpan{}
			for _, row := range c.worlds[w][t.name] {
				came.add(row["id"])
			}
			first, last := came.low, came.high
			for _, v := range t.gone[w] {
				if n := number10(v); first.Cmp(n) < 0 && n.Cmp(last) < 0 {
					return t, n.Add(n, by).String()
				}
			}
		}
	}
	return nil, ""
}

func number10(v string) *big.Int { n, _ := new(big.Int).SetString(v, 10); return n }

// offset is what was added to the keys of a table of a world, as its rows tell.
func (c *keyCase) offset(t *keyTable, w int) *big.Int {
	for tag, row := range c.worlds[w][t.name] {
		return new(big.Int).Sub(number10(c.merged[t.name][tag]["id"]), number10(row["id"]))
	}
	return nil
}

// undo takes the merge back, after the game has made a row in a gap.
func (c *keyCase) undo(ctx context.Context) error {
	g, target := c.g, c.all[0]
	want := maps.Clone(c.worlds[0])
	if c.plan.Rekey != nil {
		if t, key := c.gap(); t != nil {
			var names, values []string
			tag := some(c.rnd, 1, c.worlds[0][t.name])[0]
			for _, column := range t.columns {
				names = append(names, column.name)
				switch column.name {
				case "id":
					values = append(values, key)
				case "tag":
					values = append(values, "'later'")
				default:
					values = append(values, column.name)
				}
			}
			err := execPlainly(ctx, target, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %[1]s WHERE tag = '%[4]s'", t.name, strings.Join(names, ", "), strings.Join(values, ", "), tag))
			if err != nil {
				return err
			}
			want[t.name] = maps.Clone(want[t.name])
			row := maps.Clone(want[t.name][tag])
			row["id"], row["tag"] = key, "later"
			want[t.name]["later"] = row
		}
	}
	for _, t := range g.tables {
		if !t.reset {
			continue
		}
		if len(want[t.name]) > 0 {
			c.emptied++
		}
		statement, row := g.later(t)
		if statement == "" {
			continue
		}
		if err := execPlainly(ctx, target, statement); err != nil {
			return err
		}
		want[t.name] = maps.Clone(want[t.name])
		want[t.name]["later"] = row
	}
	if _, err := undo.Undo(ctx, c.plan, target, c.all[1:], undo.UndoOptions{}); err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	now, err := g.contents(ctx, target)
	if err != nil {
		return err
	}
	if err := g.sameContents(want, now); err != nil {
		return fmt.Errorf("after the undo: %w", err)
	}
	for w, d := range c.all[1:] {
		now, err := g.contents(ctx, d)
		if err != nil {
			return err
		}
		if err := g.sameContents(c.before[w+1], now); err != nil {
			return fmt.Errorf("the source %s was changed: %w", d.Name, err)
		}
	}
	return nil
}

// later is a row that the game makes in a table that was emptied, with a key that none of
// the rows had; "" if the table has no such key.
func (g *keyGame) later(t *keyTable) (statement string, row keyRow) {
	if len(t.rows[0]) == 0 || t.form != surrogateKey && t.form != noKeyAtAll {
		return "", nil
	}
	row = maps.Clone(t.rows[0][0])
	row["tag"] = "later"
	for _, unique := range t.uniques {
		delete(row, unique)
	}
	if t.form == surrogateKey {
		largest := numberSpan{}
		for _, other := range t.rows[0] {
			largest.add(other["id"])
		}
		if largest.high.Cmp(t.columns[0].most) >= 0 {
			return "", nil
		}
		row["id"] = largest.high.Add(largest.high, big.NewInt(1)).String()
	}
	var names, values []string
	for name, v := range row {
		names, values = append(names, name), append(values, "'"+v+"'")
	}
	return "INSERT INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")", row
}

func execPlainly(ctx context.Context, d rowio.Database, statements ...string) error {
	db, err := openPlainly(d)
	if err != nil {
		return err
	}
	defer db.Close()
	if strings.HasPrefix(d.DSN, "mysql:") {
		statements = slices.Insert(slices.Clone(statements), 0, "SET SESSION foreign_key_checks = 0")
	}
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// tampering is a change of the merged target that the proof has to find.
type tampering struct {
	name     string
	do, back []string
	parts    []string // that say FAIL
}

var tamperings = []string{"shifted twice", "a dangling reference hits", "the target's dangling reference hits", "two sources' offsets swapped", "a key among another's", "the memory is changed", "a row that came is changed", "an own row is changed"}

// tamper changes the merged target in one of the ways, and makes sure that the proof
// finds it.
func (c *keyCase) tamper(ctx context.Context) error {
	if c.rnd.IntN(2) > 0 {
		return nil
	}
	var all []tampering
	for _, name := range tamperings {
		if t := c.tampering(name); t != nil {
			t.name = name
			all = append(all, *t)
		}
	}
	if len(all) == 0 {
		return nil
	}
	t := all[c.rnd.IntN(len(all))]
	if err := execPlainly(ctx, c.all[0], t.do...); err != nil {
		return err
	}
	proof, err := prove.Verify(ctx, c.plan, c.all[0], c.all[1:], job.Options{})
	if err != nil {
		return fmt.Errorf("verify after %q: %w", t.name, err)
	}
	for _, want := range t.parts {
		i := slices.IndexFunc(proof.Keys, func(k evidence.KeyProof) bool { return k.Part == want })
		if i < 0 || proof.Keys[i].Verdict != verdict.Fail || proof.Keys[i].Wrong == 0 || proof.Verdict != verdict.Fail {
			return fmt.Errorf("%s (%q): verify says %s, and of %q: %+v\n%v", t.name, t.do, proof.Verdict, want, proof.Keys, offsetsOf(c.plan))
		}
	}
	c.tampered[t.name]++
	return execPlainly(ctx, c.all[0], t.back...)
}

// tamperedValue is a value of a row that came.
type tamperedValue struct {
	t       *keyTable
	column  *keyColumn
	r       *keyReference
	w       int
	tag     string
	old     string
	now     string
	what    string
	by      *big.Int
	leads   bool
	nowhere bool
}

// values are the values of references of the rows of a world, in columns that are no key.
func (c *keyCase) values(w int, wanted func(v tamperedValue) bool) (all []tamperedValue) {
	before := c.g.byKey(c.worlds[w])
	for _, t := range c.g.tables {
		if t.excluded || t.same || c.plan.Table(t.name) == nil {
			continue
		}
		for _, tag := range slices.Sorted(maps.Keys(c.worlds[w][t.name])) {
			row := c.worlds[w][t.name][tag]
			for _, column := range t.columns {
				r := column.of(row)
				if r == nil || row[column.name] == "" || slices.Contains(t.key, column.name) || slices.Contains(t.uniques, column.name) || column.forgotten {
					continue
				}
				v := tamperedValue{t: t, column: column, r: r, w: w, tag: tag, old: row[column.name], now: c.merged[t.name][tag][column.name]}
				v.what, _ = c.g.meaning(before, column, row)
				v.leads, v.nowhere = strings.HasPrefix(v.what, "->"), v.what == "nowhere"
				v.by = new(big.Int).Sub(number10(v.now), number10(v.old))
				if wanted(v) {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// set is the statement that gives the value to the row.
func (v *tamperedValue) set(to string) string {
	return fmt.Sprintf("UPDATE %s SET %s = %s WHERE tag = '%s'", v.t.name, v.column.name, to, v.tag)
}

func (v *tamperedValue) fits(n *big.Int) bool {
	return n.Cmp(v.column.most) <= 0 && (v.column.signed || n.Sign() >= 0)
}

// sharesSpace reports whether the keys of a table are in a space with those of others: what
// names one of these leads somewhere as well.
func (g *keyGame) sharesSpace(t *keyTable) bool {
	return slices.ContainsFunc(g.spaces, func(s keyGameSpace) bool { return len(s.keys) > 1 && slices.Contains(s.keys, t) })
}

// tampering makes one; nil if the game has nothing for it.
func (c *keyCase) tampering(name string) *tampering {
	g := c.g
	w := 1 + c.rnd.IntN(g.worlds-1)
	oneOf := func(all []tamperedValue) *tamperedValue {
		if len(all) == 0 {
			return nil
		}
		return &all[c.rnd.IntN(len(all))]
	}
	moved := func(v tamperedValue) bool { return v.by.Sign() != 0 }
	switch name {
	case "shifted twice":
		v := oneOf(c.values(w, func(v tamperedValue) bool {
			return moved(v) && v.fits(new(big.Int).Add(number10(v.now), v.by))
		}))
		if v == nil {
			return nil
		}
		to := new(big.Int).Add(number10(v.now), v.by).String()
		parts := []string{evidence.PartImages}
		row := maps.Clone(c.merged[v.t.name][v.tag])
		row[v.column.name] = to
		counted := !slices.ContainsFunc(v.r.to, func(to *keyTable) bool { return to.form != surrogateKey || g.sharesSpace(to) })
		if is, _ := g.meaning(g.byKey(c.merged), v.column, row); v.leads && is == "nowhere" && counted {
			parts = append(parts, evidence.PartReferences)
		}
		return &tampering{do: []string{v.set(to)}, back: []string{v.set(v.now)}, parts: parts}
	case "a dangling reference hits", "the target's dangling reference hits":
		part := evidence.PartImages
		if strings.HasPrefix(name, "the target's") {
			w, part = 0, evidence.PartOwn
		}
		v := oneOf(c.values(w, func(v tamperedValue) bool {
			return v.nowhere && (w == 0 || moved(v)) && len(v.r.to) == 1 && v.r.to[0].form == surrogateKey && !v.r.to[0].excluded && len(c.worlds[w][v.r.to[0].name]) > 0 && !g.sharesSpace(v.r.to[0])
		}))
		if v == nil {
			return nil
		}
		tag := some(c.rnd, 1, c.worlds[w][v.r.to[0].name])[0]
		to := c.merged[v.r.to[0].name][tag]["id"]
		if !v.fits(number10(to)) || v.r.nobody(to) {
			return nil
		}
		return &tampering{do: []string{v.set(to)}, back: []string{v.set(v.now)}, parts: []string{part, evidence.PartReferences}}
	case "two sources' offsets swapped":
		if g.worlds < 3 {
			return nil
		}
		a, b := c.values(1, moved), c.values(2, moved)
		for _, x := range a {
			for _, y := range b {
				if x.t != y.t || x.column != y.column || x.r.is != y.r.is || x.by.Cmp(y.by) == 0 {
					continue
				}
				xTo, yTo := new(big.Int).Add(number10(x.old), y.by), new(big.Int).Add(number10(y.old), x.by)
				if x.fits(xTo) && y.fits(yTo) {
					return &tampering{do: []string{x.set(xTo.String()), y.set(yTo.String())}, back: []string{x.set(x.now), y.set(y.now)}, parts: []string{evidence.PartImages}}
				}
			}
		}
		return nil
	case "a key among another's":
		t, key := c.gap()
		if t == nil || c.plan.Table(t.name) == nil {
			return nil
		}
		tag := some(c.rnd, 1, c.worlds[0][t.name])[0]
		set := func(v string) []string {
			return []string{fmt.Sprintf("UPDATE %s SET id = %s WHERE tag = '%s'", t.name, v, tag)}
		}
		return &tampering{do: set(key), back: set(c.merged[t.name][tag]["id"]), parts: []string{evidence.PartDisjoint, evidence.PartImages, evidence.PartOwn}}
	case "the memory is changed":
		if !slices.ContainsFunc(c.spaceTables(), func(t *keyTable) bool {
			return slices.ContainsFunc(c.worlds[1:], func(world keyContents) bool { return len(world[t.name]) > 0 })
		}) {
			return nil
		}
		return &tampering{do: []string{"UPDATE " + ledger.KeysTable + " SET shift = shift + 1"}, back: []string{"UPDATE " + ledger.KeysTable + " SET shift = shift - 1"}, parts: []string{evidence.PartInjective}}
	case "a row that came is changed", "an own row is changed":
		part := evidence.PartImages
		if w == 0 || strings.HasPrefix(name, "an own") {
			w, part = 0, evidence.PartOwn
		}
		for _, t := range g.tables {
			for _, tag := range some(c.rnd, 1, c.worlds[w][t.name]) {
				if t.excluded || t.same || c.plan.Table(t.name) == nil || w > 0 && (t.form != surrogateKey || c.offset(t, w).Sign() == 0) {
					continue
				}
				set := func(from, to string) []string {
					return []string{fmt.Sprintf("UPDATE %s SET tag = '%s' WHERE tag = '%s'", t.name, to, from)}
				}
				return &tampering{do: set(tag, tag+"x"), back: set(tag+"x", tag), parts: []string{part}}
			}
		}
	}
	return nil
}
