package world

import (
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/sqltext"
)

// addTable takes the statement apart by which a server of MySQL or MariaDB describes a table: CREATE TABLE name
// (definitions) options. format is one of InnoDB that may come from an older default of the server: then it is not
// among the options, and made with the new default the table would have another one.
func (s *reader) addTable(name, create, format string) {
	all := sqltext.MySQL(create)
	open := slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Text == "(" })
	end := open + sqltext.Closing(all[open:])
	table := Object{Kind: Table, Name: name, SQL: create[all[end].End():]}
	for i := end; i+2 < len(all); i++ {
		if all[i].Keyword("AUTO_INCREMENT") {
			table.Counted = all[i+2].Text
			table.SQL = strings.TrimSuffix(create[all[end].End():all[i].Start], " ") + create[all[i+2].End():]
			break
		}
	}
	// Tables are made where the server makes tables now; only those that were altered name this place.
	table.SQL = strings.TrimPrefix(table.SQL, " /*!50100 TABLESPACE `innodb_system` */")
	table.SQL = withFormat(withoutPageChecksum(table.SQL), format)
	s.Objects = append(s.Objects, table)
	places := make(map[Kind]int)
	for _, sql := range sqltext.Parts(sqltext.InParentheses(create, all[open:])) {
		o := Object{Table: name, SQL: sql}
		if o.Kind, o.Name = definition(sql); o.Kind == Column || o.Kind == Index {
			places[o.Kind]++
			o.Place = strconv.Itoa(places[o.Kind])
		}
		s.Objects = append(s.Objects, o)
	}
}

// Into makes the tables of engines without transactions tables of another engine, of InnoDB; of none if it is "". A
// column that counted anew for each value of the columns before it in a key gets an index of its own, and is among
// recounted.
func (s *Schema) Into(engine string) (recounted []string) {
	for i := range s.Objects {
		o := &s.Objects[i]
		all := sqltext.MySQL(o.SQL)
		at := slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Keyword("ENGINE") })
		if engine == "" || o.Kind != Table || at < 0 || !slices.Contains(mysqlOutside, all[at+2].Text) {
			continue
		}
		memory := all[at+2].Keyword("MEMORY")
		o.SQL = withEngine(o.SQL, engine)
		if column := s.partsInto(o.Name, engine, memory); column != "" {
			recounted = append(recounted, o.Name+"."+column)
		}
	}
	return recounted
}

// partsInto is Into for what belongs to a table. Indexes that only MEMORY makes as a hash become others.
func (s *Schema) partsInto(table, engine string, memory bool) (recounted string) {
	counts, indexes := "", 0
	var heads []string
	for i := range s.Objects {
		o := &s.Objects[i]
		if o.Table != table {
			continue
		}
		all := sqltext.MySQL(o.SQL)
		switch o.Kind {
		case Column:
			if slices.ContainsFunc(all, func(t sqltext.Token) bool { return t.Keyword("AUTO_INCREMENT") }) {
				counts = o.Name
			}
		case Index, PrimaryKey:
			heads = append(heads, all[1+slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Text == "(" })].Name())
			if o.SQL = withEngine(o.SQL, engine); memory {
				o.SQL = strings.Replace(o.SQL, ") USING HASH", ")", 1)
			}
			if o.Kind == Index {
				indexes++
			}
		}
	}
	if counts == "" || slices.Contains(heads, counts) {
		return ""
	}
	s.Objects = append(s.Objects, Object{Kind: Index, Name: "recounted", Table: table,
		SQL: "KEY `recounted` (" + quote(counts) + ")", Place: strconv.Itoa(indexes + 1)})
	return counts
}

// notOfInnoDB are options of tables and indexes that InnoDB refuses or takes for something else.
var notOfInnoDB = []string{"ROW_FORMAT", "KEY_BLOCK_SIZE", "DATA", "INDEX", "TRANSACTIONAL", "PAGE_CHECKSUM"}

// withEngine has another engine among the options, those of partitions too, and none that InnoDB does not know.
func withEngine(options, engine string) string {
	all := sqltext.MySQL(options)
	for i := len(all) - 1; i >= 2; i-- {
		word, value := all[i-2], all[i]
		if word.Keyword("DIRECTORY") {
			word = all[i-3] // DATA, or INDEX
		}
		switch {
		case all[i-1].Text != "=":
		case word.Keyword("ENGINE"):
			options = options[:value.Start] + engine + options[value.End():]
		case slices.ContainsFunc(notOfInnoDB, word.Keyword):
			options = strings.TrimSuffix(options[:word.Start], " ") + options[value.End():]
		}
	}
	return options
}

