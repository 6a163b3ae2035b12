package world

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Triggers are shown to who has the TRIGGER privilege on their table, and events and
// routines to who has theirs; who has it not is shown none, and no error. Which of several grants counts is the server's
// matter: the most specific one, compared with case, a name being a pattern or
// not, restricted by REVOKE or not, of the account or a role. So the privilege is
// believed in two cases only, in which all of that leads to one answer:
//
//   - It is granted on all databases, and no REVOKE restricts that.
//   - It is granted on exactly this database, with no wildcard in the name, and
//     no other grant that might match the name lacks it.
//
// SHOW GRANTS shows what is in force: also that of roles, if they are active.

// hides returns why the account may not be shown all that a privilege shows of the database: triggers ("TRIGGER"), events
// ("EVENT") or routines ("EXECUTE"); "" if it is shown that.
func hides(ctx context.Context, conn *sql.Conn, privilege string) (why string, err error) {
	var database, account string
	var proxied bool
	const who = "SELECT DATABASE(), CURRENT_USER(), @@proxy_user IS NOT NULL"
	if err := conn.QueryRowContext(ctx, who).Scan(&database, &account, &proxied); err != nil {
		return "", err
	}
	literal, err := literalNames(ctx, conn)
	if err != nil {
		return "", err
	}
	lines, err := grants(ctx, conn)
	if err != nil {
		return "", err
	}
	if !proxied && sees(lines, privilege, database, literal) {
		return "", nil
	}
	return "the account may be unable to see them: it needs " + Grant(privilege, database, account, literal) +
		", and no other grant that matches the name and lacks " + privilege, nil
}

// grants are the lines of SHOW GRANTS.
func grants(ctx context.Context, conn *sql.Conn) (lines []string, err error) {
	var line string
	err = each(ctx, conn, "SHOW GRANTS", func() { lines = append(lines, line) }, &line)
	return lines, err
}

// literalNames reports whether a name in a grant of this server is no pattern. Only MySQL 8 knows the setting.
func literalNames(ctx context.Context, conn *sql.Conn) (literal bool, err error) {
	value, err := mysqlSwitch(ctx, conn, "SELECT @@partial_revokes")
	return isOn(value), err
}

// grantLine is a line of SHOW GRANTS about one database or all of them, in which
// privileges have no columns.
var grantLine = regexp.MustCompile("^(GRANT|REVOKE) ([A-Z_ ,]+) ON (\\*|`(?:[^`]|``)+`)\\.\\* (?:TO|FROM) (.+)$")

// sees reports whether these lines of SHOW GRANTS give a privilege on all of a database
// for sure. literal tells that names are no patterns.
func sees(lines []string, wanted, database string, literal bool) bool {
	type name struct{ exact, doubtful bool }
	found := make(map[string]name) // by account or role: each has its own most specific grant
	everywhere, restricted := false, false
	for _, line := range lines {
		m := grantLine.FindStringSubmatch(line)
		if m == nil {
			restricted = restricted || strings.HasPrefix(line, "REVOKE ")
			continue
		}
		has := gives(m[2], wanted)
		if m[3] == "*" {
			everywhere = everywhere || has && m[1] == "GRANT"
			continue
		}
		of := unquote(m[3])
		switch {
		case m[1] == "REVOKE":
			restricted = restricted || has && strings.EqualFold(of, database)
			continue
		case !concerns(m[3], database, literal):
			continue
		}
		to := strings.TrimSuffix(m[4], " WITH GRANT OPTION")
		n := found[to]
		n.doubtful = n.doubtful || !has
		n.exact = n.exact || has && (literal && of == database || !literal && of == escapeName(database))
		found[to] = n
	}
	for _, n := range found {
		if n.exact && !n.doubtful {
			return true
		}
	}
	return everywhere && !restricted
}

// Lacking returns those of some privileges that no line of SHOW GRANTS gives on all of a database, which
// need not exist. literal is what @@partial_revokes says.
func Lacking(lines []string, database string, literal bool, privileges []string) []string {
	return slices.DeleteFunc(slices.Clone(privileges), func(wanted string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			m := grantLine.FindStringSubmatch(line)
			return m != nil && m[1] == "GRANT" && gives(m[2], wanted) && (m[3] == "*" || concerns(m[3], database, literal))
		})
	})
}

// gives reports whether a privilege is among those of a line.
func gives(privileges, wanted string) bool {
	for p := range strings.SplitSeq(privileges, ",") {
		if p = strings.TrimSpace(p); p == wanted || p == "ALL PRIVILEGES" || p == "ALL" {
			return true
		}
	}
	return false
}

// concerns reports whether a quoted name in a line may mean the database.
func concerns(quoted, database string, literal bool) bool {
	name := unquote(quoted)
	return literal && strings.EqualFold(name, database) || !literal && mayMatch(name, database)
}

func unquote(name string) string { return strings.ReplaceAll(name[1:len(name)-1], "``", "`") }

// mayMatch reports whether a name in a grant, taken for a pattern or for what it
// says, may mean the database, in whichever case.
func mayMatch(pattern, database string) bool {
	var b strings.Builder
	escaped := false
	for _, c := range pattern {
		switch quoted := regexp.QuoteMeta(string(c)); {
		case escaped:
			b.WriteString(`\\?` + quoted)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '%' || c == '_':
			b.WriteString("(?s:.*)") // _ is one byte, which may not be a character
		default:
			b.WriteString(quoted)
		}
	}
	return regexp.MustCompile("(?i)^"+b.String()+"$").MatchString(database) || strings.EqualFold(pattern, database)
}

// escapeName is the name of a database in a GRANT that takes names for patterns.
func escapeName(database string) string {
	return strings.NewReplacer("_", `\_`, "%", `\%`).Replace(database)
}

// Grant is the statement that gives an account, such as CURRENT_USER() names
// it, a privilege on a database. With partial_revokes=ON the server takes the
// name as it is, literally; otherwise _ and % in it are wildcards, in GRANT only.
func Grant(privilege, database, account string, literal bool) string {
	if !literal {
		database = escapeName(database)
	}
	user, host, ok := cutLast(account, "@")
	if !ok {
		host = "%"
	}
	quote := strings.NewReplacer("'", "''")
	return fmt.Sprintf("GRANT %s ON `%s`.* TO '%s'@'%s'", privilege, strings.ReplaceAll(database, "`", "``"), quote.Replace(user), quote.Replace(host))
}
