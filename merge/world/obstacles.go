package world

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
)

// Obstacle is a reason why an object cannot be made again as it is.
type Obstacle struct {
	Object string // "trigger t of table x"
	Why    string
	Do     string // the statement to run, which ends in ";", or another way out

	There bool // it is about the server of the new database, not about the world
}

func (o Obstacle) String() string { return o.Object + ": " + o.Why + ". To do: " + o.Do }

// Obstacles says what cannot be carried over, and what to do about it. Nothing is replaced or left out silently: while
// there are obstacles, the schema should not be made. Of a server that will have the new database, only what belongs to
// the server is read. What [Running] finds is not among them.
func (s *Schema) Obstacles(ctx context.Context, into Database) ([]Obstacle, error) {
	all := slices.Clone(s.found)
	if s.Engine == sqlite {
		failed, err := s.tryFile(ctx)
		return append(all, failed...), err
	}
	server, name, err := Server(into)
	if err != nil {
		return nil, err
	}
	to := &Connection{Database: server}
	defer to.Close()
	// It may be there if apply is repeated. A trigger says new.x, too.
	s.others = slices.DeleteFunc(s.others, func(other string) bool { return other == name })
	there := &reader{Schema: new(Schema), on: to}
	if err := there.readDatabase(ctx); err != nil {
		return nil, fmt.Errorf("reading the server of %q: %w", to.Name, err)
	}
	kind := func(s *Schema) string {
		return s.Engine + " " + s.Version + " with lower_case_table_names=" + s.lowerCase
	}
	if kind(there.Schema) != kind(s) {
		all = append(all, Obstacle{Object: "the server", Why: "it is " + kind(there.Schema) + ", and the world's is " + kind(s),
			Do: "choose a server of the same kind", There: true})
	}
	if there.digits != s.digits {
		all = append(all, Obstacle{Object: "the server", Why: "it has div_precision_increment=" + there.digits + ", and the world's has " + s.digits + ": quotients would have other digits",
			Do: "SET GLOBAL div_precision_increment = " + s.digits + ";", There: true})
	}
	format, err := one(ctx, to, "SELECT LOWER(@@innodb_default_row_format)")
	if err != nil {
		return nil, fmt.Errorf("reading the server of %q: %w", to.Name, err)
	}
	if is := Text(format[0]); is != "dynamic" {
		all = append(all, Obstacle{Object: "the server",
			Why: "it has innodb_default_row_format=" + is + ", which does not allow every table",
			Do:  "SET GLOBAL innodb_default_row_format = DYNAMIC; until apply is done", There: true})
	}
	on := &newServer{s, to, there.self}
	for _, refused := range []func(context.Context) ([]Obstacle, error){on.keyless, on.compressed} {
		tables, err := refused(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading the server of %q: %w", to.Name, err)
		}
		all = append(all, tables...)
	}
	for i := range s.Objects {
		o := &s.Objects[i]
		if database := s.mentions(o.SQL); database != "" {
			all = append(all, Obstacle{Object: o.String(), Why: "it contains the name of the database " + printable.Text(database),
				Do: "create it again without the name of a database"})
		}
	}
	accounts, err := on.definers(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the accounts of %q: %w", to.Name, err)
	}
	return append(all, accounts...), nil
}

// newServer is the one that a schema is to be made on: what it refuses.
type newServer struct {
	*Schema
	to    *Connection
	login string // the account there
}

// settingOn reads a switch of the server; one that it does not know is off.
func settingOn(ctx context.Context, to *Connection, name string) (bool, error) {
	on, err := to.Number(ctx, "SELECT @@"+name, false)
	if sqldb.Says(err, sqldb.UnknownVariable) {
		return false, nil
	}
	return on != 0, err
}

