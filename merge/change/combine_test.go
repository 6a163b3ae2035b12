package change_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// wallets are worlds with one table, of a row for each account and currency.
func wallets(t testing.TB, e worldtest.Engine, rows ...[]string) (all []world.Database) {
	t.Helper()
	for i, of := range rows {
		d := e.Fresh(t, fmt.Sprint("s", i+1))
		price, stamp := "INTEGER", "INTEGER DEFAULT 0"
		if e.Name != "sqlite" {
			price, stamp = "DECIMAL(6,2)", "TIMESTAMP NOT NULL DEFAULT '2020-02-02 02:02:02' ON UPDATE CURRENT_TIMESTAMP"
		}
		worldtest.Exec(t, d, `CREATE TABLE wallets (account INTEGER NOT NULL, currency INTEGER NOT NULL, gold BIGINT, vip INTEGER, first_login INTEGER, last_login INTEGER,
			banned DATETIME, name VARCHAR(20), log VARCHAR(20), motto VARCHAR(20), realm INTEGER, price `+price+`, stamp `+stamp+`, PRIMARY KEY (account, currency))`)
		for _, row := range of {
			worldtest.Exec(t, d, "INSERT INTO wallets (account, currency, gold, vip, first_login, last_login, banned, name, log, motto, realm, price) VALUES ("+row+")")
		}
		all = append(all, d)
	}
	return all
}

var walletFormulas = map[string]string{"gold": "sum", "vip": "max", "first_login": "min", "last_login": "max", "banned": "max", "name": "first", "log": "append 8", "motto": "last", "price": "sum"}

func combining(columns map[string]string) planner.PlanOptions {
	return planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing, Tables: []rules.TablePolicy{{Tables: []string{"wallets"}, Policy: rules.PolicyCombine, Columns: columns}}}}
}

// rowsOf are the rows of a table, as the database writes them.
func rowsOf(t testing.TB, d world.Database, columns string) (all []string) {
	t.Helper()
	for _, row := range worldtest.Rows(t, d, "SELECT "+columns+" FROM wallets ORDER BY 1, 2") {
		all = append(all, strings.NewReplacer("<nil>", "NULL", " +0000 UTC", "").Replace(strings.Join(row, " ")))
	}
	return all
}

// threeWallets are worlds in which a key is in one, two, or all of three databases.
func threeWallets(t testing.TB, e worldtest.Engine) []world.Database {
	return wallets(t, e,
		[]string{
			"1, 1, 100, 3, 50, 60, NULL, 'anna', 'a;', 'first', 7, 2",
			"2, 1, 7, 1, 1, 1, NULL, 'own', '', '', 7, 1",
			"5, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7, NULL",
			"6, 1, -5, -2, -3, -4, '2023-01-01 00:00:00', 'f', NULL, 'm', 7, 0"},
		[]string{
			"1, 1, 20, 5, 40, NULL, '2024-01-01 00:00:00', 'bert', 'b;', 'second', 7, 3",
			"3, 1, 1, 2, 3, 4, NULL, 'c', 'c', 'c', 7, 1",
			"4, 1, 9223372036854775807, 2, 3, 4, NULL, 'dd', 'dd', 'dd', 7, 10",
			"5, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7, NULL"},
		[]string{
			"1, 1, 3, 4, 45, 99, '2023-05-05 00:00:00', 'carl', 'c;', 'third', 7, 1",
			"1, 2, 8, 0, 0, 0, NULL, 'e', 'e', 'e', 7, 1",
			"3, 1, 10, 1, 5, 2, NULL, 'x', 'x', NULL, 7, 6",
			"5, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7, NULL",
			"6, 1, 5, -7, -1, -9, '2022-01-01 00:00:00', 'g', 'ggg', NULL, 7, 4"})
}

