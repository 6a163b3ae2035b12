package world

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
)

// Whatever grants an account has: triggers that it is not shown are said to be
// hidden.
func TestTriggersAreSeen(t *testing.T) {
	t.Parallel()
	servertest.OnMySQLToo(t, func(t *testing.T) { testTriggersAreSeen(t, servertest.ServerDSN(t), false) })
}

// With partial_revokes=ON the name of a database in a grant is no pattern.
func TestTriggersAreSeenUnderPartialRevokes(t *testing.T) {
	t.Parallel()
	testTriggersAreSeen(t, servertest.PrivateMySQL(t, "--partial-revokes=ON").DSN(), true)
}

func testTriggersAreSeen(t *testing.T, server string, literal bool) {
	cfg, err := mysql.ParseDSN(server)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("mysql", server)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	// The name has a wildcard, and another case. Names of accounts are of this test alone.
	database := "Seen_" + strings.ToLower(t.Name())
	if literal {
		database = "Seen_literal"
	}
	account, role, inner := "seen_account", "seen_role", "seen_inner"
	run := func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := admin.Exec(s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	clear := []string{"DROP DATABASE IF EXISTS `" + database + "`", "DROP USER IF EXISTS " + account, "DROP ROLE IF EXISTS " + role, "DROP ROLE IF EXISTS " + inner}
	run(clear...)
	defer run(clear...)
	run("CREATE DATABASE `"+database+"`", "CREATE TABLE `"+database+"`.t (a INT PRIMARY KEY)",
		"CREATE TRIGGER `"+database+"`.fires AFTER INSERT ON `"+database+"`.t FOR EACH ROW SET @n = 1")
	var version string
	if err := admin.QueryRow("SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	mariadb := strings.Contains(version, "MariaDB")
	roleOn := func() { // whenever the account logs in
		if mariadb {
			run("GRANT "+role+" TO "+account, "SET DEFAULT ROLE "+role+" FOR "+account)
		} else {
			run("GRANT "+role+" TO "+account, "SET DEFAULT ROLE "+role+" TO "+account)
		}
	}
	escaped, raw := "`"+escapeName(database)+"`.*", "`"+database+"`.*"
	exact, wild := escaped, raw // as this server has it
	if literal {
		exact, wild = raw, escaped
	}
	give := func(privilege, on, to string) string { return fmt.Sprintf("GRANT %s ON %s TO %s", privilege, on, to) }
	for _, tt := range []struct {
		name  string
		setup func()
		sure  bool // that it is said to be shown them
	}{
		{"SELECT only", func() {}, false},
		{"all databases", func() { run(give("TRIGGER", "*.*", account)) }, true},
		{"everything", func() { run(give("ALL PRIVILEGES", "*.*", account)) }, true},
		{"this database", func() { run(give("TRIGGER", exact, account)) }, true},
		{"everything in this database", func() { run(give("ALL PRIVILEGES", exact, account)) }, true},
		{"a pattern", func() { run(give("TRIGGER", "`Seen%`.*", account)) }, false},
		{"the name as a pattern, beside the exact one without", func() { run(give("TRIGGER", wild, account)) }, false},
		{"a pattern that is less specific", func() { run(give("TRIGGER", "`%`.*", account)) }, false},
		{"another case", func() { run(give("TRIGGER", strings.ToLower(exact), account)) }, false},
		{"this database, a pattern without", func() { run(give("TRIGGER", exact, account), give("INSERT", "`Seen%`.*", account)) }, literal},
		{"the table only", func() { run(give("TRIGGER", "`"+database+"`.t", account)) }, false},
		{"a role that is active", func() { run(give("TRIGGER", exact, role)); roleOn() }, true},
		{"a role that is active, on all databases", func() { run(give("TRIGGER", "*.*", role)); roleOn() }, true},
		{"a role of a role", func() { run(give("TRIGGER", exact, inner), "GRANT "+inner+" TO "+role); roleOn() }, true},
		{"a role that is not active", func() { run(give("TRIGGER", exact, role), "GRANT "+role+" TO "+account) }, false},
		{"a role with a pattern", func() { run(give("SELECT, TRIGGER", "`Seen%`.*", role), give("INSERT", exact, role)); roleOn() }, false},
		// With a role MySQL takes the first name that matches, not the most specific one.
		{"this database, a role with a pattern without", func() { run(give("TRIGGER", exact, account), give("SELECT", "`Seen%`.*", role)); roleOn() }, mariadb || literal},
		{"taken back", func() {
			run(give("TRIGGER", exact, account), "REVOKE TRIGGER ON "+exact+" FROM "+account)
		}, false},
		{"all databases, taken back for this one", func() {
			run(give("TRIGGER", "*.*", account))
			if literal {
				run("REVOKE TRIGGER ON " + exact + " FROM " + account)
			}
		}, !literal},
		{"all databases, taken back for another one", func() {
			run(give("TRIGGER", "*.*", account))
			if literal {
				run("REVOKE TRIGGER ON `mysql`.* FROM " + account)
			}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run("DROP USER IF EXISTS "+account, "DROP ROLE IF EXISTS "+role, "DROP ROLE IF EXISTS "+inner,
				"CREATE USER "+account+" IDENTIFIED BY 'pw'", "CREATE ROLE "+role, "CREATE ROLE "+inner, give("SELECT", exact, account))
			tt.setup()
			as := cfg.Clone()
			as.User, as.Passwd, as.DBName, as.Params = account, "pw", database, nil
			s, err := Open(t.Context(), "w", "mysql:"+as.FormatDSN())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			c, err := s.Catalog(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("mysql", as.FormatDSN())
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var shown int
			if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE()").Scan(&shown); err != nil {
				t.Fatal(err)
			}
			sure := c.HiddenTriggers == ""
			if sure && shown != 1 {
				t.Error("it is not shown the trigger, and is said to be shown all")
			}
			if sure != tt.sure {
				t.Errorf("hidden: %s", c.HiddenTriggers)
			}
		})
	}
}

// A right is lacking if no line could give it on the database.
func TestLacking(t *testing.T) {
	for line, lacks := range map[string]bool{
		"GRANT USAGE ON *.* TO `op`@`%` IDENTIFIED BY PASSWORD 'x'": true,
		"GRANT SELECT, DROP ON *.* TO `op`@`%`":                     true,
		"GRANT CREATE VIEW ON `a_b`.* TO `op`@`%`":                  true,
		"GRANT CREATE ON `other`.* TO `op`@`%`":                     true,
		"GRANT CREATE ON `a_b`.`t` TO `op`@`%`":                     true,
		"GRANT SELECT, CREATE ON *.* TO `op`@`%`":                   false,
		"GRANT ALL PRIVILEGES ON `a\\_b`.* TO `op`@`%`":             false,
		"GRANT CREATE ON `a%`.* TO `role`":                          false,
	} {
		if got := Lacking([]string{line}, "a_b", false, []string{"CREATE"}); (len(got) > 0) != lacks {
			t.Errorf("%s: lacks %v, want %v", line, got, lacks)
		}
	}
	if got := Lacking([]string{"GRANT CREATE ON `a%`.* TO `op`@`%`"}, "a_b", true, []string{"CREATE"}); len(got) != 1 {
		t.Error("where names are no patterns, one was taken for one")
	}
}
