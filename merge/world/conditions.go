package world

import (
	"cmp"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
	"mergesafe/merge/catalog"
)

// pure are the words of a condition by which every database of an engine, at any
// time and for any account, comes to the same answer. Another word may be one that
// does not: a clock, a setting of the session, a function that the game has added.
var pure = func() map[string]bool {
	words := make(map[string]bool)
	for _, list := range []string{
		"and or not xor in is null true false unknown between like regexp rlike glob escape isnull notnull distinct from",
		"case when then else end div mod collate using charset character set as interval",
		"cast convert signed unsigned integer int bigint smallint tinyint char varchar text binary varbinary blob decimal numeric real float double date datetime time json year",
		"abs ceil ceiling floor round truncate sign pow power sqrt exp ln log log2 log10 acos asin atan cos sin tan cot radians degrees pi greatest least min max bit_count bit_length",
		"if iif ifnull nullif coalesce typeof likely unlikely",
		"length octet_length char_length character_length lower lcase upper ucase concat concat_ws substr substring substring_index mid left right",
		"trim ltrim rtrim both leading trailing lpad rpad replace reverse repeat instr locate position ascii ord unicode hex unhex bin oct conv quote printf from_base64 to_base64",
		"crc32 md5 sha sha1 sha2 field find_in_set elt strcmp regexp_like regexp_instr regexp_substr regexp_replace",
		"json_valid json_type json_length json_contains json_contains_path json_extract json_unquote json_value json_exists json_depth json_keys json_schema_valid json_array_length",
		"json_set json_insert json_replace json_remove json_quote json_pretty json_overlaps json_search json_merge_patch json_array_append",
		"to_days from_days to_seconds month day dayofmonth dayofweek dayofyear weekday week yearweek quarter hour minute second microsecond",
		"julianday unixepoch strftime timediff datediff timestampdiff date_add date_sub adddate subdate time_to_sec sec_to_time last_day makedate extract unix_timestamp",
		"inet_aton inet_ntoa inet6_aton inet6_ntoa is_ipv4 is_ipv6 is_uuid uuid_to_bin bin_to_uuid",
	} {
		for _, word := range strings.Fields(list) {
			words[word] = true
		}
	}
	return words
}()

// condition adds a condition that is given in the words of a statement.
func (t *building) condition(d sqldb.Dialect, c catalog.Condition, all []sqltext.Token) {
	r := conditionReader{d: d, t: t}
	r.read(all)
	c.Text, c.Columns, c.Unclear = r.text.String(), r.columns, cmp.Or(c.Unclear, r.unclear)
	if c.Kind == catalog.ConditionCheck {
		c.Unclear = cmp.Or(c.Unclear, r.skips(all))
	}
	moments, unclear := t.moments(d, c, all)
	c.Unclear = cmp.Or(c.Unclear, unclear)
	for _, name := range c.Columns {
		if t.byName[name] != nil && strings.Contains(strings.ToLower(t.byName[name].Type), "zerofill") && c.Kind == catalog.ConditionCheck {
			c.Unclear = cmp.Or(c.Unclear, name+" is ZEROFILL: as a text it has zeros in the table only")
		}
	}
	t.Conditions = append(append(t.Conditions, c), moments...)
}

