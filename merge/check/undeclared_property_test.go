package check_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Worlds of any schema, whose references are declared in part, are merged for real.
// Where the check says PASS, every row means what it meant before; and what it counts
// in an open column is what SQL counts. More cases: -rapid.checks=5000.
func TestMergedRowsMeanWhatTheyMeant(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		seen := new(tally)
		rapid.Check(t, func(t *rapid.T) {
			dir, err := os.MkdirTemp("", "mergesafe")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			g := drawGame(t, "sqlite")
			w := sqliteWorlds(t, dir, g.worlds)
			defer w.close()
			g.prove(t, w, seen)
		})
		seen.enough(t)
	})
	t.Run("server", func(t *testing.T) {
		dsns := serverDatabases(t, maxWorlds)
		seen := new(tally)
		draw := rapid.Custom(func(t *rapid.T) *drawnGame { return drawGame(t, "mysql") })
		for seed := range servertest.Scale(12, 40) {
			g := draw.Example(seed)
			w := serverWorlds(t, dsns, g.worlds)
			g.prove(t, w, seen)
			w.close()
		}
		t.Log(seen)
	})
}

// tally counts what the cases of a property had to prove.
type tally struct{ cases, pass, notVerified, open, changed, values, plain int }

func (s *tally) String() string { return fmt.Sprintf("%+v", *s) }

// enough makes sure that the property was not true for want of cases.
func (s *tally) enough(t *testing.T) {
	t.Log(s)
	if testing.Short() {
		return // a fifth of the cases, which can lack one kind
	}
	if s.pass == 0 || s.notVerified == 0 || s.open == 0 || s.changed == 0 || s.values == 0 || s.plain == 0 {
		t.Errorf("the cases prove too little: %v", s)
	}
}

const maxWorlds = 4

// drawnGame is a game, and its worlds.
type drawnGame struct {
	worlds  int
	tables  []*drawnTable
	skipped string // a table; "" none
	opts    rules.Options
	mysql   bool
}

type drawnTable struct {
	name    string
	columns []*drawnColumn
	key     []string
	form    keyForm
	keys    [][]any // of each world, those of the first column, where it is no reference
	gone    [][]any // of each world, keys that no row has
	rows    [][]map[string]any
	toOne   *drawnTable // whose rows those of this one belong to
}

type keyForm int

const (
	integerKey keyForm = iota
	textKey
	idKey
	uuidKey
	compositeKey // an integer and a place
	oneToOneKey  // an integer key of another table
	keyForms
)

type drawnColumn struct {
	name, sqlType string
	nullable      bool
	class         string       // of its values: int, text, id
	to            *drawnTable  // what its values name; nil: nothing
	tokens        bool         // among other words
	when          *drawnColumn // only in rows that have 1 there
	none          bool         // 0 names nothing
	declared      string       // reference, plain, shared; "" nothing
	others        bool         // declared plain in the other rows
	inside        [][][]any    // of each world and row, what it names inside its text
	danger        bool
	nocase        bool
}

