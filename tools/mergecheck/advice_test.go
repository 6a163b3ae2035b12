package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/verdict"
)

// What advice says to write: a table of a file of rules in one line, or a list of its [check].
var (
	adviceTable = regexp.MustCompile(`(\[\[[a-z.]+\]\]) ((?:(?:, )?[a-z_]+ = (?:"[^"]*"|\[[^\]]*\]|\{[^}]*\}))+)`)
	advicePair  = regexp.MustCompile(`[a-z_]+ = (?:"[^"]*"|\[[^\]]*\]|\{[^}]*\})`)
	adviceRekey = "[merge] rekey = true"
	adviceList  = regexp.MustCompile(`(?:plain|shared) = \["[^\]]*"\]`)
)

// ruleIn takes the first rule out of a line of advice, as a file has it; "" if it has none.
func ruleIn(advice string) string {
	list, table := adviceList.FindStringIndex(advice), adviceTable.FindStringSubmatchIndex(advice)
	switch {
	case table != nil && (list == nil || table[0] < list[0]):
		head, pairs := advice[table[2]:table[3]], advicePair.FindAllString(advice[table[4]:table[5]], -1)
		return head + "\n" + strings.Join(pairs, "\n") + "\n"
	case strings.Contains(advice, adviceRekey):
		return strings.Replace(adviceRekey, " ", "\n", 1) + "\n"
	case list != nil:
		return "[check]\n" + advice[list[0]:list[1]] + "\n"
	}
	return ""
}

// flagsIn takes the flags out of the advice for all that was not verified for the same reasons as a result: a report shows
// them as one step.
func flagsIn(results []verdict.Result, of *verdict.Result) (args []string) {
	for _, r := range results {
		if flag, value, is := strings.Cut(strings.ReplaceAll(r.Allow, "'", ""), " "); is && sharesReason(&r, of) {
			args = append(args, flag, value)
		}
	}
	return args
}

// sharesReason reports whether a result is open, and for a reason of another.
func sharesReason(r, of *verdict.Result) bool {
	return r.Verdict == verdict.NotVerified && !r.Allowed && slices.ContainsFunc(r.Gaps, func(g verdict.Gap) bool { return slices.Contains(of.Gaps, g) })
}

// advised are small worlds that have the finding of a code: statements for both worlds, of which each %d is 0 in one and
// 1000 in the other, and the rules that are there.
var advised = []struct {
	code, name string
	sql        []string
	rules      string
}{
	{verdict.CodeReferenceSevered, "a hero stays behind and nothing says what becomes of the pet", []string{
		"CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, level INTEGER)", "CREATE TABLE pet (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER)",
		"INSERT INTO hero VALUES (%[1]d+1, 1), (%[1]d+2, 50)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO pet SELECT %[1]d + i, %[1]d + 1 FROM n",
	}, `[check]
plain = ["hero.level"]
[[check.reference]]
to = "hero.id"
at = ["pet.owner"]
[[merge.leave]]
table = "hero"
where = "level < 10"
[merge]
rekey = true
`},
	{verdict.CodeKeyNobody, "0 may be nobody", []string{
		"CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT)", "CREATE TABLE pet (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER)",
		"INSERT INTO hero VALUES (1), (2)", "INSERT INTO pet VALUES (1, 1), (2, 0)",
	}, "[[check.reference]]\nto = \"hero.id\"\nat = [\"pet.owner\"]\n[merge]\nrekey = true\n"},
	{verdict.CodeReferenceUndeclared, "an owner that nobody declared", []string{
		"CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT)", "CREATE TABLE pet (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER)",
		"INSERT INTO hero VALUES (1), (2)", "INSERT INTO pet VALUES (1, 1), (2, 2)",
	}, "[merge]\nrekey = true\n"},
	{verdict.CodeKeyUndeclared, "a place in a key", []string{
		"CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT)", "CREATE TABLE bag (owner INTEGER NOT NULL, slot INTEGER NOT NULL, PRIMARY KEY (owner, slot))",
		"INSERT INTO hero VALUES (1), (2)", "INSERT INTO bag VALUES (1, 1), (2, 2)",
	}, "[[check.reference]]\nto = \"hero.id\"\nat = [\"bag.owner\"]\n[merge]\nrekey = true\n"},
	{verdict.CodeKeyCollision, "a key that the database counts up", []string{
		"CREATE TABLE guild (id INTEGER NOT NULL PRIMARY KEY, name TEXT)", "INSERT INTO guild VALUES (3, 'a%d'), (4, 'b%d')",
	}, ""},
	{verdict.CodeKeyCollision, "a key that nobody declared", []string{
		"CREATE TABLE guild (id BIGINT NOT NULL PRIMARY KEY, name TEXT)", "INSERT INTO guild VALUES (3, 'a%d'), (4, 'b%d')",
	}, ""},
	{verdict.CodeKeyCollision, "a plate of a car that is a key", []string{
		"CREATE TABLE car (plate VARCHAR(30) NOT NULL PRIMARY KEY, model TEXT)", "INSERT INTO car VALUES ('AB 12', 'a%d'), ('XY 7', 'b%d')",
	}, ""},
	{verdict.CodeKeyCollision, "a key of which some values are of heroes", []string{
		"CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT)", "CREATE TABLE face (id INTEGER NOT NULL PRIMARY KEY, kind INTEGER NOT NULL)",
		"INSERT INTO hero VALUES (1), (2)", "INSERT INTO face VALUES (1, 1), (2, 1), (%d + 50, 2)",
	}, "[check]\nplain = [\"face.kind\"]\n[[check.reference]]\nto = \"hero.id\"\nat = [\"face.id\"]\nwhen = { column = \"kind\", is = [1] }\nothers = \"plain\"\n[merge]\nrekey = true\n"},
	{verdict.CodeUniqueCollision, "bytes among numbers", []string{
		"CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, luck REAL UNIQUE)", "INSERT INTO hero VALUES (1, %d.5), (2, x'01')",
	}, "[merge]\nrekey = true\n"},
	{verdict.CodeReferenceNone, "a hero whose number names no hero", []string{
		"CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT)", "CREATE TABLE pet (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER)",
		"INSERT INTO hero VALUES (1), (2)", "INSERT INTO pet VALUES (1, 1), (2, 2)",
	}, "[[check.reference]]\nto = \"hero.id\"\nat = [\"pet.owner\"]\nnone = [1]\n[merge]\nrekey = true\n"},
	{verdict.CodeTableSkipped, "a table whose name has a dot", []string{"CREATE VIRTUAL TABLE \"a.b\" USING fts5(x)"}, ""},
	{verdict.CodeKeyCounter, "a counter in a row", []string{
		"CREATE TABLE hero (id INTEGER NOT NULL PRIMARY KEY, level INTEGER)", "CREATE TABLE seq (name TEXT NOT NULL PRIMARY KEY, next_id INTEGER NOT NULL)",
		"INSERT INTO hero VALUES (1, 300), (2, 300), (77, 300)", "INSERT INTO seq VALUES ('hero', 78)",
	}, "[check]\nplain = [\"hero.level\"]\n[[merge.space]]\nkeys = [\"hero.id\"]\n[[merge.table]]\ntables = [\"seq\"]\npolicy = \"skip\"\n"},
	{verdict.CodeUniqueCollision, "the same guild name twice", []string{
		"CREATE TABLE guild (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(30) NOT NULL UNIQUE)", "INSERT INTO guild VALUES (%[1]d+1, 'Wolves'), (%[1]d+2, 'Owls')",
	}, ""},
	{verdict.CodeColumnOpaque, "a blob", []string{
		"CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, face BLOB)", "INSERT INTO hero VALUES (%[1]d+1, x'00ff1234'), (%[1]d+2, x'00ff1234')",
	}, ""},
}

