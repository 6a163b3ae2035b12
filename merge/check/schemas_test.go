package check_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Whatever the schema and whatever the rows, what collides, dangles or changes
// its meaning is found exactly as by a slow and obvious look at everything.
func TestAnySchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, opts := drawSchema(t)
		dbs := drawDatabases(t, schema)
		opts.Clock = func() time.Time { return now }
		report := checked(t, sources(dbs...), opts)
		matchesLook(t, report, dbs, opts)
	})
}

// matchesLook makes sure that a check found what a slow look at everything finds, and returns that.
func matchesLook(t fatal, report *verdict.Report, dbs []*mergetest.Database, opts rules.Options) map[string]int64 {
	t.Helper()
	o := oracle{dbs, opts, make(map[string]int64), make(map[string]bool)}
	o.look()
	got := make(map[string]int64)
	for k, n := range findings(report) {
		if code, _, _ := strings.Cut(k, "|"); slices.Contains(dataCodes, code) {
			got[k] = n
		}
	}
	if diff := cmp.Diff(o.found, got); diff != "" {
		t.Fatalf("findings differ (-reference +Check):\n%s", diff)
	}
	for _, r := range report.Results {
		if o.unclear[key(r.Code, r.Table, r.Subject)] && r.Verdict == verdict.Pass {
			t.Fatalf("passed without a look at everything: %+v", r)
		}
	}
	return got
}

var dataCodes = []string{
	verdict.CodeKeyCollision, verdict.CodeUniqueCollision, verdict.CodeReferenceRebind, verdict.CodeReferenceAmbiguous, verdict.CodeReferenceDangle, verdict.CodeAccountOverflow,
}

// drawSchema makes a schema of a few tables with keys of all types, and what
// the operator declares beyond it.
func drawSchema(t *rapid.T) (catalog.Catalog, rules.Options) {
	c := catalog.Catalog{Engine: "memory", Now: now}
	var opts rules.Options
	for i := range rapid.IntRange(1, 3).Draw(t, "tables") {
		table := catalog.Table{Name: fmt.Sprintf("t%d", i)}
		for j := range rapid.IntRange(1, 3).Draw(t, "columns") {
			col := catalog.Column{Name: fmt.Sprintf("c%d", j), Nullable: rapid.Bool().Draw(t, "nullable")}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				col.Kind, col.Type = catalog.KindInteger, rapid.SampledFrom([]string{"INT", "BIGINT"}).Draw(t, "type")
			case 1:
				col.Kind, col.Type = catalog.KindBytes, "BLOB"
			default:
				col.Kind, col.Type = catalog.KindText, "TEXT"
				col.Collation = rapid.SampledFrom([]string{mergetest.Binary, mergetest.NoCase}).Draw(t, "collation")
			}
			table.Columns = append(table.Columns, col)
		}
		some := func(label string, most int) (names []string) {
			for _, n := range rapid.Permutation(table.Columns).Draw(t, label)[:rapid.IntRange(0, min(most, len(table.Columns))).Draw(t, label+" length")] {
				names = append(names, n.Name)
			}
			return names
		}
		table.Primary = some("primary", 3)
		for j := range table.Columns {
			if slices.Contains(table.Primary, table.Columns[j].Name) {
				table.Columns[j].Nullable = false
			}
		}
		for n := range rapid.IntRange(0, 2).Draw(t, "uniques") {
			if u := some("unique", 2); len(u) > 0 && !slices.Equal(u, table.Primary) {
				table.Uniques = append(table.Uniques, catalog.Unique{Name: fmt.Sprint("u", n), Columns: u})
			}
		}
		if u := some("declared unique", 2); len(u) > 0 {
			opts.Uniques = append(opts.Uniques, rules.DeclaredUnique{Table: table.Name, Columns: u})
		}
		if a := some("account", 1); len(a) > 0 {
			opts.Accounts = append(opts.Accounts, rules.AccountColumn{Table: table.Name, Column: a[0], Max: rapid.IntRange(0, 3).Draw(t, "max")})
		}
		c.Tables = append(c.Tables, table)
	}
	var declared rules.Declarations
	seen := make(map[string]bool)
	for range rapid.IntRange(0, 3).Draw(t, "references") {
		from := &c.Tables[rapid.IntRange(0, len(c.Tables)-1).Draw(t, "from")]
		to := &c.Tables[rapid.IntRange(0, len(c.Tables)-1).Draw(t, "to")]
		var r catalog.Reference
		for range rapid.IntRange(1, 2).Draw(t, "width") {
			a, b := rapid.SampledFrom(from.Columns).Draw(t, "column"), rapid.SampledFrom(to.Columns).Draw(t, "to column")
			if a.Kind == b.Kind && !slices.Contains(r.Columns, a.Name) && !slices.Contains(r.ToColumns, b.Name) {
				r.Columns, r.ToColumns = append(r.Columns, a.Name), append(r.ToColumns, b.Name)
			}
		}
		r.ToTable = to.Name
		subject := from.Name + " " + referenceSubject(r)
		switch {
		case len(r.Columns) == 0 || seen[subject]:
		case rapid.Bool().Draw(t, "declared"):
			said := declaredReference(from.Name, r)
			if len(r.Columns) == 1 && slices.ContainsFunc(declared.References, func(other rules.DeclaredReference) bool { return slices.Equal(other.At, said.At) }) {
				continue // both could cover a row
			}
			if len(r.Columns) == 1 && rapid.Bool().Draw(t, "zero is none") {
				said.None = []string{"0"}
				if from.Column(r.Columns[0]).Kind != catalog.KindInteger {
					said.None = append(said.None, "")
				}
			}
			declared.References = append(declared.References, said)
		default:
			from.References = append(from.References, r)
		}
		seen[subject] = true
	}
	opts.Rules = []rules.Declarations{declared}
	return c, opts
}

