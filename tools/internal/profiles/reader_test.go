package profiles

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// column names a column of a table.
type column struct{ Table, Name string }

func (c column) String() string { return c.Table + "." + c.Name }

func compare(a, b column) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name))
}

// relation is two columns that a statement compares, or of which it copies one into the other. a sorts before b.
type relation struct {
	a, b column
	at   []string // file:line of each statement
}

// found is what a game's source says.
type found struct {
	statements int // that name a table of the schema
	computed   int // that name none, but one that the program computes
	relations  []relation
}

// reader reads the files of a game. It is for one goroutine.
type reader struct {
	schema     map[string][]string
	lower      map[string]string            // the tables' names by those in lower case
	columns    map[string]map[string]string // by table and name in lower case
	statements []*statement
	values     map[string][]string // the texts that names of the program have
	holes      []string
	found      found
}

// newReader returns a reader for a game with a schema: the columns of each table, in their order.
func newReader(schema map[string][]string) *reader {
	r := &reader{schema: schema, lower: make(map[string]string), columns: make(map[string]map[string]string),
		values: make(map[string][]string)}
	for table, columns := range schema {
		r.lower[strings.ToLower(table)] = table
		r.columns[table] = make(map[string]string)
		for _, c := range columns {
			r.columns[table][strings.ToLower(c)] = c
		}
	}
	return r
}

// add reads a file, if it is of a language that is known by the end of its name: C, C++, Java, Lua, Go, SQL.
func (r *reader) add(source fs.FS, file string) error {
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
	p := &program{reader: r, file: file, ext: ext, all: scan(text, ext), current: make(map[string]*statement)}
	p.read()
	return nil
}

// result resolves the names of all files and returns what they say, sorted. It is called once, at the end.
func (r *reader) result() found {
	for _, st := range r.statements {
		q := &query{reader: r, at: st.at}
		all := r.parse(st.text)
		for len(all) == 1 && all[0].kind == group {
			all = all[0].in
		}
		q.body(all, nil)
		r.count(q)
	}
	for _, rel := range r.found.relations {
		slices.Sort(rel.at)
	}
	slices.SortFunc(r.found.relations, func(a, b relation) int { return cmp.Or(compare(a.a, b.a), compare(a.b, b.b)) })
	return r.found
}

func (r *reader) count(q *query) {
	if q.tables {
		r.found.statements++
	} else if q.others {
		r.found.computed++
	}
}

// known is a column of a table; without a name if the schema has none of that name.
func (r *reader) known(table, name string) column {
	return column{table, r.columns[table][strings.ToLower(name)]}
}

// tableOf is the table that a value of the program is the name of, or "".
func (r *reader) tableOf(value string) string {
	value = value[strings.LastIndexAny(value, ".:>")+1:]
	for _, text := range r.values[value] {
		if table := r.lower[strings.ToLower(text)]; table != "" {
			return table
		}
	}
	return ""
}

// relate notes two columns that are compared. A column with itself says nothing.
func (q *query) relate(a, b column) {
	if a == b || a.Name == "" || b.Name == "" {
		return
	}
	if compare(a, b) > 0 {
		a, b = b, a
	}
	i := slices.IndexFunc(q.found.relations, func(r relation) bool { return r.a == a && r.b == b })
	if i < 0 {
		q.found.relations = append(q.found.relations, relation{a, b, []string{q.at}})
	} else if all := &q.found.relations[i].at; !slices.Contains(*all, q.at) {
		*all = append(*all, q.at)
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