// ofMoments are the functions of SQLite that take moments, with the number of the first one among their arguments.
var ofMoments = map[string]int{"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1, "timediff": 0}

// In a table or an index SQLite refuses a row if a function depends on the time or the place: if a moment, or one of its
// modifiers, is one of these, in letters of any case.
const (
	nowMoments     = "('now', 'subsec', 'subsecond')"
	localModifiers = "('localtime', 'utc')"
)

// moments are further conditions beside c: that no column is such an argument. unclear says which argument may be one; "" if
// none is.
func (t *building) moments(d sqldb.Dialect, c catalog.Condition, all []sqltext.Token) (conditions []catalog.Condition, unclear string) {
	if d != sqldb.SQLite {
		return nil, ""
	}
	for i, function := range all {
		name := strings.ToLower(function.Text)
		first, is := ofMoments[name]
		if !is || i+1 == len(all) || all[i+1].Text != "(" {
			continue
		}
		arguments := t.arguments(all[i+1:])
		if len(arguments) <= first {
			arguments = append(arguments, nil) // it takes the present time
		}
		for k, argument := range arguments[first:] {
			words := localModifiers
			if k == 0 || name == "timediff" {
				words = nowMoments
			}
			r := conditionReader{d: d, t: t}
			switch {
			case len(argument) != 1:
				unclear = "what " + name + " is given may depend on the time of the query"
			case argument[0].Text[0] != '\'' && r.column(argument[0].Name()) != "":
				conditions = append(conditions, catalog.Condition{Kind: catalog.ConditionMoment, Name: cmp.Or(c.Name, c.Text), Columns: r.columns,
					Text: "lower(CAST(" + d.Quote(r.columns[0]) + " AS TEXT)) NOT IN " + words})
			case strings.Contains(words, "'"+strings.ToLower(argument[0].Name())+"'"):
				unclear = argument[0].Text + " may depend on the time of the query"
			}
		}
	}
	return conditions, unclear
}

// arguments are those in the parentheses with which a text begins, without the name of the table: () has an empty one.
func (t *building) arguments(all []sqltext.Token) (list [][]sqltext.Token) {
	list, depth := append(list, nil), 0
	for i, token := range all {
		last := &list[len(list)-1]
		switch {
		case token.Text == "(":
			depth++
		case token.Text == ")":
			depth--
		}
		switch {
		case depth == 0:
			return list
		case i == 0:
		case depth == 1 && token.Text == ",":
			list = append(list, nil)
		case token.Text == "." && len(*last) > 0 && strings.EqualFold((*last)[len(*last)-1].Name(), t.name):
			*last = (*last)[:len(*last)-1]
		default:
			*last = append(*last, token)
		}
	}
	return list
}

// computes adds that what an index computes of a row can be computed, if it may fail to be: the index has its parts in
// parentheses, and perhaps a condition behind WHERE.
func (t *building) computes(d sqldb.Dialect, index string, definition []sqltext.Token) {
	end := sqltext.Closing(definition)
	c := catalog.Condition{Kind: catalog.ConditionIndex, Name: index}
	moments, unclear := t.moments(d, c, definition)
	t.Conditions = append(t.Conditions, moments...)
	c.Unclear = unclear
	if !mayFail(definition) && unclear == "" || end < 0 {
		return
	}
	read := func(part []sqltext.Token) string {
		r := conditionReader{d: d, t: t, columns: c.Columns}
		r.read(part)
		c.Columns = r.columns
		return r.text.String()
	}
	computed, first, depth := "", 1, 0
	for i, token := range definition[:end+1] {
		switch token.Text {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth > 1 || token.Text != "," && i < end {
			continue
		}
		part := definition[first:i]
		if last := len(part) - 1; part[last].Keyword("ASC") || part[last].Keyword("DESC") {
			part = part[:last]
		}
		if value := read(part); d == sqldb.SQLite {
			computed += " AND typeof(" + value + ") <> ''"
		} else if mayFail(part) {
			computed += " AND COALESCE(LENGTH(" + value + "), 0) >= 0"
		}
		first = i + 1
	}
	c.Text = strings.TrimPrefix(computed, " AND ")
	if rest := definition[end+1:]; len(rest) > 0 && d == sqldb.SQLite {
		c.Text = "CASE WHEN " + read(rest[1:]) + " THEN " + c.Text + " END"
	}
	t.Conditions = append(t.Conditions, c) // an index computes the same everywhere
}

// mayFail reports whether some row may have no value for an expression. Most functions have one for every row; those
// that read JSON have not.
func mayFail(expression []sqltext.Token) bool {
	for i, t := range expression[:max(len(expression)-1, 0)] {
		name, next := strings.ToLower(t.Text), expression[i+1].Text
		harmless := pure[name] && name != "abs" && name != "cot" && !strings.HasPrefix(name, "json")
		if next == "(" && t.IsWord() && !harmless || t.Text == "-" && next == ">" {
			return true
		}
	}
	return false
}

// conditionReader writes a condition in a form that means the same in every
// database that has the columns.
type conditionReader struct {
	d       sqldb.Dialect
	t       *building
	text    strings.Builder
	columns []string
	unclear string
}

func (r *conditionReader) read(all []sqltext.Token) {
	end := -1
	for i := 0; i < len(all); i++ {
		t := all[i]
		next := func(text string) bool { return i+1 < len(all) && all[i+1].Text == text }
		if t.Text[0] != '\'' && next(".") && strings.EqualFold(t.Name(), r.t.name) {
			i++ // the name of the table
			continue
		}
		var before sqltext.Token
		if i > 0 {
			before = all[i-1]
		}
		marks := i+1 < len(all) && all[i+1].Start == t.End() && all[i+1].Text[0] == '\'' // x'00', _utf8mb4'text'
		if r.text.Len() > 0 && end != t.Start {
			r.text.WriteByte(' ')
		}
		r.text.WriteString(r.word(t, before, next("("), marks))
		end = t.End()
	}
}

// word is a token of a condition as it is written again.
func (r *conditionReader) word(t, before sqltext.Token, called, marks bool) string {
	quoted := t.Text[0] == '`' || t.Text[0] == '[' && r.d == sqldb.SQLite || t.Text[0] == '"'
	switch {
	case quoted, t.IsWord() && !called && !marks:
		if name := r.column(t.Name()); name != "" {
			return name
		}
	}
	lower := strings.ToLower(t.Text)
	switch {
	case t.Text[0] == '"' && r.d == sqldb.SQLite:
		return "'" + strings.ReplaceAll(t.Name(), "'", "''") + "'" // SQLite takes what is no column for a text
	case quoted:
		r.unclear = cmp.Or(r.unclear, "it names "+t.Text+", which is not a column of the table")
	case t.IsWord() && (before.Text != "" && (before.Keyword("collate") || before.Keyword("using") || before.Keyword("charset") || before.Keyword("set"))):
	case t.IsWord() && !marks && !pure[lower]:
		r.unclear = cmp.Or(r.unclear, "the result of "+t.Text+" may depend on the database, the session or the time")
	case t.IsWord() && !marks:
		return lower
	case t.Text == "@" || t.Text == "?" || t.Text == ":":
		r.unclear = cmp.Or(r.unclear, "it depends on a variable")
	}
	return t.Text
}

// skips returns why a SELECT may not evaluate all of a condition, though an INSERT does and may fail; "" if it does. MySQL and
// MariaDB skip IS NULL of an expression whose type cannot be NULL, and, in some cases, rows of several values.
func (r *conditionReader) skips(all []sqltext.Token) string {
	if r.d == sqldb.SQLite {
		return ""
	}
	var opened []int // parentheses
	for i, t := range all {
		is := slices.DeleteFunc(slices.Clone(all[i+1:min(i+3, len(all))]), func(t sqltext.Token) bool { return t.Keyword("NOT") })
		asks, operand := t.Keyword("IS") && len(is) > 0 && (is[0].Keyword("NULL") || is[0].Keyword("UNKNOWN")), ending(all[:i])
		if t.Keyword("ISNULL") && i+1 < len(all) {
			asks, operand = true, all[i+1:i+2+max(0, sqltext.Closing(all[i+1:]))]
		}
		switch {
		case asks && !r.isComputed(operand):
			return "what it asks IS NULL of is computed only when a row is written"
		case t.Text == "(":
			opened = append(opened, i)
		case t.Text == ")" && len(opened) > 0:
			opened = opened[:len(opened)-1]
		case t.Text == "," && len(opened) > 0 && begins(all, opened[len(opened)-1]):
			return "rows of several values are computed only when a row is written"
		}
	}
	return ""
}

// begins reports whether an operand begins at a place, and is no call, list or part of a sum.
func begins(all []sqltext.Token, at int) bool {
	return at == 0 || slices.Contains([]string{"(", ",", "and", "or", "xor", "not", "!", "&&", "||", "when", "then", "else"}, strings.ToLower(all[at-1].Text))
}

// ending is the operand with which a text ends.
func ending(text []sqltext.Token) []sqltext.Token {
	for i, depth := len(text)-1, 0; i >= 0; i-- {
		switch text[i].Text {
		case ")":
			depth++
		case "(":
			depth--
		}
		if depth == 0 && begins(text, i) {
			return text[i:]
		}
	}
	return text
}

var (
	// total are functions that have a value of every text and number, without a warning.
	total = []string{"coalesce", "ifnull", "length", "char_length", "octet_length", "lower", "upper", "lcase", "ucase", "trim", "ltrim", "rtrim", "concat"}
	// swallow are words that make a value of NULL.
	swallow = []string{"coalesce", "ifnull", "nvl", "if", "case", "is", "isnull"}
	// unsure are functions whose result may be NULL, whatever they are given.
	unsure = []string{"nullif", "json_extract", "json_value", "json_search", "elt", "str_to_date"}
)

// isComputed reports whether the answer of IS NULL can be trusted: its operand may be NULL by its type, so that the server computes
// it, or it cannot fail, since it consists of columns, literals and [total] functions alone.
func (r *conditionReader) isComputed(operand []sqltext.Token) bool {
	nullable, plain, swallowed := false, true, false
	for _, t := range operand {
		lower := strings.ToLower(t.Text)
		swallowed = swallowed || slices.Contains(swallow, lower)
		i := slices.IndexFunc(r.t.columns, func(c *column) bool { return strings.EqualFold(c.Name, t.Name()) })
		literal := t.Text[0] == '\'' || t.Text[0] == '_' || t.Text[0] >= '0' && t.Text[0] <= '9'
		nullable = nullable || i >= 0 && r.t.columns[i].Nullable
		plain = plain && (i >= 0 || literal || strings.Contains("(),.", t.Text) || slices.Contains(total, lower) || strings.EqualFold(t.Name(), r.t.name))
	}
	return plain || nullable && !swallowed || len(operand) > 0 && slices.Contains(unsure, strings.ToLower(operand[0].Text))
}

// column notes a column, and quotes its name; "" if there is none.
func (r *conditionReader) column(name string) string {
	for _, c := range r.t.columns {
		if !strings.EqualFold(c.Name, name) {
			continue
		}
		if !slices.Contains(r.columns, c.Name) {
			r.columns = append(r.columns, c.Name)
		}
		return r.d.Quote(c.Name)
	}
	return ""
}
