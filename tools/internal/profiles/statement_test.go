package profiles

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func (t token) keyword(words ...string) bool {
	return t.kind == word && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(t.text, w) })
}

var verbs = []string{"SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"}

func (t token) selects() bool { return t.kind == group && len(t.in) > 0 && t.in[0].keyword("SELECT") }

func (t token) arithmetic() bool { return t.kind == sign && strings.Contains("+-*/%&|^", t.text) }

// named reports whether it may name a table, a column or an alias.
func (t token) named() bool {
	return t.kind == name || t.kind == word && !slices.Contains(reserved, strings.ToUpper(t.text))
}

var reserved = strings.Fields(`SELECT FROM WHERE SET VALUES VALUE ON USING JOIN INNER LEFT RIGHT OUTER CROSS NATURAL AND
	OR NOT IN IS NULL LIKE BETWEEN EXISTS GROUP ORDER BY HAVING LIMIT OFFSET UNION ALL DISTINCT AS CASE WHEN THEN ELSE END
	INSERT REPLACE UPDATE DELETE INTO IGNORE DUPLICATE KEY FOR DEFAULT INTERVAL REFERENCES FOREIGN CONSTRAINT BEGIN DIV MOD
	FORCE USE`)

var mark = regexp.MustCompile(`^\x01(\d+)\x02$`)

// parse reads a statement.
func (r *reader) parse(text string) []token {
	all := scan(text, ".sql")
	for i, t := range all {
		m := mark.FindStringSubmatch(t.text)
		if t.kind == hole {
			m = []string{"", t.text}
		}
		if m != nil { // alone, or in quotes
			n, _ := strconv.Atoi(m[1])
			all[i] = token{kind: hole, text: r.holes[n]}
		}
	}
	at := 0
	return r.tree(all, &at)
}

// tree puts together what is in parentheses, and names with dots.
func (r *reader) tree(in []token, at *int) (all []token) {
	for *at < len(in) {
		t := in[*at]
		*at++
		last := len(all) - 1
		switch {
		case t.is("("):
			all = append(all, token{kind: group, in: r.tree(in, at)})
		case t.is(")"):
			return all
		case t.is(".") && last >= 0 && *at < len(in) && (all[last].named() || all[last].kind == hole):
			of := all[last]
			if all[last] = in[*at]; of.kind == hole {
				of.text = r.tableOf(of.text)
			}
			all[last].of = of.text
			*at++
		default:
			all = append(all, t)
		}
	}
	return all
}

// scope is the tables that a statement, or a part of one, names.
type scope struct {
	outer   *scope
	tables  []string          // of the schema, in order; "" for others
	aliases map[string]string // in lower case
}

// query reads a statement.
type query struct {
	*reader
	at     string
	tables bool // it names a table of the schema
	others bool // or one that the program computes
}

// body reads a statement or a SELECT inside of one, and returns the columns that it selects.
func (q *query) body(all []token, outer *scope) ([]column, *scope) {
	if i := slices.IndexFunc(all, func(t token) bool { return t.keyword("UNION") }); i >= 0 {
		q.body(slices.DeleteFunc(slices.Clone(all[i+1:]), func(t token) bool { return t.keyword("ALL") }), outer)
		all = all[:i]
	}
	s := &scope{outer: outer, aliases: make(map[string]string)}
	for i := 0; i < len(all); i++ {
		t := all[i]
		list := t.keyword("FROM", "INTO") || t.keyword("UPDATE") && (i == 0 || !all[i-1].keyword("KEY", "FOR")) ||
			t.keyword("USING") && i+1 < len(all) && all[i+1].kind != group
		if list || t.keyword("JOIN") || i == 0 && t.keyword("REPLACE", "INSERT") {
			for i = q.table(all, i+1, s); list && i < len(all) && all[i].is(","); {
				i = q.table(all, i+1, s)
			}
			i--
		}
	}
	q.conditions(all, s)
	if len(all) > 0 && all[0].keyword("INSERT", "REPLACE") {
		q.insert(all, s)
	}
	return q.selected(all, s), s
}