// keyless returns the tables without a primary key, if the server takes none: MySQL if this account cannot change that
// for its session, MariaDB in any case.
func (s *newServer) keyless(ctx context.Context) (all []Obstacle, err error) {
	const ofMySQL, ofMariaDB = "sql_require_primary_key", "innodb_force_primary_key"
	setting := ofMySQL
	on, err := settingOn(ctx, s.to, ofMySQL)
	if on && err == nil {
		_, err = s.to.Exec(ctx, "session", "SET SESSION sql_require_primary_key = 0", false)
		if on = sqldb.IsDenied(err); on {
			err = nil
		}
	} else if err == nil {
		setting = ofMariaDB
		on, err = settingOn(ctx, s.to, ofMariaDB)
	}
	if !on || err != nil {
		return nil, err
	}
	for _, o := range s.Objects {
		if o.Kind == Table && !slices.ContainsFunc(s.Objects, func(k Object) bool { return k.Kind == PrimaryKey && k.Table == o.Name }) {
			all = append(all, Obstacle{Object: o.String(), Why: "it has no primary key, and the server has " + setting + "=ON",
				Do: "SET GLOBAL " + setting + " = OFF; until apply is done"})
		}
	}
	return all, nil
}

// compressed returns the tables that the server, a MariaDB, would make and then not write to.
func (s *newServer) compressed(ctx context.Context) (all []Obstacle, err error) {
	if on, err := settingOn(ctx, s.to, "innodb_read_only_compressed"); !on || err != nil { // MySQL has none
		return nil, err
	}
	for _, o := range s.Objects {
		options := sqltext.MySQL(o.SQL)
		has := func(word string) bool {
			return slices.ContainsFunc(options, func(t sqltext.Token) bool { return t.Keyword(word) })
		}
		if o.Kind == Table && (has("COMPRESSED") || has("KEY_BLOCK_SIZE") && !has("ROW_FORMAT")) {
			all = append(all, Obstacle{Object: o.String(), Why: "it is compressed, and the server has innodb_read_only_compressed=ON",
				Do: "SET GLOBAL innodb_read_only_compressed = OFF; until apply is done"})
		}
	}
	return all, nil
}

// Running are the events of a world that the server runs also while it is fenced: they may write to it.
func Running(ctx context.Context, on *Connection) (all []Obstacle, err error) {
	if !on.Dialect().MySQL() {
		return nil, nil
	}
	names, err := on.Texts(ctx, "SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() "+
		"AND STATUS = 'ENABLED' AND @@event_scheduler = 'ON' ORDER BY EVENT_NAME")
	if err != nil {
		return nil, fmt.Errorf("reading the events of %q: %w", on.Name, err)
	}
	for _, name := range names {
		all = append(all, Obstacle{Object: (&Object{Kind: Event, Name: name}).String(),
			Why: "it is enabled, and the database server runs events even while the world is fenced",
			Do:  "SET GLOBAL event_scheduler = OFF; until the merge is done"})
	}
	return all, nil
}

// mentions returns the name of a database that stands in a statement: the world's own, or another one of the server.
func (s *Schema) mentions(sql string) string {
	ours := func(t sqltext.Token) bool {
		return slices.ContainsFunc(s.Objects, func(o Object) bool {
			return o.Table == "" && strings.EqualFold(o.Name, t.Name())
		})
	}
	all := sqltext.MySQL(sql)
	dynamic := slices.ContainsFunc(all, func(t sqltext.Token) bool { return t.Keyword("PREPARE") || t.Keyword("EXECUTE") })
	for i, t := range all {
		if t.Text[0] == '\'' || t.Text[0] == '"' {
			if dynamic && len(t.Text) > 1 { // perhaps a statement; a single quote mark has nothing inside
				if found := s.mentions(t.Name()); found != "" {
					return found
				}
			}
			continue
		}
		if !naming.Among(s.others, t.Name()) && !strings.EqualFold(s.database, t.Name()) || i+2 >= len(all) || all[i+1].Text != "." || i > 0 && (all[i-1].Text == "." || all[i-1].Text == "@") {
			continue
		}
		// A table may have the name of a database: then table.column names none, but database.table does.
		if !ours(t) || ours(all[i+2]) || i+3 < len(all) && all[i+3].Text == "." {
			return t.Name()
		}
	}
	return ""
}