// declaredReference declares a reference.
func declaredReference(table string, r catalog.Reference) rules.DeclaredReference {
	if len(r.Columns) == 1 {
		return rules.DeclaredReference{At: []string{table + "." + r.Columns[0]}, To: []string{r.ToTable + "." + r.ToColumns[0]}}
	}
	return rules.DeclaredReference{Table: table, Columns: r.Columns, ToTable: r.ToTable, ToColumns: r.ToColumns}
}

// referenceOf is what a declared reference says, if it is of that table.
func referenceOf(table string, d rules.DeclaredReference) (r catalog.Reference, is bool) {
	if len(d.At) == 0 {
		return catalog.Reference{Columns: d.Columns, ToTable: d.ToTable, ToColumns: d.ToColumns}, d.Table == table
	}
	from, column, _ := strings.Cut(d.At[0], ".")
	toTable, toColumn, _ := strings.Cut(d.To[0], ".")
	return catalog.Reference{Columns: []string{column}, ToTable: toTable, ToColumns: []string{toColumn}}, from == table
}

// drawDatabases makes databases of that schema, or nearly, with rows that obey
// their own keys and are often the same in several.
func drawDatabases(t *rapid.T, schema catalog.Catalog) (dbs []*mergetest.Database) {
	for i := range rapid.IntRange(2, 4).Draw(t, "databases") {
		db := &mergetest.Database{Label: string(rune('a' + i)), Schema: schema, Rows: make(map[string][]mergetest.Row), BatchRows: rapid.IntRange(1, 4).Draw(t, "batch")}
		db.Schema.Tables = slices.Clone(schema.Tables)
		for j := range db.Schema.Tables {
			table := &db.Schema.Tables[j]
			table.Columns = slices.Clone(table.Columns)
			for k := range table.Columns {
				if c := &table.Columns[k]; c.Collation != "" && rapid.IntRange(0, 5).Draw(t, "drift") == 0 {
					c.Collation = rapid.SampledFrom([]string{mergetest.Binary, mergetest.NoCase}).Draw(t, "other collation")
				}
			}
			for range rapid.IntRange(0, 6).Draw(t, "rows") {
				row := make(mergetest.Row)
				for _, c := range table.Columns {
					if c.Nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
						continue
					}
					switch c.Kind {
					case catalog.KindInteger:
						row[c.Name] = rapid.Int64Range(-1, 3).Draw(t, "integer")
					case catalog.KindBytes:
						row[c.Name] = rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 255}), 0, 2).Draw(t, "bytes")
					default:
						row[c.Name] = rapid.SampledFrom([]string{"", "0", "a", "A", "ab", "Ab"}).Draw(t, "text")
					}
				}
				unique := append([][]string{table.Primary}, uniqueColumns(table)...)
				if !slices.ContainsFunc(unique, func(columns []string) bool {
					k := canonical(row, columns, table)
					return len(columns) > 0 && k != "" && slices.ContainsFunc(db.Rows[table.Name], func(other mergetest.Row) bool { return canonical(other, columns, table) == k })
				}) {
					db.Rows[table.Name] = append(db.Rows[table.Name], row)
				}
			}
		}
		if len(dbs) > 0 && rapid.IntRange(0, 7).Draw(t, "drop table") == 0 { // the first one has all
			i := rapid.IntRange(0, len(db.Schema.Tables)-1).Draw(t, "which")
			delete(db.Rows, db.Schema.Tables[i].Name)
			db.Schema.Tables = slices.Delete(db.Schema.Tables, i, i+1)
		}
		dbs = append(dbs, db)
	}
	return dbs
}

// oracle looks at everything, slowly.
type oracle struct {
	dbs     []*mergetest.Database
	opts    rules.Options
	found   map[string]int64
	unclear map[string]bool // what cannot be passed
}

func (o *oracle) add(code, table, subject string) { o.found[key(code, table, subject)]++ }

func subjectOf(columns []string) string {
	if len(columns) == 1 {
		return columns[0]
	}
	return "(" + strings.Join(columns, ", ") + ")"
}

func referenceSubject(r catalog.Reference) string {
	return subjectOf(r.Columns) + " → " + r.ToTable + "." + subjectOf(r.ToColumns)
}