// withoutPageChecksum leaves out of the options of a table of InnoDB one of Aria, which MariaDB shows as long as
// nobody alters the table.
func withoutPageChecksum(options string) string {
	all := sqltext.MySQL(options)
	engine, at := "", -1
	for i := 0; i+2 < len(all); i++ {
		switch {
		case all[i].Keyword("ENGINE"):
			engine = all[i+2].Text
		case all[i].Keyword("PAGE_CHECKSUM"):
			at = i
		}
	}
	if at < 0 || !strings.EqualFold(engine, "InnoDB") {
		return options
	}
	return strings.TrimSuffix(options[:all[at].Start], " ") + options[all[at+2].End():]
}

// withFormat has the format as the first of the options, wherever the server shows it.
func withFormat(options, format string) string {
	if format == "" {
		return options
	}
	all := sqltext.MySQL(options)
	if at := slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Keyword("ROW_FORMAT") }); at >= 0 {
		if !all[at+2].Keyword(format) {
			return options
		}
		options = strings.TrimSuffix(options[:all[at].Start], " ") + options[all[at+2].End():]
	}
	return " ROW_FORMAT=" + format + options
}

// definition says what a definition of a table is, and its name.
func definition(sql string) (kind Kind, name string) {
	all := sqltext.MySQL(sql)
	switch {
	case all[0].Text[0] == '`':
		return Column, all[0].Name()
	case all[0].Keyword("PRIMARY"):
		return PrimaryKey, ""
	case all[0].Keyword("PERIOD"):
		return Period, all[2].Name()
	case all[0].Keyword("CONSTRAINT") && all[2].Keyword("CHECK"):
		return Check, all[1].Name()
	case all[0].Keyword("CONSTRAINT"):
		return ForeignKey, all[1].Name()
	}
	quoted := slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Text[0] == '`' })
	return Index, all[quoted].Name() // KEY `name`, UNIQUE KEY `name`
}

// bare are the kinds that are made with a table. The others come after its rows.
func bare(k Kind) bool { return slices.Contains([]Kind{Table, Column, PrimaryKey, Check, Period}, k) }

// makeTable is the statement that makes a table with what belongs to its rows, and with the index that an
// AUTO_INCREMENT column needs at once. An index that was made later is listed later, and of two UNIQUE ones the first
// decides which row ON DUPLICATE KEY UPDATE changes: so those before it come with it.
func (s *Schema) makeTable(table *Object) string {
	if s.Engine == sqlite {
		return table.SQL
	}
	var definitions, indexes []string
	counts := ""   // the column that counts
	needs := 0     // how many indexes have to be there for it,
	found := false // and whether one was found,
	leads := false // and whether the column is its first
	for i := range s.Objects {
		o := &s.Objects[i]
		if o.Table != table.Name {
			continue
		}
		words := sqltext.MySQL(o.SQL)
		at := func(word string) int {
			return slices.IndexFunc(words, func(t sqltext.Token) bool { return t.Keyword(word) })
		}
		if bare(o.Kind) {
			definitions = append(definitions, o.SQL)
		}
		// MySQL tells a collation, without its character set, that is the one of the table. If it were given, it
		// would tell both from then on.
		i := at("COLLATE")
		expression := max(at("GENERATED"), at("DEFAULT")) // which may have a collation, too
		if s.Engine == engineMySQL && o.Kind == Column && i > 0 && at("CHARACTER") < 0 && (expression < 0 || i < expression) {
			definitions[len(definitions)-1] = o.SQL[:words[i].Start] + o.SQL[words[i+1].End():]
		}
		switch o.Kind {
		case Column:
			if at("AUTO_INCREMENT") > 0 {
				counts = words[0].Text
			}
		case Index, PrimaryKey:
			if o.Kind == Index {
				indexes = append(indexes, o.SQL)
			}
			// MyISAM counts also in a later column of an index. An index may have the name of the column.
			columns := words[1+slices.IndexFunc(words, func(t sqltext.Token) bool { return t.Text == "(" }):]
			in := slices.IndexFunc(columns, func(t sqltext.Token) bool { return t.Text == counts })
			if in == 0 && !leads || in > 0 && !found {
				needs, found, leads = len(indexes), true, in == 0
			}
		}
	}
	definitions = append(definitions, indexes[:needs]...)
	sql := "CREATE TABLE " + quote(table.Name) + " (\n  " + strings.Join(definitions, ",\n  ") + "\n)"
	if table.Counted != "" {
		sql += " AUTO_INCREMENT=" + table.Counted
	}
	return sql + table.SQL
}