// Each column of rows with one key becomes what its formula says, and rows with a key of their own
// come as they are.
func TestCombine(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := threeWallets(t, e)
		p, into := worldtest.PlanOf(t, e, all, combining(walletFormulas))
		c := p.Tables[0].Combine
		if c.Keys != 4 || c.Combined != 6 || c.Rows != 7 {
			t.Errorf("%+v", c)
		}
		price := []string{"3", "14", "12", "29"}
		if e.Name != "sqlite" {
			price = []string{"3.00", "14.00", "12.00", "29.00"}
		}
		sums := []plan.CombinedSum{{Column: "gold", Worlds: []string{"102", "9223372036854775828", "26"}, After: "9223372036854775956"}, {Column: "price", Worlds: price[:3], After: price[3]}}
		if diff := cmp.Diff(sums, c.Sums); diff != "" {
			t.Errorf("sums (-want +got):\n%s", diff)
		}
		if len(p.Check.Resolved) != 1 || !strings.Contains(p.Check.Resolved[0].String(), "the rows of 4 keys will be combined, by [[merge.table]]") {
			t.Errorf("%v", p.Check.Resolved)
		}
		for range 2 { // the second time does nothing
			worldtest.MustApply(t, p, into, all)
			zeros := map[bool]string{true: "", false: ".00"}[e.Name == "sqlite"]
			want := []string{
				"1 1 123 5 40 99 2024-01-01 00:00:00 anna a;b;c; third 7 6",
				"1 2 8 0 0 0 NULL e e e 7 1",
				"2 1 7 1 1 1 NULL own   7 1",
				"3 1 11 2 3 4 NULL c cx NULL 7 7",
				"4 1 9223372036854775807 2 3 4 NULL dd dd dd 7 10",
				"5 1 NULL NULL NULL NULL NULL NULL NULL NULL 7 NULL",
				"6 1 0 -2 -3 -4 2023-01-01 00:00:00 f ggg NULL 7 4"}
			for i, row := range want {
				if !strings.HasSuffix(row, "NULL") {
					want[i] += zeros
				}
			}
			got := rowsOf(t, into, "account, currency, gold, vip, first_login, last_login, banned, name, log, motto, realm, price")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
		if e.Name != "sqlite" && worldtest.Number(t, into, "SELECT COUNT(*) FROM wallets WHERE stamp <> '2020-02-02 02:02:02'") != 0 {
			t.Error("a column was set by the database itself")
		}
		proof := worldtest.Verified(t, p, into, all)
		if proof.Verdict != verdict.Pass || len(proof.Combines) != 1 {
			t.Fatalf("%+v", proof)
		}
		if c := proof.Combines[0]; c.Keys != 4 || c.Copied != 3 || len(c.Columns) != 9 || len(c.Sums) != 2 || c.Sums[0].After != "9223372036854775956" {
			t.Errorf("%+v", c)
		}
	})
}