func tableIn(db *mergetest.Database, name string) *catalog.Table {
	for i := range db.Schema.Tables {
		if db.Schema.Tables[i].Name == name {
			return &db.Schema.Tables[i]
		}
	}
	return nil
}

func (o *oracle) look() {
	for _, model := range o.dbs[0].Schema.Tables {
		keyColumns := model.Primary
		uniques := uniqueColumns(&model)
		if len(keyColumns) == 0 {
			i := slices.IndexFunc(uniques, func(columns []string) bool {
				return !slices.ContainsFunc(model.Columns, func(c catalog.Column) bool { return c.Nullable && slices.Contains(columns, c.Name) })
			})
			if i >= 0 { // without one, whole rows are merged, and none collides
				keyColumns = uniques[i]
			}
		}
		for _, u := range o.opts.Uniques {
			if u.Table == model.Name {
				uniques = append(uniques, u.Columns)
			}
		}
		if len(keyColumns) > 0 {
			o.repeated(verdict.CodeKeyCollision, &model, keyColumns)
		}
		var seen [][]string
		for _, columns := range uniques {
			same := func(other []string) bool { return slices.Equal(columns, other) }
			if !same(keyColumns) && !slices.ContainsFunc(seen, same) {
				o.repeated(verdict.CodeUniqueCollision, &model, columns)
				seen = append(seen, columns)
			}
		}
		for _, a := range o.opts.Accounts {
			if a.Table == model.Name {
				o.account(&model, a)
			}
		}
		o.references(&model)
	}
}

// repeated counts values that are there more than once.
func (o *oracle) repeated(code string, model *catalog.Table, columns []string) {
	times := make(map[string]int)
	for _, db := range o.dbs {
		for _, row := range db.Rows[model.Name] {
			if k := canonical(row, columns, model); k != "" {
				times[k]++
			}
		}
	}
	for _, n := range times {
		if n > 1 {
			o.add(code, model.Name, subjectOf(columns))
		}
	}
}

func zero(v any) bool {
	switch v := v.(type) {
	case int64:
		return v == 0
	case string:
		return v == "" || v == "0"
	case []byte:
		return len(bytes.Trim(v, "\x00")) == 0
	}
	return false
}

func (o *oracle) account(model *catalog.Table, a rules.AccountColumn) {
	characters, servers := make(map[string]int), make(map[string]map[string]bool)
	for _, db := range o.dbs {
		for _, row := range db.Rows[model.Name] {
			if k := canonical(row, []string{a.Column}, model); k != "" && !zero(row[a.Column]) {
				characters[k]++
				if servers[k] == nil {
					servers[k] = make(map[string]bool)
				}
				servers[k][db.Label] = true
			}
		}
	}
	for k, n := range characters {
		if a.Max > 0 && n > a.Max && len(servers[k]) > 1 {
			o.add(verdict.CodeAccountOverflow, model.Name, a.Column)
		}
	}
}

func (o *oracle) references(model *catalog.Table) {
	zeroIsNone := make(map[string]bool)
	all := slices.Clone(tableIn(o.dbs[0], model.Name).References)
	for _, said := range o.opts.Rules {
		for _, d := range said.References {
			if r, is := referenceOf(model.Name, d); is {
				all = append(all, r)
				zeroIsNone[referenceSubject(r)] = len(d.None) > 0
			}
		}
	}
	for _, ref := range all {
		subject := referenceSubject(ref)
		// has reports whether a database has what a row refers to, as a table
		// with these columns compares.
		has := func(db *mergetest.Database, row mergetest.Row, as *catalog.Table) bool {
			wanted := make(mergetest.Row)
			for i, name := range ref.Columns {
				wanted[ref.ToColumns[i]] = row[name]
			}
			v := canonical(wanted, ref.ToColumns, as)
			return slices.ContainsFunc(db.Rows[ref.ToTable], func(other mergetest.Row) bool { return canonical(other, ref.ToColumns, as) == v })
		}
		for _, db := range o.dbs {
			if tableIn(db, model.Name) == nil {
				continue
			}
			if tableIn(db, ref.ToTable) == nil { // nobody knows what it refers to
				o.unclear[key(verdict.CodeReferenceDangle, model.Name, subject)] = true
				o.unclear[key(verdict.CodeReferenceRebind, model.Name, subject)] = true
				continue
			}
			for _, row := range db.Rows[model.Name] {
				if canonical(row, ref.Columns, model) == "" || zeroIsNone[subject] && zero(row[ref.Columns[0]]) {
					continue
				}
				stranger := slices.ContainsFunc(o.dbs, func(other *mergetest.Database) bool {
					return other != db && has(other, row, tableIn(o.dbs[0], ref.ToTable))
				})
				own := has(db, row, tableIn(db, ref.ToTable))
				if !own {
					o.add(verdict.CodeReferenceDangle, model.Name, subject)
				}
				switch {
				case stranger && own:
					o.add(verdict.CodeReferenceAmbiguous, model.Name, subject)
				case stranger:
					o.add(verdict.CodeReferenceRebind, model.Name, subject)
				}
			}
		}
	}
}
