package leave

import (
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
)

func worldOf(engine string) *rules.Database {
	table := func(name string, columns ...string) *catalog.Table {
		t := &catalog.Table{Name: name}
		for _, c := range columns {
			t.Columns = append(t.Columns, catalog.Column{Name: c})
		}
		return t
	}
	return &rules.Database{Name: "w1", Catalog: &catalog.Catalog{Engine: engine},
		Tables: map[string]*catalog.Table{"hero": table("hero", "guid", "Level", "logout", "name", "group"), "vip": table("vip", "id", "account")}}
}

// What is on the lists is allowed, and nothing else; the reason names it.
func TestConditions(t *testing.T) {
	for text, want := range map[string]string{
		"level < 30": "",
		"LEVEL<30 AND logout < :now - 90*86400 AND guid NOT IN (SELECT id FROM vip)":        "",
		"NOT EXISTS (SELECT 1 FROM vip v WHERE v.account = hero.guid) OR `group` IS NULL":   "",
		"(SELECT COUNT(*) FROM vip AS v JOIN hero AS h ON v.id = h.guid GROUP BY v.id) > 1": "",
		"CASE WHEN name LIKE 'a''b%' THEN 1 ELSE 0 END = 1 AND level BETWEEN 1 AND 2.5e1":   "",
		"COALESCE(level, 0) % 2 = 1 AND LENGTH(TRIM(name)) > 3 AND (level & 1) <> 0":        "",
		"":                                       "it is empty",
		"level < 30; DROP TABLE x":               `";" is not allowed`,
		"level < 30 -- all":                      "it has a comment",
		"level < 30 /* all */":                   "it has a comment",
		"level < 30 --1":                         "",
		"level - -1 < 30":                        "",
		"level --1 < 30":                         "",
		"level < @x":                             `"@" is not allowed`,
		"level < @@version":                      `"@" is not allowed`,
		"level < :later":                         `":later" is not allowed: want :now`,
		"level < ?":                              `"?" is not allowed`,
		"level < RAND()":                         "the function RAND is not allowed",
		"level < NOW()":                          "the function NOW is not allowed",
		"SLEEP(10)":                              "the function SLEEP is not allowed",
		"LOAD_FILE('/etc/passwd')":               "the function LOAD_FILE is not allowed",
		"x.f(1)":                                 `x.f is in another database`,
		"LENGTH() = 1":                           "LENGTH() has no argument",
		"logout < CURRENT_TIMESTAMP":             "CURRENT_TIMESTAMP is not allowed",
		"name = current_user":                    "current_user is not allowed",
		"guid IN (SELECT id FROM other.vip)":     "other.vip is in another database",
		"guid IN (SELECT other.vip.id FROM vip)": "is in another database",
		"guid IN (SELECT id FROM mergesafe_keys)":            `"mergesafe_keys" is not a table of w1`,
		"guid IN (SELECT id FROM information_schema.TABLES)": "information_schema.TABLES is in another database",
		"guid IN (SELECT id FROM vip, hero)":                 "",
		"guid IN (SELECT id FROM vip, other)":                `"other" is not a column`,
		"lvl < 3":                                            "\"lvl\" is not a column",
		`name = "Bob"`:                                       `"Bob" is a text in some databases and a name in others`,
		"[name] = 1":                                         " is a text in some databases",
		`name = 'a\'`:                                        "",
		"name = 'Bob":                                        "'Bob is not closed",
		"(level < 3":                                         "its parentheses are not closed",
		"level < 3) OR (1 = 1":                               "its parentheses are not closed",
		"name || 'x' = 'y'":                                  `"||" is not allowed`,
		"level && 1":                                         `"&&" is not allowed`,
		"name -> 'x' = 1":                                    `"->" is not allowed`,
		"level < 0x1f":                                       `"0x1f" is not a number`,
		"name = x'41'":                                       `"x" is not a column`,
		"level < 3 LIMIT 1":                                  `"LIMIT" is not a column`,
		"level < 3 UNION SELECT":                             `"UNION" is not a column`,
		"rowid < 3":                                          "rowid is not allowed",
		"level < 3 FOR UPDATE":                               `"FOR" is not a column`,
		"guid IN (SELECT id INTO x FROM vip)":                `"INTO" is not a column`,
		"{fn x}":                                             `"{" is not allowed`,
	} {
		for _, engine := range []string{"sqlite", "mariadb", "mysql"} {
			_, err := parse(text, worldOf(engine), "hero")
			got := ""
			if err != nil {
				got = err.Error()
			}
			want := want
			switch {
			case strings.Contains(text, "--1"):
				want = map[string]string{"sqlite": "it has a comment"}[engine]
				if want == "" {
					want = `"--" is not allowed`
				}
			case strings.Contains(text, `\`):
				want = "has a backslash"
			}
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s: %q, want %q", engine, text, got, want)
			}
		}
	}
}

// :now is a number, and nothing in a text is.
func TestNow(t *testing.T) {
	c, err := parse("logout < :now - 90 AND name <> ':now' AND level < :now", worldOf("mysql"), "hero")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.with(1700000000); got != "logout < 1700000000 - 90 AND name <> ':now' AND level < 1700000000" {
		t.Error(got)
	}
}