// What has no result that the new database takes is refused by the plan, with the table, the column
// and the keys. A trigger is none: it comes after the rows.
func TestCombineRefused(t *testing.T) {
	row := func(key, gold, vip, name, log string) string {
		return fmt.Sprintf("%s, 1, %s, %s, 1, 1, NULL, '%s', '%s', '', 7, 1", key, gold, vip, name, log)
	}
	with := func(column, formula string) map[string]string {
		columns := make(map[string]string)
		for k, v := range walletFormulas {
			columns[k] = v
		}
		if columns[column] = formula; formula == "" {
			delete(columns, column)
		}
		return columns
	}
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		for _, c := range []struct {
			name    string
			a, b    []string
			prepare string // in both
			opts    planner.PlanOptions
			want    string // of a refusal; empty: none
		}{
			{"overflow", []string{row("1", "9223372036854775807", "1", "a", "")}, []string{row("1", "1", "1", "b", "")}, "", combining(walletFormulas),
				`table "wallets": its rows cannot be combined: column gold: the sum does not fit into `},
			{"just fits", []string{row("1", "9223372036854775806", "1", "a", "")}, []string{row("1", "1", "1", "b", "")}, "", combining(walletFormulas), ""},
			{"no formula", []string{row("1", "1", "1", "a", ""), row("2", "1", "1", "z", "")}, []string{row("1", "1", "1", "b", ""), row("2", "1", "1", "z", "")}, "", combining(with("name", "")),
				"column name: it has no formula, but its values differ, for 1 of its keys: row 1/1"},
			{"the same without a formula", []string{row("1", "1", "1", "a", "")}, []string{row("1", "1", "1", "a", "")}, "", combining(with("name", "")), ""},
			{"too long", []string{row("1", "1", "1", "a", "1234567")}, []string{row("1", "1", "1", "b", "89")}, "", combining(walletFormulas),
				"column log: the combined text is longer than 8 characters, for 1 of its keys: row 1/1"},
			{"just long enough", []string{row("1", "1", "1", "a", "1234567")}, []string{row("1", "1", "1", "b", "é")}, "", combining(walletFormulas), ""},
			{"a CHECK", []string{row("1", "1", "1", "a", "")}, []string{row("1", "60", "1", "b", "")}, "ALTER TABLE wallets ADD CONSTRAINT few CHECK (gold < 61)", combining(walletFormulas),
				"the result: it breaks the constraint few"},
			{"a CHECK that holds", []string{row("1", "0", "1", "a", "")}, []string{row("1", "60", "1", "b", "")}, "ALTER TABLE wallets ADD CONSTRAINT few CHECK (gold < 61)", combining(walletFormulas), ""},
			{"unique, of one key", []string{row("1", "1", "1", "a", "")}, []string{row("1", "1", "1", "a", ""), row("2", "1", "1", "b", "")}, "CREATE UNIQUE INDEX names ON wallets (name)", combining(walletFormulas), ""},
			{"unique, of two keys", []string{row("1", "1", "1", "a", "")}, []string{row("1", "1", "1", "b", ""), row("2", "1", "1", "a", "")}, "CREATE UNIQUE INDEX names ON wallets (name)", combining(walletFormulas),
				`table "wallets": unique-collision`},
			{"a trigger", []string{row("1", "1", "1", "a", "")}, []string{row("1", "1", "1", "b", "")},
				map[bool]string{true: "CREATE TRIGGER busy BEFORE UPDATE ON wallets BEGIN SELECT 1; END", false: "CREATE TRIGGER busy BEFORE UPDATE ON wallets FOR EACH ROW SET NEW.vip = 0"}[e.Name == "sqlite"],
				combining(walletFormulas), ""},
			{"some rows", []string{row("1", "1", "4", "a", "")}, []string{row("1", "1", "4", "b", ""), row("2", "1", "5", "c", "")}, "", when(4), ""},
			{"a row outside", []string{row("1", "1", "4", "a", ""), row("2", "1", "4", "z", "")}, []string{row("1", "1", "5", "b", ""), row("2", "1", "4", "z", "")}, "", when(4), "not among those that may be combined (when vip is 4)"},
		} {
			if strings.Contains(c.prepare, "CHECK") == (e.Name == "sqlite") { // which adds none to a table
				continue
			}
			all := wallets(t, e, c.a, c.b)
			if c.prepare != "" {
				worldtest.Exec(t, all[0], c.prepare)
				worldtest.Exec(t, all[1], c.prepare)
			}
			into := e.Fresh(t, "new")
			p, err := planner.NewPlan(t.Context(), into, all, c.opts)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if c.want != "" {
				if got := fmt.Sprint(p.Refusals); !strings.Contains(got, c.want) {
					t.Errorf("%s: refused: %s\nwant: %s", c.name, got, c.want)
				}
				continue
			}
			if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
				t.Errorf("%s: %+v", c.name, proof)
			} else if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
				t.Errorf("%s: undone: %v", c.name, err)
			}
		}
	})
}

// A row of the first world that the game changed after the plan is not combined unseen.
func TestCombineLateWrite(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := threeWallets(t, e)
	p, into := worldtest.PlanOf(t, e, all, combining(walletFormulas))
	worldtest.Exec(t, all[0], "UPDATE wallets SET vip = 2 WHERE account = 1")
	changed := new(record.ChangedError)
	if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); !errors.As(err, &changed) || changed.Database != "s1" || changed.Table != "wallets" {
		t.Errorf("apply: %v", err)
	}
	if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
		t.Errorf("undo: %v", err)
	}

	// Nor is one of the new database lost unseen, if another process removes it while rows come: the proof finds it.
	all = threeWallets(t, e)
	p, into = worldtest.PlanOf(t, e, all, combining(walletFormulas))
	pause := func(context.Context) error {
		if worldtest.Number(t, into, "SELECT COUNT(*) FROM wallets") > 4 {
			worldtest.Exec(t, into, "DELETE FROM wallets WHERE account = 2")
		}
		return nil
	}
	if _, err := build.Apply(t.Context(), p, into, all, job.Options{Pause: pause}); err != nil {
		t.Fatal(err)
	}
	if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || proof.Tables[0].Rows != 6 || proof.Tables[0].Want != 7 {
		t.Errorf("%+v", proof)
	}
}

// when combines only rows of one level.
func when(vip int) planner.PlanOptions {
	opts := combining(walletFormulas)
	opts.Check.Tables[0].When = &rules.When{Column: "vip", Is: []string{fmt.Sprint(vip)}}
	return opts
}

// Two worlds that write one key in two ways, which the new database takes for one, are refused.
func TestCombineSpelling(t *testing.T) {
	e := worldtest.OnSQLite(t)
	var all []world.Database
	for i, key := range []string{"Gold", "gold"} {
		d := e.Fresh(t, fmt.Sprint("s", i+1))
		fold := "COLLATE NOCASE"
		worldtest.Exec(t, d, "CREATE TABLE wallets (name VARCHAR(20) "+fold+" NOT NULL PRIMARY KEY, amount INTEGER)", "INSERT INTO wallets VALUES ('"+key+"', 1)")
		all = append(all, d)
	}
	p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, combining(map[string]string{"amount": "sum"}))
	if err != nil || !strings.Contains(fmt.Sprint(p.Refusals), "is written differently") {
		t.Errorf("%+v, %v", p, err)
	}
}

