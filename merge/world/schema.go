package world

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
)

// Kind is what an object is, in words of people.
type Kind string

// The kinds of objects. A table of SQLite is one object, with its columns, constraints and foreign keys.
const (
	Sequence    Kind = "sequence"
	Table       Kind = "table"
	Column      Kind = "column"
	PrimaryKey  Kind = "primary key"
	Check       Kind = "check"
	Period      Kind = "period"
	Index       Kind = "index"
	ForeignKey  Kind = "foreign key"
	Package     Kind = "package"
	PackageBody Kind = "package body"
	Function    Kind = "function"
	Procedure   Kind = "procedure"
	View        Kind = "view"
	Trigger     Kind = "trigger"
	Event       Kind = "event"
)

// The engines.
const (
	mariadb     = "mariadb"
	engineMySQL = "mysql"
	sqlite      = "sqlite"
)

// Schema is what a database is made of, without rows, and without tables of ours ([sqldb.Ours]).
type Schema struct {
	Engine  string // "mariadb", "mysql" or "sqlite"
	Version string // of the engine: "10.11"
	Options string // of the database, as CREATE DATABASE takes them, or of an SQLite file, as PRAGMA takes them
	Objects []Object

	database, collation string     // its name and its collation
	self                string     // the account that read it, as CURRENT_USER() tells it
	lowerCase           string     // how the server compares names
	digits              string     // how many more than its parts a quotient has
	others              []string   // other databases of the server
	found               []Obstacle // by reading
	index               map[key]*Object
}

// Object is a thing of a database that has a name.
type Object struct {
	Kind  Kind
	Name  string
	Table string // of a part of a table, and of a trigger
	// SQL is the statement that makes it, of a part of a table its definition, and of a table of MySQL or MariaDB
	// its options; "" if it cannot be read. Routines, views, triggers and events keep the bytes of the character
	// set in which they were written.
	SQL       string
	Settings  string // of the session that made it, as SET SESSION takes them
	Collation string // of the database when it was made
	Place     string // of a column, an index of MySQL or MariaDB, or a trigger among its like
	Counted   string // how far a table or a sequence has counted
	State     string // of an event, whose SQL makes it with DISABLE
}

// String names the object: "index by_name of table player".
func (o *Object) String() string {
	name := strings.TrimSpace(string(o.Kind) + " " + printable.Text(o.Name))
	if o.Table != "" {
		name += " of table " + printable.Text(o.Table)
	}
	return name
}

// ours reports whether an object belongs to this project.
func (o *Object) ours() bool {
	return o.Kind == Table && sqldb.Ours(o.Name) || sqldb.Ours(o.Table) || o.Kind == View && o.Name == sqldb.KeysView
}

// Read describes a database, by SELECT and SHOW. Routines, triggers and events that the account must not see are
// missing: [mergesafe/merge/catalog.Catalog] tells what is hidden.
func Read(ctx context.Context, on *Connection) (*Schema, error) {
	r := &reader{Schema: new(Schema), on: on}
	read := r.readSQLite
	if on.Dialect().MySQL() {
		read = r.readMySQL
	}
	if err := read(ctx); err != nil {
		return nil, fmt.Errorf("reading the schema of %q: %w", on.Name, err)
	}
	r.find(&Object{}) // makes the index: from now on the schema may be used by several goroutines
	return r.Schema, nil
}