// table reads the name of a table with its alias, and returns what comes after.
func (q *query) table(all []token, i int, s *scope) int {
	for i < len(all) && all[i].keyword("IGNORE", "LOW_PRIORITY", "DELAYED", "QUICK") {
		i++
	}
	if i >= len(all) {
		return i
	}
	t, table := all[i], ""
	switch {
	case t.selects():
		if _, inner := q.body(t.in, s); len(inner.tables) == 1 {
			table = inner.tables[0]
		}
	case t.kind == group:
		q.body(append([]token{{kind: word, text: "FROM"}}, t.in...), s)
	case t.kind == hole:
		table = q.tableOf(t.text)
		q.others = q.others || table == ""
	case t.named():
		table = q.lower[strings.ToLower(t.text)]
		s.aliases[strings.ToLower(t.text)] = table
	default:
		return i
	}
	q.tables = q.tables || table != ""
	s.tables = append(s.tables, table)
	s.aliases[strings.ToLower(table)] = table
	if i++; i < len(all) && all[i].keyword("AS") {
		i++
	}
	if i < len(all) && all[i].named() {
		s.aliases[strings.ToLower(all[i].text)] = table
		i++
	}
	return i
}

// column is the column that a name is; without a name if it is none, or not known which.
func (q *query) column(t token, s *scope) (none column) {
	if !t.named() {
		return none
	}
	for at := s; at != nil; at = at.outer {
		if t.of != "" {
			if table, there := at.aliases[strings.ToLower(t.of)]; there {
				return q.known(table, t.text)
			}
			continue
		}
		found, others := none, false
		for _, table := range at.tables {
			c := q.known(table, t.text)
			if c.Name != "" && found.Name != "" && found != c {
				return none
			} else if c.Name != "" {
				found = c
			}
			others = others || table == ""
		}
		if others {
			return none
		} else if found.Name != "" {
			return found
		}
	}
	return none
}

// operand is the column at i, if it is one and nothing is computed with it.
func (q *query) operand(all []token, i int, s *scope) column {
	if i < 0 || i >= len(all) || i > 0 && all[i-1].arithmetic() ||
		i+1 < len(all) && (all[i+1].arithmetic() || all[i+1].kind == group && all[i].kind == word) {
		return column{}
	}
	return q.column(all[i], s)
}

// conditions reads what is compared, and the SELECTs in parentheses.
func (q *query) conditions(all []token, s *scope) {
	setting := false
	for i, t := range all {
		left := i - 1 // of = or IN
		for left > 0 && all[left].keyword("NOT", "IN", "ANY", "SOME") || left > 0 && all[left].is("=") {
			left--
		}
		operator := i > 0 && left < i-1
		switch {
		case t.keyword("SET", "UPDATE"):
			setting = true
		case t.keyword("WHERE", "ON", "HAVING"):
			setting = false
		case t.selects():
			selected, _ := q.body(t.in, s)
			if c := q.operand(all, left, s); operator && len(selected) > 0 {
				q.relate(c, selected[0])
			}
		case t.kind == group && i > 0 && all[i-1].keyword("USING") && len(s.tables) > 1:
			tables := s.tables[len(s.tables)-2:]
			for _, one := range t.in {
				q.relate(q.known(tables[0], one.text), q.known(tables[1], one.text))
			}
		case t.kind == group:
			q.conditions(t.in, s)
		case t.is("=") && i > 0 && !all[i-1].is("<") && !all[i-1].is(">") && !all[i-1].is("!"):
			a, b := q.operand(all, i-1, s), q.operand(all, i+1, s)
			if !setting || a.Table != b.Table {
				q.relate(a, b)
			}
		}
	}
}