// Of a value that is no integer the plan says so, and not that another process writes.
func TestCombineOdd(t *testing.T) {
	e := worldtest.OnSQLite(t)
	var all []world.Database
	for i, row := range []string{"1, '1'", "2, 1"} {
		d := e.Fresh(t, fmt.Sprint("s", i+1))
		worldtest.Exec(t, d, "CREATE TABLE wallets (id INTEGER PRIMARY KEY, amount)", "INSERT INTO wallets VALUES ("+row+")")
		all = append(all, d)
	}
	p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, combining(map[string]string{"amount": "sum"}))
	if got := fmt.Sprint(p.Refusals); err != nil || !strings.Contains(got, "column amount: 1 value is not an integer, which cannot be added exactly") || strings.Contains(got, "another process") {
		t.Errorf("%s, %v", got, err)
	}
}

// Wherever an apply is interrupted, the same call ends it, and no row is added twice; and
// wherever an undo is, the same call drops the new database.
func TestCombineResumed(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		var rows [3][]string
		for n := range 5 {
			for i := range rows {
				if n%(i+1) == 0 {
					rows[i] = append(rows[i], fmt.Sprintf("%d, 1, %d, 1, 1, 1, NULL, 'n%[3]d', '', '%[3]d', 7, 1", n, 10*n+i, i))
				}
			}
		}
		all := wallets(t, e, rows[0], rows[1], rows[2])
		p, _ := worldtest.PlanOf(t, e, all, combining(walletFormulas))
		worldtest.InterruptedAnywhere(t, e, p, all, map[bool]int{true: 13, false: 69}[e.Name == "sqlite"])
	})
}

// Verify compares each column with its formula, and rows that came as they were. What was changed
// blocks an undo, unless it is forced.
func TestCombineChanged(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := threeWallets(t, e)
		p, into := worldtest.MergeOf(t, e, all, combining(walletFormulas))
		made := worldtest.Clone(t, e, into)
		const key = " WHERE account = 1 AND currency = 1"
		for _, c := range []struct{ change, want string }{
			{"UPDATE wallets SET gold = gold + 1" + key, "row 1/1: gold is not as planned"},
			{"UPDATE wallets SET gold = gold + 1 WHERE account = 2", "row 2/1: gold is not as planned"},
			{"UPDATE wallets SET vip = 3" + key, "row 1/1: vip is not"},
			{"UPDATE wallets SET vip = 9" + key, "row 1/1: vip is not"},
			{"UPDATE wallets SET first_login = 45" + key, "row 1/1: first_login is not"},
			{"UPDATE wallets SET last_login = 98" + key, "row 1/1: last_login is not"},
			{"UPDATE wallets SET banned = '2023-05-05 00:00:00'" + key, "row 1/1: banned is not"},
			{"UPDATE wallets SET name = 'bert'" + key, "row 1/1: name is not"},
			{"UPDATE wallets SET motto = 'first'" + key, "row 1/1: motto is not"},
			{"UPDATE wallets SET log = 'a;c;b;'" + key, "row 1/1: log is not"},
			{"UPDATE wallets SET realm = 8" + key, "row 1/1: realm is not"},
			{"UPDATE wallets SET gold = 1 WHERE account = 4", "row 4/1: gold is not"},
			{"DELETE FROM wallets" + key, "row 1/1: is missing"},
			{"INSERT INTO wallets (account, currency, gold) VALUES (8, 8, 8)", "row 8/8: is in no world"},
		} {
			if strings.HasPrefix(c.change, "UPDATE") { // and no other column, by itself
				worldtest.Exec(t, into, strings.Replace(c.change, " WHERE", ", stamp = stamp WHERE", 1))
			} else {
				worldtest.Exec(t, into, c.change)
			}
			proof := worldtest.Verified(t, p, into, all)
			if proof.Verdict != verdict.Fail || len(proof.Combines) != 1 || !strings.Contains(strings.Join(proof.Combines[0].Details, "; "), c.want) {
				t.Errorf("%s: %s, want %s: %+v", c.change, proof.Verdict, c.want, proof.Combines)
			}
			if strings.Contains(c.change, "gold") && len(proof.Combines) == 1 && proof.Combines[0].Sums[0].Verdict != verdict.Fail {
				t.Errorf("%s: the sum was not found to be another", c.change)
			}
			_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
			worldtest.RefusedBecause(t, c.change, "-force drops it", err)
			worldtest.Refill(t, made, into)
		}
		worldtest.Exec(t, into, "UPDATE wallets SET gold = 70 WHERE account = 2")
		if undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil || !undone.Dropped {
			t.Errorf("%+v, %v", undone, err)
		}
	})
}