// drawGame draws a schema and rows for it.
func drawGame(t *rapid.T, kind string) *drawnGame {
	g := &drawnGame{worlds: rapid.IntRange(2, maxWorlds).Draw(t, "worlds"), mysql: kind == "mysql"}
	nocase := rapid.Bool().Draw(t, "nocase")
	for i := range rapid.IntRange(1, 6).Draw(t, "tables") {
		g.drawTable(t, i, nocase)
	}
	for i, table := range g.tables {
		for j := range rapid.IntRange(0, 4).Draw(t, "columns") {
			g.drawColumn(t, i, table, fmt.Sprint("c", j), nocase)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "skip") == 0 {
		g.skipped = rapid.SampledFrom(g.tables).Draw(t, "skipped").name
	}
	for _, table := range g.tables {
		g.drawRows(t, table)
	}
	g.declare()
	return g
}

// drawTable draws a table with its key, and which keys each world has and had.
func (g *drawnGame) drawTable(t *rapid.T, i int, nocase bool) {
	table := &drawnTable{name: fmt.Sprint("t", i), rows: make([][]map[string]any, g.worlds)}
	table.form = keyForm(rapid.IntRange(0, int(keyForms)-1).Draw(t, "key"))
	if table.form == oneToOneKey {
		table.toOne = g.anyTable(t, integerKey)
		if table.toOne == nil {
			table.form = integerKey
		}
	}
	key := &drawnColumn{name: "id", class: "int", sqlType: "INTEGER"}
	if g.mysql {
		key.sqlType = rapid.SampledFrom([]string{"BIGINT", "BIGINT UNSIGNED", "INT", "INT UNSIGNED"}).Draw(t, "type")
	}
	table.key = []string{"id"}
	place := &drawnColumn{name: "place", class: "int", sqlType: "INTEGER"}
	switch table.form {
	case textKey:
		key.class, key.sqlType, key.nocase = "text", g.textType(nocase), nocase
	case uuidKey:
		key.class, key.sqlType = "text", g.textType(false)
	case idKey:
		key.class, key.sqlType = "id", "BLOB"
		if g.mysql {
			key.sqlType = "BINARY(10)"
		}
	case compositeKey:
		table.key = []string{"id", "place"}
	case oneToOneKey:
		key.to, key.sqlType = table.toOne, table.toOne.columns[0].sqlType
		key.declared = rapid.SampledFrom([]string{"", "reference"}).Draw(t, "declared")
		key.danger = rapid.IntRange(0, 3).Draw(t, "danger") == 0
	}
	table.columns = append(table.columns, key)
	if table.form == compositeKey {
		if rapid.Bool().Draw(t, "place is shared") {
			place.declared = "shared"
		}
		table.columns = append(table.columns, place)
	}
	spread := rapid.Bool().Draw(t, "interleaved")
	base := rapid.SampledFrom([]int64{0, 0, 5, 40}).Draw(t, "base")
	turned := rapid.IntRange(0, g.worlds-1).Draw(t, "turned") * rapid.IntRange(0, 1).Draw(t, "turns")
	shift := rapid.SampledFrom([]uint{0, 0, 0, 22}).Draw(t, "shift")
	negative := rapid.IntRange(0, 7).Draw(t, "negative") == 0 && !strings.Contains(key.sqlType, "UNSIGNED")
	if !strings.HasPrefix(key.sqlType, "BIGINT") && key.sqlType != "INTEGER" {
		shift = 0
	}
	huge := key.sqlType == "BIGINT UNSIGNED" && shift == 0 && rapid.IntRange(0, 3).Draw(t, "huge") == 0
	oneServer := rapid.IntRange(0, 3).Draw(t, "one server") == 0
	table.keys, table.gone = make([][]any, g.worlds), make([][]any, g.worlds)
	for w := range g.worlds {
		for k := range int64(10) {
			range_ := int64((w + turned) % g.worlds)
			n := base + range_*100 + k + 1
			if spread {
				n = base + k*int64(g.worlds) + range_ + 1
			}
			var v any
			switch table.form {
			case textKey:
				v = []string{"korn", "Mist", "rost", "Lynx"}[k%4] + fmt.Sprint(k) + string(rune('p'+w))
			case uuidKey:
				v = fmt.Sprintf("%08x-1111-4222-8333-%012x", 0xabc00000+n, i)
			case idKey:
				server := gameid.ServerID(w + 1)
				if oneServer {
					server = 9
				}
				made := idAt(server, n*1000, uint16(i)).Bytes()
				v = made[:]
			default:
				n <<= shift
				if negative {
					n = -n
				}
				v = n
				if huge {
					v = uint64(n) | 1<<63
				}
			}
			if rapid.IntRange(0, 2).Draw(t, "alive") > 0 {
				table.keys[w] = append(table.keys[w], v)
			} else {
				table.gone[w] = append(table.gone[w], v)
			}
		}
	}
	g.tables = append(g.tables, table)
}

func (g *drawnGame) textType(nocase bool) string {
	switch {
	case g.mysql && nocase:
		return "VARCHAR(250) COLLATE utf8mb4_general_ci"
	case g.mysql:
		return "VARCHAR(250) COLLATE utf8mb4_bin"
	case nocase:
		return "TEXT COLLATE NOCASE"
	default:
		return "TEXT"
	}
}

// anyTable draws a table with a key of one of these forms; nil if there is none.
func (g *drawnGame) anyTable(t *rapid.T, forms ...keyForm) *drawnTable {
	var all []*drawnTable
	for _, table := range g.tables {
		if slices.Contains(forms, table.form) {
			all = append(all, table)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return rapid.SampledFrom(all).Draw(t, "to")
}

// drawColumn draws a further column of a table: one that names rows, or one that names
// nothing.
func (g *drawnGame) drawColumn(t *rapid.T, i int, table *drawnTable, name string, nocase bool) {
	c := &drawnColumn{name: name, nullable: rapid.Bool().Draw(t, "nullable"), danger: rapid.IntRange(0, 3).Draw(t, "danger") == 0}
	switch rapid.IntRange(0, 6).Draw(t, "column") {
	case 0, 1:
		c.class, c.to = "int", g.anyTable(t, integerKey, oneToOneKey)
		c.none = rapid.Bool().Draw(t, "none")
	case 2:
		c.class, c.to, c.nocase = "text", g.anyTable(t, textKey), nocase
	case 3:
		c.class, c.to = "id", g.anyTable(t, idKey)
	case 4:
		c.class, c.to, c.nocase = "text", g.anyTable(t, integerKey, textKey, idKey, uuidKey), nocase
		c.tokens = true
	case 5:
		c.class = "int"
	default:
		c.class = "text"
	}
	switch c.class {
	case "int":
		c.sqlType = "INTEGER"
		if g.mysql {
			c.sqlType = rapid.SampledFrom([]string{"BIGINT", "DECIMAL(20,0)", "DECIMAL(24,2)"}).Draw(t, "type")
			if c.to != nil && c.to.columns[0].sqlType == "BIGINT UNSIGNED" || c.to != nil && c.to.toOne != nil {
				c.sqlType = "DECIMAL(24,0)"
			}
		}
	case "text":
		c.sqlType = g.textType(c.nocase)
	case "id":
		if c.sqlType = "BLOB"; g.mysql {
			c.sqlType = "BINARY(10)"
		}
		c.nullable = true
	}
	if c.to != nil && !c.tokens && rapid.IntRange(0, 3).Draw(t, "has when") == 0 {
		c.when = &drawnColumn{name: name + "kind", class: "int", sqlType: "INTEGER", declared: "plain"}
		table.columns = append(table.columns, c.when)
		c.others = rapid.Bool().Draw(t, "others")
	}
	declared := rapid.IntRange(0, 1).Draw(t, "declared") == 1
	switch {
	case !declared || c.tokens:
	case c.to != nil && !strings.HasPrefix(c.sqlType, "DECIMAL"): // a foreign key cannot either
		c.declared = "reference"
	case c.to == nil:
		c.declared = rapid.SampledFrom([]string{"plain", "shared"}).Draw(t, "as")
	}
	table.columns = append(table.columns, c)
}

// drawRows draws the rows of a table in all worlds.
func (g *drawnGame) drawRows(t *rapid.T, table *drawnTable) {
	for _, c := range table.columns {
		c.inside = make([][][]any, g.worlds)
	}
	taken := make(map[any]bool)
	for w := range g.worlds {
		keys := table.keys[w]
		if table.toOne != nil {
			keys = nil
			for _, k := range g.known(table.columns[0], w) {
				if !taken[k] && rapid.Bool().Draw(t, "has one") {
					keys, taken[k] = append(keys, k), true
				}
			}
		}
		for k, key := range keys {
			row := map[string]any{"id": key}
			if table.form == compositeKey && k > 0 && rapid.Bool().Draw(t, "same") {
				row["id"] = keys[k-1]
			}
			for _, c := range table.columns[1:] {
				var inside []any
				row[c.name], inside = g.value(t, c, w, row, k)
				c.inside[w] = append(c.inside[w], inside)
			}
			table.rows[w] = append(table.rows[w], row)
		}
	}
}

// known are the keys that a column may name in a world: its own, some that are gone
// and, if it is dangerous, those of others.
func (g *drawnGame) known(c *drawnColumn, w int) []any {
	to := c.to
	for to.toOne != nil {
		to = to.toOne
	}
	keys := slices.Concat(to.keys[w], to.gone[w])
	if c.danger {
		keys = append(keys, to.keys[(w+1)%g.worlds]...)
	}
	return keys
}

// value draws the value of a column, and what it names inside it.
func (g *drawnGame) value(t *rapid.T, c *drawnColumn, w int, row map[string]any, k int) (v any, inside []any) {
	if c.name == "place" {
		return int64(k), nil
	}
	if strings.HasSuffix(c.name, "kind") {
		return int64(rapid.IntRange(0, 1).Draw(t, "kind")), nil
	}
	if c.nullable && rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return nil, nil
	}
	names := c.to != nil && (c.when == nil || row[c.when.name] == int64(1))
	known := []any(nil)
	if names {
		if known = g.known(c, w); len(known) == 0 {
			names = false
		}
	}
	pick := func() any { return rapid.SampledFrom(known).Draw(t, "value") }
	switch {
	case c.tokens:
		words := []string{rapid.SampledFrom([]string{"you have", "{\"x\":", "", "hello,", "0"}).Draw(t, "words")}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			if names && rapid.IntRange(0, 3).Draw(t, "part") > 0 {
				v := pick()
				if n, ok := v.(int64); ok && n < 0 {
					continue // a sign is no part of a token
				}
				inside = append(inside, v)
				words = append(words, g.written(t, v))
			} else {
				words = append(words, rapid.SampledFrom([]string{"gold", "17", "17 1f", "x1", "10.0.0.1", "3.5", "no-one"}).Draw(t, "word"))
			}
		}
		return strings.Join(words, rapid.SampledFrom([]string{" ", ":", "|", ", "}).Draw(t, "between")), inside
	case names:
		v := pick()
		if c.none && rapid.IntRange(0, 4).Draw(t, "is none") == 0 {
			v = int64(0)
		}
		if s, ok := v.(string); ok && c.nocase && rapid.Bool().Draw(t, "upper") {
			v = strings.ToUpper(s)
		}
		return v, nil
	case c.class == "int":
		return rapid.OneOf(rapid.Int64Range(0, 60), rapid.Int64Range(-500, 700), rapid.Int64Range(1e9, 1e9+100)).Draw(t, "number"), nil
	case c.class == "id":
		return nil, nil
	default:
		return rapid.SampledFrom([]string{"", "hello world", "korn", "gh1", "12", "nought for you", "Zorro"}).Draw(t, "text"), nil
	}
}

// written writes a key as it stands inside a text.
func (g *drawnGame) written(t *rapid.T, v any) string {
	switch v := v.(type) {
	case []byte:
		return fmt.Sprintf(rapid.SampledFrom([]string{"%x", "%X", "0x%x"}).Draw(t, "form"), v)
	default:
		return fmt.Sprint(v)
	}
}

// declare writes the declarations.
func (g *drawnGame) declare() {
	var d rules.Declarations
	for _, table := range g.tables {
		for _, c := range table.columns {
			at := table.name + "." + c.name
			switch c.declared {
			case "plain":
				d.Plain = append(d.Plain, at)
			case "shared":
				d.Shared = append(d.Shared, at)
			case "reference":
				r := rules.DeclaredReference{At: []string{at}, To: []string{c.to.name + ".id"}}
				if c.none {
					r.None = []string{"0"}
				}
				if c.when != nil {
					r.When = &rules.When{Column: c.when.name, Is: []string{"1"}}
					if c.others {
						r.Others = rules.OthersPlain
					}
				}
				d.References = append(d.References, r)
			}
		}
	}
	g.opts = rules.Options{Rules: []rules.Declarations{d}, Allow: []string{verdict.CodeReferenceDangle}}
	if g.skipped != "" {
		g.opts.Tables = []rules.TablePolicy{{Tables: []string{g.skipped}, Policy: rules.PolicySkip}}
	}
}

// write makes the tables and their rows.
func (g *drawnGame) write(t fatal, w *sqlWorlds) {
	t.Helper()
	for _, table := range g.tables {
		var parts, names []string
		for _, c := range table.columns {
			part := c.name + " " + c.sqlType
			if !c.nullable {
				part += " NOT NULL"
			}
			parts, names = append(parts, part), append(names, c.name)
		}
		parts = append(parts, "PRIMARY KEY ("+strings.Join(table.key, ", ")+")")
		w.everywhere(t, "CREATE TABLE @."+table.name+" ("+strings.Join(parts, ", ")+")")
		for world, rows := range table.rows {
			var values []any
			for _, row := range rows {
				for _, name := range names {
					v := row[name]
					if n, ok := v.(uint64); ok {
						v = fmt.Sprint(n)
					}
					values = append(values, v)
				}
			}
			if len(rows) > 0 {
				one := "(" + strings.Join(slices.Repeat([]string{"?"}, len(names)), ", ") + ")"
				w.exec(t, "INSERT INTO "+w.in(world, table.name)+" VALUES "+strings.Join(slices.Repeat([]string{one}, len(rows)), ", "), values...)
			}
		}
	}
}

// prove checks the worlds, merges them, and compares.
func (g *drawnGame) prove(t fatal, w *sqlWorlds, seen *tally) {
	t.Helper()
	w.exec(t, "BEGIN")
	g.write(t, w)
	w.exec(t, "COMMIT")
	report := w.check(t, g.opts)
	w.exec(t, "BEGIN")
	for _, table := range g.tables {
		from := []int{0}
		for world := range g.worlds {
			if world != 0 && table.name != g.skipped {
				from = append(from, world)
			}
		}
		w.merge(t, table.name, from...)
	}
	w.exec(t, "COMMIT")
	open := openColumns(report)
	seen.cases++
	switch report.Verdict {
	case verdict.Pass:
		seen.pass++
	case verdict.NotVerified:
		seen.notVerified++
	}
	want, plain, candidates := make(map[string]int64), 0, g.candidates(t, w)
	for _, table := range g.tables {
		if table.name == g.skipped {
			continue
		}
		for _, c := range table.columns {
			at := table.name + "." + c.name
			changed := g.changed(t, w, table, c)
			if changed > 0 {
				seen.changed++
				if report.Verdict == verdict.Pass {
					t.Fatalf("PASS, and %d rows of %s mean others than before\n%s", changed, at, g)
				}
				if c.declared == "" && open[at] == 0 {
					t.Fatalf("%d rows of %s mean others than before, and the column is not open\n%s", changed, at, g)
				}
			}
			if c.declared == "reference" && changed > 0 && !hasResult(report, table.name, c.name) {
				t.Fatalf("%d rows of %s mean others than before, and nothing is found about the reference\n%s", changed, at, g)
			}
			n := g.counted(t, w, candidates, table, c)
			switch {
			case n == 0:
			case c.declared == "plain", c.declared == "shared", c.declared == "reference" && c.others:
				plain++
			default:
				want[at] = n
				seen.open++
				seen.values += int(n)
			}
		}
	}
	for at, n := range open {
		if strings.HasSuffix(at, " as a key") {
			continue
		}
		if n < 0 {
			t.Fatalf("%s is open without a number: %v\n%s", at, resultOf(report, at), g)
		}
	}
	maps.DeleteFunc(open, func(at string, _ int64) bool { return strings.HasSuffix(at, " as a key") })
	if diff := gocmp.Diff(want, open); diff != "" {
		t.Fatalf("open columns and their rows (-SQL +check):\n%s%s", diff, g)
	}
	if report.Plain != plain || len(report.PlainOpen) != plain {
		t.Fatalf("%d columns are said to name nothing and hold keys, %q, want %d\n%s", report.Plain, report.PlainOpen, plain, g)
	}
	seen.plain += plain
}

func hasResult(report *verdict.Report, table, column string) bool {
	return slices.ContainsFunc(report.Results, func(r verdict.Result) bool {
		return r.Table == table && r.Verdict != verdict.Pass && r.Code != verdict.CodeReferenceDangle && slices.Equal(r.Columns, []string{column})
	})
}

func resultOf(report *verdict.Report, at string) (all []verdict.Result) {
	for _, r := range report.Results {
		if r.Code == verdict.CodeReferenceUndeclared && r.Table+"."+r.Subject == at {
			all = append(all, r)
		}
	}
	return all
}

// changed counts the rows of a column, in all worlds, which name another row after the
// merge than before: one that is there where there was none, or the other way round.
// Keys are in one world only, so that a row that is named before and after is the same.
func (g *drawnGame) changed(t fatal, w *sqlWorlds, table *drawnTable, c *drawnColumn) (n int64) {
	t.Helper()
	if c.to == nil {
		return 0
	}
	for world := range g.worlds {
		if c.tokens {
			before, after := g.keySet(t, w, world, c.to), g.keySet(t, w, merged, c.to)
			for _, inside := range c.inside[world] {
				if slices.ContainsFunc(inside, func(v any) bool { k := keyText(v, false); return before[k] != after[k] }) {
					n++
				}
			}
			continue
		}
		has := func(in int) string {
			return "EXISTS (SELECT 1 FROM " + w.in(in, c.to.name) + " AS k WHERE k.id = r." + c.name + ")"
		}
		where := "r." + c.name + " IS NOT NULL"
		if c.when != nil {
			where += " AND r." + c.when.name + " = 1"
		}
		if c.none {
			where += " AND r." + c.name + " <> 0"
		}
		n += w.count(t, "SELECT COUNT(*) FROM "+w.in(world, table.name)+" AS r WHERE "+where+" AND "+has(world)+" <> "+has(merged))
	}
	return n
}

// keySet reads the keys of a table.
func (g *drawnGame) keySet(t fatal, w *sqlWorlds, world int, table *drawnTable) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, k := range w.texts(t, "SELECT id FROM "+w.in(world, table.name)) {
		all[k] = true
	}
	return all
}

