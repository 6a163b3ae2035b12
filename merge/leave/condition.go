package leave

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/sqltext"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// A condition is taken apart, and each of its parts is on a list of what is allowed: then its value depends on
// nothing but the rows of its own world and one number, :now. What is not on a list is refused by name.

var (
	words = []string{"AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN", "EXISTS", "SELECT", "DISTINCT", "FROM",
		"WHERE", "AS", "JOIN", "INNER", "LEFT", "ON",
		"GROUP", "BY", "HAVING", "CASE", "WHEN", "THEN", "ELSE", "END", "DIV", "TRUE", "FALSE"}

	// functions have values that depend on their arguments only, which are not none.
	functions = []string{"ABS", "AVG", "CEIL", "CEILING", "CHAR_LENGTH", "COALESCE", "COUNT", "FLOOR", "IFNULL", "INSTR",
		"LENGTH", "LOWER", "LTRIM", "MAX", "MIN", "MOD",
		"NULLIF", "REPLACE", "ROUND", "RTRIM", "SIGN", "SUBSTR", "SUBSTRING", "SUM", "TRIM", "UPPER"}
	mysqlFunctions = []string{"CONCAT", "DATEDIFF", "FROM_UNIXTIME", "GREATEST", "IF", "LEAST", "UNIX_TIMESTAMP", "YEAR"}

	// niladic are functions that are written without parentheses.
	niladic = []string{"CURRENT_DATE", "CURRENT_ROLE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "LOCALTIME",
		"LOCALTIMESTAMP", "ROWID", "OID", "_ROWID_",
		"SESSION_USER", "SYSDATE", "SYSTEM_USER", "USER", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP"}

	signs = []string{"+", "-", "*", "/", "%", "=", "<", ">", "!", "(", ")", ",", ".", "&", "|"}
	twice = []string{"--", "||", "&&", "->", "/*", "*/"} // that mean something else in one of the databases
)

// condition is one that may be given to the server of a world.
type condition struct {
	text   string
	tokens []sqltext.Token
	now    []int // the tokens that are ":" of :now
}

// with is the condition with a number in the place of :now.
func (c *condition) with(now int64) string { return c.part(0, len(c.text), now) }

// part is a part of it.
func (c *condition) part(begin, end int, now int64) string {
	var b strings.Builder
	for _, i := range c.now {
		if at := c.tokens[i].Start; at >= begin && at < end {
			b.WriteString(c.text[begin:at] + fmt.Sprint(now))
			begin = c.tokens[i+1].End()
		}
	}
	return b.String() + c.text[begin:end]
}

// Bound is the condition of a plan with the time of the plan in the place of :now.
func Bound(engine string, said *verdict.Leave) string {
	return split(said.Where, engine).with(said.Now)
}

// Digest judges a condition of a plan again, and returns the digest of the keys for which it holds now.
func Digest(ctx context.Context, asked rules.Selector, engine string, said *verdict.Leave,
	key rules.RowKey) (string, error) {
	found := newKeys(key.Kinds)
	err := asked.Select(ctx, said.Table, key, Bound(engine, said), func(n keys.Key) { found.add(n) })
	return found.digest(), err
}

// split takes a condition apart.
func split(text, engine string) *condition {
	c := &condition{text: text}
	if engine == "sqlite" {
		c.tokens = sqltext.SQLite(text)
	} else {
		c.tokens = sqltext.MySQL(text)
	}
	for i, t := range c.tokens {
		if t.Text == ":" && c.after(i) == "now" {
			c.now = append(c.now, i)
		}
	}
	return c
}

// parse takes a condition on the rows of a table of a database apart, if each of its parts is allowed.
func parse(text string, db *rules.Database, table string) (*condition, error) {
	c, mysql := split(text, db.Catalog.Engine), db.Catalog.Engine != "sqlite"
	if err := c.complete(); err != nil {
		return nil, err
	}
	names, err := c.names(db, table)
	if err != nil {
		return nil, err
	}
	for i := range c.tokens {
		if err := c.allowed(i, mysql, names); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// complete returns an error if there is anything between the tokens, which is a comment, or if parentheses or quotes
// do not close.
func (c *condition) complete() error {
	at, depth := 0, 0
	for i, t := range append(slices.Clone(c.tokens), sqltext.Token{Start: len(c.text)}) {
		if between := c.text[at:t.Start]; strings.TrimLeft(between, " \t\r\n") != "" {
			return fmt.Errorf("it has a comment (%.20q): remove it", strings.TrimSpace(between))
		}
		at = t.End()
		if i > 0 && slices.Contains(twice, c.before(i)+t.Text) && t.Start == c.tokens[i-1].End() {
			return fmt.Errorf("%q is not allowed", c.before(i)+t.Text)
		}
		switch {
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case t.Text != "" && strings.ContainsAny(t.Text[:1], "'`") && (len(t.Text) < 2 || t.Text[len(t.Text)-1] != t.Text[0]):
			return fmt.Errorf("%.20s is not closed", t.Text)
		}
		if depth < 0 {
			break
		}
	}
	switch {
	case len(c.tokens) == 0:
		return fmt.Errorf("it is empty")
	case depth != 0:
		return fmt.Errorf("its parentheses are not closed")
	}
	return nil
}

func (c *condition) before(i int) string {
	if i == 0 || i > len(c.tokens) {
		return ""
	}
	return c.tokens[i-1].Text
}

func (c *condition) after(i int) string {
	if i+1 >= len(c.tokens) {
		return ""
	}
	return c.tokens[i+1].Text
}

// isName reports whether a token is a name: a word that is none of the language, or one in backquotes.
func (c *condition) isName(i int) bool {
	t := c.tokens[i]
	return t.Text[0] == '`' || t.IsWord() && !naming.Among(words, t.Text) && c.after(i) != "(" && !(c.before(i) == ":" &&
		t.Text == "now")
}

// names are the tables of a condition, by the names that it has for them, and the columns of these.
func (c *condition) names(db *rules.Database, table string) (map[string]bool, error) {
	all := make(map[string]bool)
	add := func(table string) error {
		t := db.KeyTable(table)
		if t == nil {
			hint := naming.Hint(table, slices.Sorted(maps.Keys(db.Tables)))
			return fmt.Errorf("%q is not a table of %s that is read here%s", table, db.Name, hint)
		}
		all["table "+strings.ToLower(table)] = true
		for _, column := range t.Columns {
			all[strings.ToLower(column.Name)] = true
		}
		return nil
	}
	if err := add(table); err != nil {
		return nil, err
	}
	for i := range c.tokens {
		if !c.isName(i) {
			continue
		}
		name := c.tokens[i].Name()
		before := c.before(i)
		switch {
		case naming.Among([]string{"FROM", "JOIN"}, before):
			if c.after(i) == "." {
				return nil, fmt.Errorf("%s is in another database: want tables of the same world", name+"."+c.after(i+1))
			}
			if err := add(name); err != nil {
				return nil, err
			}
		case i > 1 && (strings.EqualFold(before, "AS") && c.isName(i-2) && naming.Among([]string{"FROM", "JOIN"}, c.before(i-2)) ||
			c.isName(i-1) && naming.Among([]string{"FROM", "JOIN"}, c.before(i-1))):
			all["table "+strings.ToLower(name)] = true // another name of a table
		}
	}
	return all, nil
}

// allowed returns an error unless a token is on a list.
func (c *condition) allowed(i int, mysql bool, names map[string]bool) error {
	t := c.tokens[i]
	switch first := t.Text[0]; {
	case first == '\'':
		if strings.Contains(t.Text, `\`) {
			return fmt.Errorf(`%.20s has a backslash, which databases read in different ways`, t.Text)
		}
		return nil
	case first == '"' || first == '[':
		return fmt.Errorf("%.20s is a text in some databases and a name in others: write '...' or `...`", t.Text)
	case t.Text == ":":
		if c.after(i) != "now" {
			return fmt.Errorf("%q is not allowed: want :now", ":"+c.after(i))
		}
		return nil
	case c.before(i) == ":" || slices.Contains(signs, t.Text):
		return nil
	case first >= '0' && first <= '9':
		if strings.Trim(strings.ToLower(t.Text), "0123456789e") != "" {
			return fmt.Errorf("%q is not a number", t.Text)
		}
		return nil
	case t.IsWord() && c.after(i) == "(" && !naming.Among(words, t.Text):
		if (naming.Among(functions, t.Text) || mysql && naming.Among(mysqlFunctions, t.Text)) && c.before(i) != "." {
			if c.after(i+1) == ")" {
				return fmt.Errorf("%s() has no argument, so its value may change from call to call", t.Text)
			}
			return nil
		}
		return fmt.Errorf("the function %s is not allowed: want one of %s", t.Text, strings.Join(allowedFunctions(mysql),
			", "))
	case c.isName(i):
		return c.known(i, names)
	case naming.Among(words, t.Text):
		return nil
	}
	return fmt.Errorf("%.20q is not allowed", t.Text)
}

func allowedFunctions(mysql bool) []string {
	if mysql {
		return slices.Sorted(slices.Values(slices.Concat(functions, mysqlFunctions)))
	}
	return functions
}

// known returns an error unless a name is that of a table or a column.
func (c *condition) known(i int, names map[string]bool) error {
	t := c.tokens[i]
	name := strings.ToLower(t.Name())
	switch {
	case c.after(i) == ".":
		if !names["table "+name] || c.before(i) == "." {
			return fmt.Errorf("%s is in another database, or in no table of the condition", t.Name()+"."+c.after(i+1))
		}
	case t.Text[0] != '`' && naming.Among(niladic, t.Text):
		return fmt.Errorf("%s is not allowed: its value does not come from the row (want :now for the time of the plan)", t.Text)
	case !names[name] && !names["table "+name]:
		return fmt.Errorf("%q is not a column of the tables in the condition", t.Name())
	}
	return nil
}
