package main

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mergesafe/internal/gameworlds"
	"mergesafe/merge/report"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
)

// sameAccounts gives the first 40 accounts of a world the names and addresses that those of the others have, bans and
// mutes of one second, and addresses that all have banned.
func sameAccounts(world uint64) []string {
	return []string{
		"SET @n = 0",
		"UPDATE account SET username = CONCAT('SAME', @n := @n + 1), email = CONCAT('same@', @n) ORDER BY id LIMIT 40",
		fmt.Sprintf("REPLACE INTO account_banned (id, bandate, unbandate, bannedby, banreason, active) SELECT id, 77, "+
			"100 + %d * (id %% 3), 'anna%[1]d', 'x', %[1]d %% 2 FROM account WHERE username LIKE 'SAME%%'", world),
		fmt.Sprintf("REPLACE INTO account_muted (guid, mutedate, mutetime, mutedby, mutereason) SELECT id, 78, "+
			"200 + %d * (id %% 3), 'anna%[1]d', 'x' FROM account WHERE username LIKE 'SAME%%'", world),
		fmt.Sprintf("REPLACE INTO ip_banned (ip, bandate, unbandate, bannedby, banreason) "+
			"VALUES ('9.9.9.9', 5, %d, 'anna%[1]d', 'x')", 10+world),
	}
}

// Worlds of three auth databases, in which people have accounts of the same name and address, become one, and then
// their characters by the numbers that the accounts got, with what the head of the profile shows: each character, and
// all else of an account, belongs to the account that it belonged to.
func TestProfilesOfTwoLogins(t *testing.T) {
	folder := os.Getenv(gameworlds.EnvSchemas)
	if folder == "" {
		t.Skipf("%s names no folder with the schemas of public games", gameworlds.EnvSchemas)
	}
	game := func(profile string) realGame {
		return realGames[slices.IndexFunc(realGames, func(g realGame) bool { return g.profile == profile })]
	}
	for _, name := range []string{"azerothcore", "trinitycore"} {
		t.Run(name, func(t *testing.T) {
			game(name).mergeLogins(t, folder, game(name+"-auth"))
		})
	}
}

// mergeLogins merges three auth databases of the other game, and then worlds of g by that plan.
func (g realGame) mergeLogins(t *testing.T, folder string, auth realGame) {
	seeds := []uint64{1, 2, 3}
	logins, authDSNs := auth.marked(t, folder, 300, nil, seeds...)
	for i, db := range logins.dbs {
		db.SetMaxOpenConns(1) // for @n
		statements(t, db, sameAccounts(seeds[i]))
	}
	accounts := ownFile(t, "azerothcore-auth", "accounts.toml") // it names auth-plan.json, in its own folder
	authPlan := filepath.Join(filepath.Dir(accounts), "auth-plan.json")
	_, authMade := runPlan(t, authPlan, authDSNs, auth.rules(t, marksFile(t)))
	now := logins.sameLogins(t, authMade)

	o, dsns := g.marked(t, folder, 300, nil, seeds...)
	var named int64
	o.accounts = func(world int, was, is string) string {
		switch want := now[world][was]; {
		case want == "" && slices.Contains(slices.Collect(maps.Values(now[world])), is):
			return "it led to no account, and leads to one"
		case want != "" && want != is:
			return "it is another account"
		case want != "":
			named++
		}
		return ""
	}
	file := filepath.Join(t.TempDir(), "plan.json")
	proof, made := runPlan(t, file, dsns, g.rules(t, accounts, marksFile(t)))
	for _, r := range proof.Plan.Renames {
		o.renamed[fmt.Sprintf("%s.%s %q %q", r.Table, r.Column, r.Old, r.New)] = true
	}
	rows, references, dangling := o.compare(t, made)
	if named < 500 {
		t.Error("there was little to compare")
	}
	t.Logf("%d accounts of %d worlds became %d; of %d rows of the worlds, %d values name the account that they named, "+
		"and %d references lead where they led, %d to no row", len(now[0])+len(now[1])+len(now[2]), len(now),
		len(rowsOf(t, authMade, "SELECT id FROM account")), rows, named, references, dangling)
}