// keyText is a key as a text that equals another's where the keys are equal.
func keyText(v any, nocase bool) string {
	s := fmt.Sprint(v)
	if b, ok := v.([]byte); ok {
		s = string(b)
	}
	if nocase {
		s = strings.ToLower(s)
	}
	return s
}

// candidate is a column that others may name.
type candidateOf struct {
	table  *drawnTable
	column *drawnColumn
}

// candidates are the keys that undeclared columns may name: of each key the first
// column or, as long as two worlds have a value of it in common, a further one.
func (g *drawnGame) candidates(t fatal, w *sqlWorlds) (all []candidateOf) {
	t.Helper()
	for _, table := range g.tables {
		for i := range table.key {
			c := table.columns[i]
			if c.declared == "reference" && g.complete(t, w, table, c) {
				break // whoever names its rows names those that it leads to
			}
			if c.declared != "" && c.declared != "reference" {
				continue
			}
			all = append(all, candidateOf{table, c})
			common := int64(0)
			for a := range g.worlds {
				for b := range a {
					common += w.count(t, fmt.Sprintf("SELECT COUNT(*) FROM %s AS x JOIN %s AS y ON x.%s = y.%s", w.in(a, table.name), w.in(b, table.name), c.name, c.name))
				}
			}
			if common == 0 {
				break
			}
		}
	}
	return all
}