// ReadNames is [Read] of the kinds and names alone. Under LOCK TABLES, [Read] is refused what is not locked.
func ReadNames(ctx context.Context, on *Connection) (*Schema, error) {
	r := &reader{Schema: new(Schema), on: on}
	var err error
	if !on.Dialect().MySQL() {
		err = r.listSQLite(ctx)
	} else if err = r.readServer(ctx); err == nil {
		r.Objects, err = r.list(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the names in %q: %w", on.Name, err)
	}
	return r.Schema, nil
}

// reader fills a schema.
type reader struct {
	*Schema
	on *Connection
}

// cannot notes what cannot be made again.
func (s *reader) cannot(o *Object, why, do string) {
	s.found = append(s.found, Obstacle{Object: o.String(), Why: why, Do: do})
}

// key tells objects apart.
type key struct {
	kind        Kind
	name, table string
}

// find returns the object of the kind and name of o, in its table.
func (s *Schema) find(o *Object) *Object {
	if len(s.index) != len(s.Objects) {
		s.index = make(map[key]*Object, len(s.Objects))
		for i := range s.Objects {
			is := &s.Objects[i]
			s.index[key{is.Kind, is.Name, is.Table}] = is
		}
	}
	return s.index[key{o.Kind, o.Name, o.Table}]
}

// of are the objects of these kinds.
func (s *Schema) of(kinds ...Kind) (all []*Object) {
	for i := range s.Objects {
		if slices.Contains(kinds, s.Objects[i].Kind) {
			all = append(all, &s.Objects[i])
		}
	}
	return all
}

// Differences compares what was made, which is "here", with s, which is "there", as the servers describe both. The
// name of the database and how far it has counted do not matter. events says that [Schema.EnableEvents] was called:
// before, they have to be disabled here.
func (s *Schema) Differences(made *Schema, events bool) (all []string) {
	if s.Engine != made.Engine || s.Options != made.Options {
		all = append(all, "the database: "+s.different(s.Engine+" "+s.Options, made.Engine+" "+made.Options))
	}
	for _, o := range s.of(Event) {
		want := "DISABLE"
		if events {
			want = o.State
		}
		if is := made.find(o); is != nil && is.State != want {
			all = append(all, o.String()+": "+s.different(want, is.State))
		}
	}
	return append(all, s.differences(made, func(*Object) bool { return true })...)
}

// onlyHere ends the difference about an object that only the schema has that was made.
const onlyHere = ": only here"

// differences compares some of the objects.
func (s *Schema) differences(made *Schema, some func(*Object) bool) (all []string) {
	var places []string // which differ also if an object before is missing
	for i := range s.Objects {
		o := &s.Objects[i]
		if !some(o) {
			continue
		}
		is := made.find(o)
		if is == nil {
			all = append(all, o.String()+": only there")
			continue
		}
		say := func(what, there, here string) {
			if there != here {
				all = append(all, o.String()+": "+what+s.different(there, here))
			}
		}
		if !s.same(o, is) {
			say("", o.SQL, is.SQL)
		}
		say("made with ", o.Settings, is.Settings)
		say("made in a database of ", o.Collation, is.Collation)
		if o.Place != is.Place {
			places = append(places, fmt.Sprintf("%s: number %s there, %s here", o, o.Place, is.Place))
		}
	}
	for i := range made.Objects {
		if o := &made.Objects[i]; some(o) && s.find(o) == nil {
			all = append(all, o.String()+onlyHere)
		}
	}
	if len(all) == 0 {
		return places
	}
	return all
}

// same reports whether two objects have the same statement.
func (s *Schema) same(o, is *Object) bool { return s.text(o) == s.text(is) }

// text is the statement of an object, as far as two of them are compared.
func (s *Schema) text(o *Object) string {
	if o.Kind != Column && o.Kind != Check {
		return o.SQL
	}
	return strings.Join(slice.Map(s.plain(o.SQL), func(t sqltext.Token) string { return t.Text }), " ")
}

// words takes a text of the engine apart.
func (s *Schema) words(sql string) []sqltext.Token {
	if s.Engine == sqlite {
		return sqltext.SQLite(sql)
	}
	return sqltext.MySQL(sql)
}

// plain are the words of a part of a table without what depends on the age of a table: a remark on the version of a
// server that made a column, the character set of a literal (MySQL changes _utf8mb4'x' by any ALTER TABLE), that of a column
// whose collation tells it (MySQL shows it of a table that was loaded from a dump), and parentheses that MySQL leaves out when
// it makes a CHECK constraint of its own text.
func (s *Schema) plain(sql string) []sqltext.Token {
	sql = sqltext.Flat(sql)
	all := slices.DeleteFunc(s.words(sql), func(t sqltext.Token) bool { return t.IsCharset(sql) })
	for i := 0; i+4 < len(all); i++ {
		if all[i].Keyword("CHARACTER") && all[i+1].Keyword("SET") && all[i+3].Keyword("COLLATE") && strings.HasPrefix(all[i+4].Text, all[i+2].Text+"_") {
			all = slices.Delete(all, i, i+3)
		}
	}
	return all
}

func sameWord(a, b sqltext.Token) bool { return a.Text == b.Text }

// different shows what of two texts differs: "UNIQUE there, nothing here". Parentheses are shown with their partners.
func (s *Schema) different(there, here string) string {
	a, b := s.words(there), s.words(here)
	shorter := min(len(a), len(b))
	before, behind := 0, 0 // how many words are the same
	for before < shorter && sameWord(a[before], b[before]) {
		before++
	}
	for before+behind < shorter && sameWord(a[len(a)-1-behind], b[len(b)-1-behind]) {
		behind++
	}
	if len(a) == before+behind && len(b) == before+behind {
		return "spaces or comments differ"
	}
	for {
		closedA, openA := partners(a[before : len(a)-behind])
		closedB, openB := partners(b[before : len(b)-behind])
		if before > 0 && closedA+closedB > 0 {
			before--
		} else if behind > 0 && openA+openB > 0 {
			behind--
		} else {
			break
		}
	}
	show := func(sql string, all []sqltext.Token) string {
		all = all[before : len(all)-behind]
		if len(all) == 0 {
			return "nothing"
		}
		text := sql[all[0].Start:all[len(all)-1].End()]
		if short := fmt.Sprintf("%.200s", text); short != text {
			text = short + " ..."
		}
		return printable.Text(text)
	}
	return show(there, a) + " there, " + show(here, b) + " here"
}

// partners counts the parentheses that are closed and not opened, and those that are opened and not closed.
func partners(all []sqltext.Token) (closed, open int) {
	for _, t := range all {
		switch {
		case t.Text == "(":
			open++
		case t.Text == ")" && open > 0:
			open--
		case t.Text == ")":
			closed++
		}
	}
	return closed, open
}