// Who writes the first rule that the advice for a code prints, as it is printed, does not get the finding again. Nor does
// who allows what it says may be allowed: nothing else is open for the same reason then.
func TestAdviceIsFollowed(t *testing.T) {
	for _, c := range advised {
		t.Run(c.code+"/"+c.name, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"-json"}
			write := func(name, text string) {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				args = append(args, "-rules", path)
			}
			write("game.toml", c.rules)
			for i, name := range []string{"s1", "s2"} {
				path := filepath.Join(dir, name+".db")
				db, err := sql.Open("sqlite", path)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				for _, statement := range c.sql {
					if strings.Contains(statement, "%") {
						statement = fmt.Sprintf(strings.ReplaceAll(statement, "%d", "%[1]d"), 1000*i)
					}
					if _, err := db.Exec(statement); err != nil {
						t.Fatalf("%s: %v", statement, err)
					}
				}
			}
			report := func(args []string) []verdict.Result {
				return reportOf(t, append(slices.Clone(args), "sqlite:"+filepath.Join(dir, "s1.db"), "sqlite:"+filepath.Join(dir, "s2.db"))...).Results
			}
			check := func(args []string) (open []verdict.Result) {
				for _, result := range report(args) {
					if c.code == verdict.CodeReferenceSevered && result.Code == verdict.CodeKeyNobody && result.Verdict != verdict.Pass {
						t.Errorf("rows that stay behind are taken for nobody: %q", result.Next) // gone is the way, and not none
					}
					if result.Code == c.code && result.Verdict != verdict.Pass && !result.Allowed {
						open = append(open, result)
					}
				}
				return open
			}
			before := check(args)
			if len(before) == 0 {
				t.Fatal("there is no such finding")
			}
			flags := flagsIn(report(args), &before[0])
			for _, after := range report(append(args, flags...)) {
				if len(flags) > 0 && sharesReason(&after, &before[0]) {
					t.Errorf("with %q there is still: %s %s %q", flags, after.Code, after.Subject, after.Next)
				}
			}
			wrote := ""
			for _, advice := range before[0].Next {
				if wrote = ruleIn(advice); wrote != "" {
					break
				}
			}
			switch {
			case wrote == "" && len(flags) > 0:
				return
			case wrote == "":
				t.Fatalf("no rule and no flag in %q", before[0].Next)
			}
			write("mine.toml", wrote)
			for _, after := range check(args) {
				if after.Table == before[0].Table && after.Subject == before[0].Subject {
					t.Errorf("with\n%sthere is still: %s %q", wrote, after.Message, after.Next)
				}
			}
		})
	}
}

// The advice for all other codes is about the worlds, and has no rule.
func TestOtherAdviceHasNoRule(t *testing.T) {
	for _, c := range verdict.Codes() {
		tried := slices.ContainsFunc(advised, func(a struct {
			code, name string
			sql        []string
			rules      string
		}) bool {
			return a.code == c.Code
		})
		if rule := ruleIn(c.Action + " " + c.Unverified); !tried && rule != "" {
			t.Errorf("%s: %s: want a world in advised", c.Code, rule)
		}
	}
}

// reportOf runs mergecheck -json, whatever the verdict is.
func reportOf(t *testing.T, args ...string) *verdict.Report {
	t.Helper()
	r, report := mergecheck(t.Context(), args...), new(verdict.Report)
	if err := json.Unmarshal([]byte(r.stdout), report); err != nil {
		t.Fatalf("%v: %s", err, r.stderr)
	}
	return report
}