// complete reports whether all rows of a reference lead somewhere and are copied.
func (g *drawnGame) complete(t fatal, w *sqlWorlds, table *drawnTable, c *drawnColumn) bool {
	t.Helper()
	for world := range g.worlds {
		dangling := "SELECT COUNT(*) FROM " + w.in(world, table.name) + " AS r WHERE r." + c.name + " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM " +
			w.in(world, c.to.name) + " AS k WHERE k.id = r." + c.name + ")"
		if w.count(t, dangling) > 0 {
			return false
		}
	}
	return !c.none && c.when == nil && table.name != g.skipped && c.to.name != g.skipped
}

// counted counts the rows of a column with a value that, supposed that it is a key,
// names another row after the merge, or none where it named one.
func (g *drawnGame) counted(t fatal, w *sqlWorlds, candidates []candidateOf, table *drawnTable, c *drawnColumn) (n int64) {
	t.Helper()
	if c.declared == "reference" && c.when == nil {
		return 0
	}
	// Nor does a key name what is declared to name it.
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(k candidateOf) bool {
		return k.table == table && k.column == c || k.column.declared == "reference" && k.column.to == table && c == table.columns[0]
	})
	if c.class == "text" {
		return g.countedInTexts(t, w, table, c, candidates)
	}
	for world := range g.worlds {
		var any []string
		for _, k := range candidates {
			if k.column.class != c.class {
				continue
			}
			any = append(any, g.wouldChange(world, k, func(in int) string {
				return "EXISTS (SELECT 1 FROM " + w.in(in, k.table.name) + " AS k WHERE k." + k.column.name + " = r." + c.name + ")"
			}))
		}
		if len(any) == 0 {
			continue
		}
		where := "r." + c.name + " IS NOT NULL"
		if c.declared == "reference" && c.when != nil {
			where += " AND r." + c.when.name + " <> 1"
		}
		n += w.count(t, "SELECT COUNT(*) FROM "+w.in(world, table.name)+" AS r WHERE "+where+" AND ("+strings.Join(any, " OR ")+")")
	}
	return n
}

