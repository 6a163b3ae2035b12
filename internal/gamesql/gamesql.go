package gamesql

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Column names a column of a table.
type Column struct{ Table, Name string }

func (c Column) String() string { return c.Table + "." + c.Name }

func compare(a, b Column) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name))
}

// Relation is two columns that a statement compares, or of which it copies one into the other. A sorts before B.
type Relation struct {
	A, B Column
	At   []string // file:line of each statement
}

// Binding is a column that a statement compares with a value of the program, or sets to it.
type Binding struct {
	Column
	Value string // as the program writes it, without casts
	At    string // file:line
}

// Found is what a game's source says.
type Found struct {
	Statements int // that name a table of the schema
	Computed   int // that name none, but one that the program computes
	Relations  []Relation
	Bindings   []Binding
}

// Reader reads the files of a game. It is for one goroutine.
type Reader struct {
	schema     map[string][]string
	lower      map[string]string            // the tables' names by those in lower case
	columns    map[string]map[string]string // by table and name in lower case
	statements []*statement
	lists      map[string]*statement // prepared ones, by their names in a list
	values     map[string][]string   // the texts that names of the program have
	holes      []string
	found      Found
}

// New returns a reader for a game with a schema: the columns of each table, in their order.
func New(schema map[string][]string) *Reader {
	r := &Reader{schema: schema, lower: make(map[string]string), columns: make(map[string]map[string]string),
		lists: make(map[string]*statement), values: make(map[string][]string)}
	for table, columns := range schema {
		r.lower[strings.ToLower(table)] = table
		r.columns[table] = make(map[string]string)
		for _, c := range columns {
			r.columns[table][strings.ToLower(c)] = c
		}
	}
	return r
}

// Add reads a file, if it is of a language that is known by the end of its name: C, C++, Java, Lua, Go, SQL.
func (r *Reader) Add(source fs.FS, file string) error {
	ext := path.Ext(file)
	if !slices.Contains([]string{".sql", ".c", ".cc", ".cpp", ".h", ".hpp", ".java", ".lua", ".go"}, ext) {
		return nil
	}
	data, err := fs.ReadFile(source, file)
	if err != nil {
		return err
	}
	text := strings.ToValidUTF8(string(data), "?")
	if ext == ".sql" {
		r.script(file, text)
		return nil
	}
	p := &program{Reader: r, file: file, ext: ext, all: scan(text, ext), current: make(map[string]*statement)}
	p.read()
	return nil
}

// Found resolves the names of all files and returns what they say, sorted. It is called once, at the end.
func (r *Reader) Found() Found {
	for _, st := range r.statements {
		q := &query{Reader: r, at: st.at}
		all := r.parse(st.text, st.bound)
		for len(all) == 1 && all[0].kind == group {
			all = all[0].in
		}
		q.body(all, nil)
		r.count(q)
	}
	for _, rel := range r.found.Relations {
		slices.Sort(rel.At)
	}
	slices.SortFunc(r.found.Relations, func(a, b Relation) int { return cmp.Or(compare(a.A, b.A), compare(a.B, b.B)) })
	return r.found
}

func (r *Reader) count(q *query) {
	if q.tables {
		r.found.Statements++
	} else if q.others {
		r.found.Computed++
	}
}

// known is a column of a table; without a name if the schema has none of that name.
func (r *Reader) known(table, name string) Column {
	return Column{table, r.columns[table][strings.ToLower(name)]}
}

// tableOf is the table that a value of the program is the name of, or "".
func (r *Reader) tableOf(value string) string {
	value = value[strings.LastIndexAny(value, ".:>")+1:]
	for _, text := range r.values[value] {
		if table := r.lower[strings.ToLower(text)]; table != "" {
			return table
		}
	}
	return ""
}

// relate notes two columns that are compared. A column with itself says nothing.
func (q *query) relate(a, b Column) {
	if a == b || a.Name == "" || b.Name == "" {
		return
	}
	if compare(a, b) > 0 {
		a, b = b, a
	}
	i := slices.IndexFunc(q.found.Relations, func(r Relation) bool { return r.A == a && r.B == b })
	if i < 0 {
		q.found.Relations = append(q.found.Relations, Relation{a, b, []string{q.at}})
	} else if all := &q.found.Relations[i].At; !slices.Contains(*all, q.at) {
		*all = append(*all, q.at)
	}
}

func (q *query) bind(c Column, t token) {
	if c.Name != "" && t.kind == hole && t.text != "" {
		q.found.Bindings = append(q.found.Bindings, Binding{c, t.text, q.at})
	}
}

// split is what a sign separates, without what is empty.
func split(at string, all []token) (out [][]token) {
	for len(all) > 0 {
		i := slices.IndexFunc(all, func(t token) bool { return t.is(at) })
		if i < 0 {
			i = len(all)
		}
		if i > 0 {
			out = append(out, all[:i:i])
		}
		all = all[min(i+1, len(all)):]
	}
	return out
}