// marksFile says of the oracle's column that it names nothing.
func marksFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "marks.toml")
	text := "[check]\nplain = [\"*." + markColumn + "\"]\n" // the later of two combined rows is not kept
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// runPlan merges three worlds, and returns the proof and what was made.
func runPlan(t *testing.T, file string, dsns, rules []string) (*report.Outcome, *sql.DB) {
	t.Helper()
	into, made := newDatabase(t)
	var config strings.Builder
	fmt.Fprintf(&config, "[[source]]\nname = \"new\"\ndsn = %q\n", into)
	for i, dsn := range dsns {
		fmt.Fprintf(&config, "[[source]]\nname = \"s%d\"\ndsn = %q\n", i+1, dsn)
	}
	names := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(names, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := slices.Concat([]string{"plan", "-into", "new", "-config", names, "-o", file}, rules, []string{"s1", "s2", "s3"})
	planned := ran(t, cli.OK, args...)
	if !strings.HasPrefix(planned.stdout, "READY ") {
		t.Fatalf("%.2000s", planned.stdout)
	}
	outcome(t, []string{"apply", "-config", names, "-json", file})
	proof := outcome(t, []string{"verify", "-config", names, "-json", file})
	if proof.Proof.Verdict != verdict.Pass {
		t.Errorf("%s: %+v", proof.Proof.Verdict, proof.Proof.Keys)
	}
	proof.Plan = plan(t, file)
	return &proof, made
}

// sameLogins compares a merged auth database with the worlds, and returns the number of each account's in it.
func (o *oracle) sameLogins(t *testing.T, merged *sql.DB) (now []map[string]string) {
	t.Helper()
	read := func(db *sql.DB, table string) (all []map[string]string) {
		names := rowsOf(t, db, "SELECT column_name FROM information_schema.columns "+
			"WHERE table_schema = DATABASE() AND table_name = '"+table+"' ORDER BY ordinal_position")
		for _, row := range rowsOf(t, db, "SELECT * FROM `"+table+"`") {
			values := make(map[string]string)
			for i, v := range row {
				if *names[i][0] != markColumn {
					values[*names[i][0]] = strings.Trim(text(v), `"`)
				}
			}
			all = append(all, values)
		}
		return all
	}
	person := func(row map[string]string) string { return strings.ToLower(row["username"] + row["email"]) }
	worlds := o.dbs
	at, want := make(map[string]string), make(map[string]map[string]string)
	all, alive := read(merged, "account"), make(map[string]bool)
	for _, row := range all {
		at[person(row)], alive[row["id"]] = row["id"], true
	}
	for _, db := range worlds {
		ids, accounts := make(map[string]string), read(db, "account")
		for _, row := range accounts {
			ids[row["id"]] = at[person(row)]
		}
		for _, row := range accounts {
			if want[person(row)] == nil { // the first world's counts
				row["id"] = ids[row["id"]]
				row["recruiter"] = ids[row["recruiter"]] // "": none, or gone
				want[person(row)] = row
			}
		}
		now = append(now, ids)
	}
	for _, row := range all {
		if !alive[row["recruiter"]] {
			row["recruiter"] = "" // none, or gone
		}
		if !maps.Equal(row, want[person(row)]) {
			t.Errorf("the account is\n%v, want\n%v", row, want[person(row)])
		}
	}
	if len(all) != len(want) {
		t.Errorf("%d accounts, want %d", len(all), len(want))
	}
	// Of what two worlds have of one account or address and second, the longer ban counts, and the first world's words.
	for table, of := range map[string]struct{ account, until string }{
		"account_banned": {"id", "unbandate"}, "account_muted": {"guid", "mutetime"}, "ip_banned": {"", "unbandate"},
	} {
		rows := make(map[string]map[string]string)
		for i, db := range worlds {
			for _, row := range read(db, table) {
				if of.account != "" {
					row[of.account] = now[i][row[of.account]]
				}
				key := row[of.account] + row["ip"] + row["bandate"] + row["mutedate"]
				if rows[key] == nil {
					rows[key] = row
					continue
				}
				for _, column := range []string{of.until, "active"} {
					if later(rows[key][column], row[column]) {
						rows[key][column] = row[column]
					}
				}
			}
		}
		all := read(merged, table)
		for _, row := range all {
			if of.account != "" && !alive[row[of.account]] {
				row[of.account] = "" // the account is gone
			}
			if key := row[of.account] + row["ip"] + row["bandate"] + row["mutedate"]; !maps.Equal(row, rows[key]) {
				t.Errorf("%s has\n%v, want\n%v", table, row, rows[key])
			}
		}
		if len(all) != len(rows) {
			t.Errorf("%d rows of %s, want %d", len(all), table, len(rows))
		}
	}
	return now
}

// later reports whether the second of two numbers is larger.
func later(a, b string) bool {
	n, _ := strconv.Atoi(a)
	m, _ := strconv.Atoi(b)
	return m > n
}