// wouldChange is the condition under which a value names another row after the merge.
func (g *drawnGame) wouldChange(world int, k candidateOf, has func(world int) string) string {
	left := k.table.name == g.skipped
	var there []string
	for other := range g.worlds {
		if other != world && (!left || other == 0) {
			there = append(there, has(other))
		}
	}
	condition := "0 = 1"
	if len(there) > 0 {
		condition = "NOT " + has(world) + " AND (" + strings.Join(there, " OR ") + ")"
	}
	if left && world != 0 {
		condition = "(" + condition + " OR " + has(world) + ")"
	}
	return condition
}

// countedInTexts takes texts apart by itself.
func (g *drawnGame) countedInTexts(t fatal, w *sqlWorlds, table *drawnTable, c *drawnColumn, candidates []candidateOf) (n int64) {
	t.Helper()
	sets := make(map[candidateOf][]map[string]bool)
	for _, k := range candidates {
		for world := range g.worlds {
			set := make(map[string]bool)
			for _, v := range w.texts(t, "SELECT "+k.column.name+" FROM "+w.in(world, k.table.name)) {
				set[v] = true
			}
			sets[k] = append(sets[k], set)
		}
	}
	hexadecimal := false
	for world := range g.worlds {
		for _, row := range table.rows[world] {
			s, _ := row[c.name].(string)
			for _, p := range partsOf(s) {
				hexadecimal = hexadecimal || len(p) <= 16 && mixedHex.MatchString(p) || strings.HasPrefix(p, "0x") && len(p) <= 18
			}
		}
	}
	for world := range g.worlds {
		for _, row := range table.rows[world] {
			s, ok := row[c.name].(string)
			if !ok || c.declared == "reference" && c.when != nil && row[c.when.name] == int64(1) {
				continue
			}
			if slices.ContainsFunc(candidates, func(k candidateOf) bool {
				readings := readingsOf(s, k.column.class, hexadecimal)
				folds := make(map[string]bool) // inside a text, the case does not count
				for _, r := range readings {
					folds[strings.ToLower(r)] = true
				}
				has := func(in int, reading string) bool {
					if k.column.class != "text" {
						return sets[k][in][reading]
					}
					whole := strings.EqualFold(reading, s)
					for key := range sets[k][in] {
						if whole && !k.column.nocase && key == s || (!whole || k.column.nocase) && strings.EqualFold(key, reading) {
							return true
						}
					}
					return false
				}
				return slices.ContainsFunc(readings, func(r string) bool {
					own, there := has(world, r), false
					for other := range g.worlds {
						there = there || other != world && (k.table.name != g.skipped || other == 0) && has(other, r)
					}
					return !own && there || own && k.table.name == g.skipped && world != 0
				})
			}) {
				n++
			}
		}
	}
	return n
}

