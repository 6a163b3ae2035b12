package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Outline is how the tables of a database are made, in parts that are compared one by one:
// what the rules about schemas compare when databases are merged. Rows, counters
// and the names of indexes and foreign keys are not in it.
type Outline struct {
	database *outlined
	tables   map[string]*outlined
}

// outlined is a table, or what belongs to none.
type outlined struct {
	parts   []string // in the order in which they are told
	values  map[string]string
	columns []string
}

func (o *outlined) add(part, value string) {
	if _, twice := o.values[part]; !twice {
		o.parts = append(o.parts, part)
	}
	o.values[part] = value
}

// Outline returns how the tables are made.
func (c *Catalog) Outline() *Outline {
	o := &Outline{newOutlined(), make(map[string]*outlined)}
	o.database.add("engine", c.Engine)
	if c.SchemaVersion != 0 {
		o.database.add("schema version", fmt.Sprint(c.SchemaVersion))
	}
	if c.Collation != "" {
		o.database.add("default collation", c.Collation)
	}
	for _, s := range sortedBy(c.Skipped, func(s Skipped) string { return s.Table }) {
		o.database.add("table "+s.Table+" that is not read", s.Reason)
	}
	for _, view := range slices.Sorted(slices.Values(c.Views)) {
		o.database.add("view "+view, "")
	}
	for _, r := range sortedBy(c.Routines, func(r Routine) string { return r.Kind + " " + r.Name }) {
		o.database.add(r.Kind+" "+r.Name, r.Body)
	}
	for i := range c.Tables {
		o.tables[c.Tables[i].Name] = outlineOf(&c.Tables[i])
	}
	return o
}

func newOutlined() *outlined { return &outlined{values: make(map[string]string)} }

func outlineOf(t *Table) *outlined {
	o := newOutlined()
	if t.Storage() != "no engine" {
		o.add("storage", t.Storage())
	}
	for _, col := range t.Columns {
		o.columns = append(o.columns, col.Name)
		is := t.Describe(col.Name)
		if col.Default != nil {
			is += " DEFAULT " + *col.Default
		}
		o.add("column "+col.Name, is)
	}
	for _, key := range t.Keys() {
		o.add(key, "")
	}
	for _, of := range []map[string]string{t.Checks(), t.ForeignKeys()} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			o.add(name, of[name])
		}
	}
	return o
}

func sortedBy[T any](all []T, by func(T) string) []T {
	return slices.SortedFunc(slices.Values(all), func(a, b T) int { return cmp.Compare(by(a), by(b)) })
}

// Fingerprint is a short sum over the outline: two outlines have the same one only if
// [Outline.Drift] finds no difference between them.
func (o *Outline) Fingerprint() string {
	sum := sha256.New()
	write := func(name string, of *outlined) {
		fmt.Fprintf(sum, "%q %q\n", name, of.columns)
		for _, part := range slices.Sorted(slices.Values(of.parts)) {
			fmt.Fprintf(sum, "%q %q\n", part, of.values[part])
		}
	}
	write("", o.database)
	for _, name := range slices.Sorted(maps.Keys(o.tables)) {
		write(name, o.tables[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// Drift says in words how the outline differs from a model: "table characters: column guild
// missing". It is empty if it does not.
func (o *Outline) Drift(model *Outline) []string {
	all := o.database.drift(model.database)
	union := maps.Clone(o.tables)
	maps.Copy(union, model.tables)
	for _, name := range slices.Sorted(maps.Keys(union)) {
		is, want := o.tables[name], model.tables[name]
		switch {
		case is == nil:
			all = append(all, "table "+name+" missing")
		case want == nil:
			all = append(all, "table "+name+" added")
		default:
			for _, s := range is.drift(want) {
				all = append(all, "table "+name+": "+s)
			}
		}
	}
	return all
}

func (o *outlined) drift(model *outlined) (all []string) {
	for _, part := range model.parts {
		want := model.values[part]
		switch is, has := o.values[part]; {
		case !has:
			all = append(all, part+" missing")
		case is == want:
		case len(is)+len(want) > longestShown:
			all = append(all, part+" differs")
		default:
			all = append(all, fmt.Sprintf("%s is %s, not %s", part, cmp.Or(is, "empty"), cmp.Or(want, "empty")))
		}
	}
	for _, part := range o.parts {
		if _, has := model.values[part]; !has {
			added := part + " added"
			if is := o.values[part]; is != "" && len(is) <= longestShown {
				added += ": " + is
			}
			all = append(all, added)
		}
	}
	// Beside a column that is missing or added, the order tells only of the others.
	in := func(columns []string) func(string) bool {
		return func(name string) bool { return !slices.Contains(columns, name) }
	}
	have := slices.DeleteFunc(slices.Clone(o.columns), in(model.columns))
	want := slices.DeleteFunc(slices.Clone(model.columns), in(o.columns))
	for i, name := range have {
		if name != want[i] {
			return append(all, fmt.Sprintf("columns in another order: %s is in the place of %s", name, want[i]))
		}
	}
	return all
}

// longestShown is up to how many bytes the two definitions of a part are shown.
const longestShown = 160

// Engine is the kind of database, as in [Catalog]. Outlines of two kinds have nothing in common.
func (o *Outline) Engine() string { return o.database.values["engine"] }