// Beside keys that get new values, a reference goes by the row that it is taken from, and what
// refers to a row that was combined still does.
func TestCombineRekeyed(t *testing.T) {
	e := worldtest.OnSQLite(t)
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	var all []world.Database
	for i := range 3 {
		d := e.Fresh(t, fmt.Sprint("s", i+1))
		worldtest.Exec(t, d, "CREATE TABLE chars (id "+auto+", name VARCHAR(20))",
			"CREATE TABLE wallets (account INTEGER NOT NULL PRIMARY KEY, gold INTEGER, best INTEGER, latest INTEGER)",
			"CREATE TABLE mails (id "+auto+", account INTEGER NOT NULL, FOREIGN KEY (account) REFERENCES wallets (account))")
		for n := 1; n <= 3; n++ {
			worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO chars VALUES (%d, 'c%d.%[1]d')", n, i))
		}
		for account := 10; account < 14; account++ {
			if (account+i)%3 != 0 { // s1: 10 11 13, s2: 10 12 13, s3: 11 12
				worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO wallets VALUES (%d, %d, %d, %d)", account, 100*i+account, i+1, 3-i), fmt.Sprintf("INSERT INTO mails (account) VALUES (%d)", account))
			}
		}
		all = append(all, d)
	}
	opts := combining(map[string]string{"gold": "sum", "best": "first", "latest": "last"})
	opts.Check.Rekey = &rules.Rekey{Auto: true}
	opts.Check.Rules = []rules.Declarations{{Plain: []string{"wallets.gold", "chars.name"}, Shared: []string{"wallets.account"},
		References: []rules.DeclaredReference{{At: []string{"wallets.best", "wallets.latest"}, To: []string{"chars.id"}}}}}
	p, into := worldtest.MergeOf(t, e, all, opts)
	// What a reference names is read by the name of the row.
	worldtest.Asked(t, into, "SELECT w.account, w.gold, b.name, l.name, (SELECT COUNT(*) FROM mails AS m WHERE m.account = w.account) FROM wallets AS w JOIN chars AS b ON b.id = w.best JOIN chars AS l ON l.id = w.latest ORDER BY w.account",
		"10|120|c0.1|c1.2|2", "11|222|c0.1|c2.1|2", "12|324|c1.2|c2.1|2", "13|126|c0.1|c1.2|2")
	proof := worldtest.Verified(t, p, into, all)
	if last := proof.Keys[len(proof.Keys)-1]; proof.Verdict != verdict.Pass || last.Part != evidence.PartSums || last.Checked != 1 {
		t.Errorf("%+v", proof)
	}
	worldtest.Exec(t, into, "UPDATE wallets SET latest = 2 WHERE account = 10") // a stranger's
	if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || proof.Keys[2].Verdict != verdict.Fail {
		t.Errorf("%+v", proof.Keys)
	}
}

// A combined table with more rows than are compared at once is read once for each part, which is said; each row is in one of
// the parts.
func TestCombineInParts(t *testing.T) {
	e := worldtest.OnSQLite(t)
	const rows = 63_000
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 1, "anna"), worldtest.GameWorld(t, e, "s2", 2, 1, "bert")}
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE wallets (id INTEGER PRIMARY KEY, gold INTEGER NOT NULL)",
			fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO wallets SELECT i, 1 FROM n", rows))
	}
	p, into := worldtest.MergeOf(t, e, all, combining(map[string]string{"gold": "sum"}))
	worldtest.Exec(t, into, "UPDATE wallets SET gold = 1 WHERE id % 10000 = 7")
	var told []string
	proof, err := prove.Verify(t.Context(), p, into, all, job.Options{Progress: func(now job.Progress) {
		if now.Again != "" {
			told = append(told, now.Database+"."+now.Table+": "+now.Again)
		}
	}})
	if err != nil || len(proof.Combines) != 1 || proof.Combines[0].Wrong != 7 || proof.Combines[0].Keys != rows {
		t.Errorf("%+v, %v", proof, err)
	}
	if want := []string{"new.wallets: too many rows to compare at once: part 2 of 2"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