var (
	part     = regexp.MustCompile(`\b(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b|(?:[0-9A-Za-z_]|[^\x00-\x7f])+`)
	decimals = regexp.MustCompile(`^[0-9]+$`)
	mixedHex = regexp.MustCompile(`(?i)^([0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]*|[0-9a-f]*[a-f][0-9a-f]*[0-9][0-9a-f]*)$`)
	allHex   = regexp.MustCompile(`(?i)^(0x)?[0-9a-f]{1,16}$`)
	idHex    = regexp.MustCompile(`(?i)^(0x)?[0-9a-f]{20}$`)
	ipv4     = regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+\b`)
)

// partsOf takes a text apart.
func partsOf(s string) (all []string) {
	for _, p := range part.FindAllString(ipv4.ReplaceAllString(s, " "), -1) {
		if len(p) > 16 && mixedHex.MatchString(p) && len(p) != 20 {
			p = "_" + p
		}
		all = append(all, p)
	}
	return all
}

// readingsOf returns what may be a key of a class in a text.
func readingsOf(s, class string, hexadecimal bool) (all []string) {
	for _, p := range partsOf(s) {
		switch class {
		case "int":
			if decimals.MatchString(p) {
				n, _ := new(big.Int).SetString(p, 10)
				all = append(all, n.String())
			}
			if allHex.MatchString(p) && (hexadecimal || strings.HasPrefix(p, "0x")) {
				n, _ := new(big.Int).SetString(strings.TrimPrefix(p, "0x"), 16)
				all = append(all, n.String())
			}
		case "id":
			if idHex.MatchString(p) {
				n, _ := new(big.Int).SetString(strings.TrimPrefix(p, "0x"), 16)
				all = append(all, string(n.FillBytes(make([]byte, 10))))
			}
		case "text":
			all = append(all, p)
		}
	}
	if class == "text" && !slices.Contains(all, s) {
		all = append(all, s)
	}
	return all
}

// String writes the game, to be understood.
func (g *drawnGame) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "skipped %q\n%+v\n", g.skipped, g.opts.Rules)
	for _, table := range g.tables {
		fmt.Fprintf(&b, "%s (%s)", table.name, strings.Join(table.key, ", "))
		for _, c := range table.columns {
			fmt.Fprintf(&b, "\n\t%s %s %s", c.name, c.sqlType, cmp.Or(c.declared, "-"))
			if c.to != nil {
				fmt.Fprintf(&b, " → %s", c.to.name)
			}
			if c.when != nil {
				fmt.Fprintf(&b, " when %s = 1", c.when.name)
			}
		}
		for world, rows := range table.rows {
			for _, row := range rows {
				fmt.Fprintf(&b, "\n\t%s %v", worldName(world), row)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
