package sqldb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mergesafe/internal/sqltext"
)

// Control returns an error if a text has a statement that begins or ends a transaction, or that changes its
// connection for all that the pool runs on it later: rows that others write would not be committed, or would go
// elsewhere. It sees statements, and not what a routine, a trigger or a text that is run as a statement does.
func (s *Session) Control(query string) error {
	if plain(query) {
		return nil
	}
	readings := s.readings(query)
	if len(readings) == 0 {
		return &OpError{"statement", errors.New("it has conditional comments (/*!) for too many server versions: send it without them")}
	}
	for _, reading := range readings {
		for statement := range s.statements(reading) {
			if err := s.control(statement); err != nil {
				return &OpError{"statement", err}
			}
		}
	}
	return nil
}

// readings are the ways in which the server may read a text.
func (s *Session) readings(query string) [][]sqltext.Token {
	switch s.Dialect() {
	case MySQL:
		return sqltext.MySQLReadings(query)
	case PostgreSQL:
		return [][]sqltext.Token{sqltext.PostgreSQL(query)}
	}
	return [][]sqltext.Token{sqltext.SQLite(query)}
}

// plain reports whether a text is one statement of the most frequent kinds: no other takes it apart.
func plain(query string) bool {
	query = strings.TrimSpace(query)
	end := strings.IndexFunc(query, func(r rune) bool { return !unicode.IsLetter(r) })
	return end > 0 && !strings.Contains(query, ";") && slices.ContainsFunc([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"},
		func(word string) bool { return strings.EqualFold(query[:end], word) })
}

type statement []sqltext.Token

// begins reports whether a statement begins with one of these texts, in capital letters.
func (s statement) begins(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		i := 0
		for word := range strings.SplitSeq(text, " ") {
			if i == len(s) || !s[i].Keyword(word) {
				return false
			}
			i++
		}
		return true
	})
}

// statements divides a text at its semicolons, but for those in the body of a routine or a trigger.
func (s *Session) statements(all []sqltext.Token) func(yield func(statement) bool) {
	return func(yield func(statement) bool) {
		start, depth, routine := 0, 0, false
		for i, t := range all {
			switch {
			case t.Text == ";" && depth == 0:
				if start < i && !yield(all[start:i]) {
					return
				}
				start, routine = i+1, false
			case !routine:
				made := statement(all[start:i])
				routine = made.begins("CREATE") && statement{t}.begins("TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE") &&
					!slices.ContainsFunc(made, func(t sqltext.Token) bool { return t.Keyword("TABLE") }) // which may have such columns
			case s.Dialect() == MySQL:
				depth = 1 // to the end: a body has an END of many kinds, and a driver takes no two statements unless it is told to
			case t.Keyword("BEGIN"), t.Keyword("CASE") && depth > 0:
				depth++
			case t.Keyword("END") && depth > 0:
				depth--
			}
		}
		if start < len(all) {
			yield(all[start:])
		}
	}
}

// control returns an error if a statement is not one for the session.
func (s *Session) control(a statement) error {
	what, mysql := strings.ToUpper(a[0].Text), s.Dialect() == MySQL
	if mysql && a.begins("SET STATEMENT") {
		if i := slices.IndexFunc(a, func(t sqltext.Token) bool { return t.Keyword("FOR") }); i >= 0 && i+1 < len(a) {
			return s.control(a[i+1:])
		}
	}
	switch {
	case mysql && a.begins("REPEAT", "LOOP", "WHILE", "IF", "CASE", "FOR"):
		return fmt.Errorf("%s begins a block of statements, which may begin or end a transaction: put it into a routine, or send its statements one at a time", what)
	case a.begins("COMMIT PREPARED", "ROLLBACK PREPARED", "XA COMMIT", "XA ROLLBACK", "XA RECOVER"): // a transaction that another connection has left
	case s.tx != nil && a.begins("SAVEPOINT", "RELEASE", "ROLLBACK TO", "ROLLBACK WORK TO", "ROLLBACK TRANSACTION TO"):
	case s.tx != nil && !mysql && a.begins("LOCK"):
	case a.begins("BEGIN", "START TRANSACTION", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE TRANSACTION", "XA"), !mysql && a.begins("LOCK"):
		if s.tx != nil {
			return fmt.Errorf("%s would end the transaction or begin another one: in InTx, return nil to commit or an error to roll back; end the game's own transaction with its own methods", what)
		}
		return fmt.Errorf("%s belongs in InTx: each call on a DB is a transaction of its own, and the next one may use another connection", what)
	case a.begins("LOCK", "UNLOCK", "USE"), a.begins("SET") && a.sets(s.Dialect()):
		return fmt.Errorf("%s would change the connection for everything that the pool runs on it later: use a connection of DB.Pool, and restore it afterwards", what)
	case s.tx == nil && a.begins("CREATE TEMP", "CREATE TEMPORARY", "CREATE OR REPLACE TEMP", "CREATE OR REPLACE TEMPORARY", "CREATE LOCAL TEMP",
		"CREATE LOCAL TEMPORARY", "CREATE GLOBAL TEMP", "CREATE GLOBAL TEMPORARY"):
		return errors.New("a TEMPORARY object would belong to one connection of the pool and hide the object that others see by that name: create and drop it in InTx")
	case s.tx != nil && mysql && a.begins("ALTER", "ANALYZE TABLE", "ANALYZE LOCAL", "ANALYZE NO_WRITE_TO_BINLOG", "BACKUP", "CACHE INDEX", "CHECK TABLE",
		"CLONE", "CREATE", "DROP", "FLUSH", "GRANT", "IMPORT TABLE", "INSTALL", "LOAD INDEX", "OPTIMIZE", "RENAME", "REPAIR", "RESET", "REVOKE", "SET DEFAULT ROLE",
		"SET PASSWORD", "STOP", "TRUNCATE", "UNINSTALL") && !a.begins("CREATE TEMPORARY TABLE", "CREATE OR REPLACE TEMPORARY TABLE", "DROP TEMPORARY"):
		return fmt.Errorf("%s commits the transaction in MySQL: call it on the DB, outside the transaction", what)
	}
	return nil
}

// sets reports whether a SET is of where a session commits or finds its tables.
func (a statement) sets(d Dialect) bool {
	if d == PostgreSQL {
		name := a[1:]
		if name.begins("SESSION") {
			name = name[1:]
		}
		return name.begins("SCHEMA") || len(name) > 0 && strings.EqualFold(name[0].Name(), "search_path")
	}
	for i, t := range a[1:] {
		name := strings.ToLower(t.Name())
		if name != "autocommit" && name != "completion_type" || i+2 >= len(a) || a[i+2].Text != "=" && a[i+2].Text != ":" {
			continue
		}
		before := a[:i+1] // SET @@ SESSION .
		if before[len(before)-1].Text == "." {
			before = before[:len(before)-1]
		}
		switch last := before[len(before)-1]; {
		case last.Keyword("GLOBAL"), last.Keyword("PERSIST"), last.Keyword("PERSIST_ONLY"): // not of this session
		case last.Text == "@" && before[len(before)-2].Text != "@": // a variable of the game's own
		default:
			return true
		}
	}
	return false
}