// selected is the columns of a SELECT; one without a name for what is computed.
func (q *query) selected(all []token, s *scope) (columns []column) {
	from := slices.IndexFunc(all, func(t token) bool { return t.keyword("FROM") })
	if len(all) == 0 || !all[0].keyword("SELECT") || from < 0 {
		return nil
	}
	for _, item := range split(",", all[1:from]) {
		for len(item) > 1 && item[0].keyword("DISTINCT", "MAX", "MIN") {
			if item = item[1:]; item[0].kind == group {
				item = item[0].in
			}
		}
		var c column
		if len(item) > 0 {
			c = q.operand(item, 0, s)
		}
		columns = append(columns, c)
	}
	return columns
}

// insert reads what comes into which column.
func (q *query) insert(all []token, s *scope) {
	if len(s.tables) == 0 {
		return
	}
	table := s.tables[0]
	columns := q.schema[table]
	before := false
	for i, t := range all {
		switch {
		case t.keyword("VALUES", "VALUE"):
			before = true
		case t.selects() && !before, t.keyword("SELECT"):
			from := all[i:]
			if t.kind == group {
				from = t.in
			}
			selected, _ := q.body(from, nil)
			for k := range min(len(columns), len(selected)) {
				q.relate(column{table, columns[k]}, selected[k])
			}
			return
		case t.kind == group && before:
			for k, item := range split(",", t.in) {
				if k >= len(columns) || len(item) != 1 {
					continue
				}
				c := column{table, columns[k]}
				if item[0].selects() {
					if selected, _ := q.body(item[0].in, s); len(selected) > 0 {
						q.relate(c, selected[0])
					}
				} else if s.outer != nil && item[0].of != "" { // NEW.id of a trigger
					q.relate(c, q.column(item[0], s.outer))
				}
			}
			return
		case t.kind == group:
			columns = nil
			for _, item := range split(",", t.in) {
				columns = append(columns, q.known(table, item[0].text).Name)
			}
		}
	}
}

// script reads a file of SQL: its statements, its foreign keys, and the statements of its triggers.
func (r *reader) script(file, text string) {
	trigger := "" // the table of the trigger that is open
	for _, part := range split(";", scan(text, ".sql")) {
		q := &query{reader: r, at: fmt.Sprintf("%s:%d", file, part[0].line)}
		at := 0
		all := r.tree(part, &at)
		q.foreignKeys(all)
		for i, t := range all {
			if t.keyword("ON") && all[0].keyword("CREATE") && i+1 < len(all) {
				trigger = r.lower[strings.ToLower(all[i+1].text)]
			}
			if t.keyword(verbs...) && (i == 0 || all[i-1].keyword("BEGIN", "ROW", "THEN", "ELSE")) {
				q.body(all[i:], &scope{aliases: map[string]string{"new": trigger, "old": trigger}})
				break
			}
		}
		r.count(q)
	}
}

// foreignKeys reads FOREIGN KEY (a) REFERENCES t (b) of CREATE TABLE and ALTER TABLE.
func (q *query) foreignKeys(all []token) {
	i := slices.IndexFunc(all, func(t token) bool { return t.keyword("TABLE") })
	for i++; i > 0 && i < len(all) && all[i].keyword("IF", "NOT", "EXISTS"); {
		i++
	}
	if i <= 0 || i >= len(all) {
		return
	}
	table := q.lower[strings.ToLower(all[i].text)]
	q.tables = table != "" && all[0].keyword("CREATE")
	for _, t := range all {
		all = append(all, t.in...)
	}
	for i := 1; i+2 < len(all); i++ {
		if own, theirs := all[i-1], all[i+2]; all[i].keyword("REFERENCES") && own.kind == group && theirs.kind == group {
			to := q.lower[strings.ToLower(all[i+1].text)]
			a, b := split(",", own.in), split(",", theirs.in)
			for k := range min(len(a), len(b)) {
				q.relate(q.known(table, a[k][0].text), q.known(to, b[k][0].text))
			}
		}
	}
}