// definer is the account by whose rights an object works.
func (o *Object) definer() (account, user, host string) {
	all := sqltext.MySQL(o.SQL)
	for i := 0; i+2 < len(all) && i < 8; i++ {
		if !all[i].Keyword("DEFINER") || all[i+1].Text != "=" {
			continue
		}
		if user = all[i+2].Name(); i+4 < len(all) && all[i+3].Text == "@" {
			return o.SQL[all[i+2].Start:all[i+4].End()], user, all[i+4].Name()
		}
		return all[i+2].Text, user, "" // a role of MariaDB
	}
	return "", "", ""
}

const (
	isAccount    = "SELECT COUNT(*) FROM mysql.user WHERE User = ? AND Host = ?"
	isSystemUser = "SELECT COUNT(*) FROM mysql.global_grants WHERE User = ? AND Host = ? AND PRIV = 'SYSTEM_USER'"
	logsRoutines = "SELECT @@log_bin = 1 AND @@log_bin_trust_function_creators = 0"
)

// definers finds accounts that do not exist on a server, or that this account cannot give an object there.
func (s *newServer) definers(ctx context.Context) (all []Obstacle, err error) {
	rights, err := rightsOf(ctx, s.to)
	if err != nil {
		return nil, err
	}
	grant := func(right string) string { return "GRANT " + right + " ON *.* TO " + account(s.login) + ";" }
	seen := make(map[string]bool)
	for _, o := range s.of(rest...) {
		written, user, host := o.definer()
		if written == "" || seen[written] || user+"@"+host == s.login {
			continue
		}
		seen[written] = true
		say := func(why, do string) {
			all = append(all, Obstacle{Object: o.String(), Why: "its definer " + printable.Text(written) + " " + why, Do: do})
		}
		right := "SET USER"
		if s.Engine == engineMySQL {
			right = "SET_ANY_DEFINER"
		}
		if !rights[right] && !rights["ALL PRIVILEGES"] {
			say("is another account, which this account cannot set", grant(right))
		}
		n, err := s.to.Number(ctx, isAccount, false, user, host)
		switch {
		case sqldb.Says(err, sqldb.LacksARight):
			say("may not exist: this account cannot see that", "GRANT SELECT ON mysql.* TO "+account(s.login)+";")
		case err != nil:
			return nil, err
		case n == 0:
			say("does not exist on the server",
				"make the object with another definer, or CREATE USER "+written+"; with the rights that it needs")
		case s.Engine == engineMySQL && !rights["SYSTEM_USER"]:
			if n, err = s.to.Number(ctx, isSystemUser, false, user, host); err != nil && !sqldb.Says(err, sqldb.LacksARight) {
				return nil, err
			} else if n > 0 {
				say("is a system user, but this account is not", grant("SYSTEM_USER"))
			}
		}
	}
	if n, err := s.to.Number(ctx, logsRoutines, false); err != nil {
		return nil, err
	} else if o := s.of(Function, Trigger); n == 1 && len(o) > 0 && !rights["SUPER"] && !rights["ALL PRIVILEGES"] {
		all = append(all, Obstacle{Object: o[0].String(), Why: "with a binary log, the database server lets only SUPER create functions and triggers",
			Do: "SET GLOBAL log_bin_trust_function_creators = 1; until apply is done"})
	}
	return all, nil
}

// account quotes what CURRENT_USER() tells.
func account(user string) string {
	at := strings.LastIndex(user, "@")
	if at < 0 {
		return quote(user)
	}
	return quote(user[:at]) + "@" + quote(user[at+1:])
}

// rightsOf are the rights of the account on the whole server, also by its roles.
func rightsOf(ctx context.Context, on *Connection) (map[string]bool, error) {
	lines, err := on.Texts(ctx, "SHOW GRANTS")
	rights := make(map[string]bool)
	for _, line := range lines {
		list, _, global := strings.Cut(strings.TrimPrefix(line, "GRANT "), " ON *.* TO ")
		for _, right := range strings.Split(list, ",") {
			if global {
				rights[strings.TrimSpace(right)] = true
			}
		}
	}
	return rights, err
}
