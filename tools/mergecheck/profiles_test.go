//go:build !race

// No goroutines meet here that do not elsewhere.

package main

import (
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/BurntSushi/toml"

	"mergesafe/internal/servertest"
	"mergesafe/internal/slice"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/rulefile"
)

var profileMutations = flag.Int("profiles.mutations", servertest.Scale(1, -1), "how many statements of each profile to leave out, one by one; -1: all")

// profiles are the rule files of games, as an operator gives them.
var profiles = map[string][]string{
	"azerothcore": {"azerothcore"}, "hercules": {"hercules"}, "rathena": {"rathena"}, "qcute": {"qcute"}, "tfs": {"tfs"}, "cosmic": {"cosmic"},
	"canary": {"tfs", "canary"}, "heavenms": {"cosmic", "heavenms"}, "l2jmobius": {"l2jmobius"}, "landsandboat": {"landsandboat"}, "trinitycore": {"azerothcore", "trinitycore"},
	"azerothcore-auth": {"azerothcore-auth"}, "trinitycore-auth": {"azerothcore-auth", "trinitycore-auth"},
}

func profileFile(name string) string { return filepath.Join("../../profiles", name+".toml") }

// names are the columns of which the values are to be changed.
func names(r *rulefile.Rules) map[string]bool {
	all := make(map[string]bool)
	for _, n := range r.Names {
		all[n.Table+"."+n.Column] = true
	}
	for _, c := range r.Copies {
		all[c.Table+"."+c.Column] = true
	}
	words := func(w *rules.When, at ...string) { // a condition with a word
		for _, at := range at {
			if w != nil && strings.ContainsFunc(strings.Join(w.Is, ""), unicode.IsLetter) {
				table, _, _ := strings.Cut(at, ".")
				all[table+"."+w.Column] = true
			}
		}
	}
	for _, d := range r.Check.Rules {
		for _, ref := range d.References {
			words(ref.When, ref.At...)
		}
	}
	if r.Check.Rekey != nil {
		for _, c := range r.Check.Rekey.Counters {
			words(c.When, c.At)
		}
	}
	return all
}

// policyOf is the policy of a table; nil: its rows are copied.
func policyOf(r *rulefile.Rules, table string) *rules.TablePolicy {
	for i, p := range r.Check.Tables {
		if slices.ContainsFunc(p.Tables, func(pattern string) bool { ok, _ := path.Match(pattern, table); return ok }) {
			return &r.Check.Tables[i]
		}
	}
	return nil
}

// staysBehind reports whether a column is in tables only of which no row is copied.
func staysBehind(r *rulefile.Rules, at string) bool {
	pattern, _, _ := strings.Cut(at, ".")
	for _, d := range r.Check.Rules {
		for table := range d.Schema.Tables {
			p := policyOf(r, table)
			if ok, _ := path.Match(pattern, table); ok && table != "notice_role" && (p == nil || p.Policy == rules.PolicyCombine) { // all rows of that one are dropped
				return false
			}
		}
	}
	return true
}

// inSomeRows are the columns of which a profile says what they are in some rows, so that
// numbers in the others are open: the game has none there.
func inSomeRows(r *rulefile.Rules) (all []string) {
	var said []string // what the other rows are
	for _, d := range r.Check.Rules {
		for _, ref := range d.References {
			if ref.Others != "" {
				said = append(said, ref.At...)
			} else if ref.When != nil {
				all = append(all, ref.At...)
			}
		}
	}
	return slices.DeleteFunc(all, func(at string) bool { return slices.Contains(said, at) })
}

// tablesOf are the tables that the last file with a schema lists, and those that a file names
// beside it.
func tablesOf(r *rulefile.Rules) map[string][]string {
	all := make(map[string][]string)
	for _, declared := range r.Check.Rules {
		if declared.Schema != nil {
			all = maps.Clone(declared.Schema.Tables)
		}
	}
	for _, p := range r.Check.Tables {
		for _, table := range p.Tables {
			if all[table] == nil && !strings.ContainsAny(table, "*?[") {
				all[table] = []string{"id"}
			}
		}
	}
	return all
}

// profileWorlds makes two databases with the tables that a profile lists, in which every
// column has the numbers 1 and 2: whatever is not declared may name a key.
func profileWorlds(t *testing.T, r *rulefile.Rules) []string {
	t.Helper()
	texts := names(r)
	keys, kept := make(map[string]string), make(map[string]bool) // of spaces, by table
	for _, s := range r.Check.Rekey.Spaces {
		for _, key := range s.Keys {
			table, column, _ := strings.Cut(key, ".")
			keys[table], kept[table] = column, s.Keep != ""
		}
	}
	var sources []string
	for _, w := range []string{"w1", "w2"} {
		file := filepath.Join(t.TempDir(), w+".db")
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for table, columns := range tablesOf(r) {
			var definitions, key []string
			combined := policyOf(r, table)
			values := [][]string{1: nil}
			if kept[table] { // rows with small keys are the same in all worlds, and do not come
				values = append(values, nil)
			}
			for _, c := range columns {
				definition := `"` + c + `" INTEGER`
				if texts[table+"."+c] {
					definition = `"` + c + `" TEXT`
				}
				if keys[table] == c {
					definition += " NOT NULL PRIMARY KEY"
				}
				if combined != nil && combined.Policy == rules.PolicyCombine && combined.Columns[c] == "" {
					key = append(key, `"`+c+`"`)
				}
				definitions = append(definitions, definition)
				for i := range values {
					v := fmt.Sprint([]int{1, 2, 101}[i])
					if texts[table+"."+c] {
						v = "'" + w + v + "'"
					}
					values[i] = append(values[i], v)
				}
			}
			if len(key) > 0 {
				definitions = append(definitions, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
			}
			rows := slice.Map(values, func(row []string) string { return "(" + strings.Join(row, ", ") + ")" })
			for _, statement := range []string{
				fmt.Sprintf(`CREATE TABLE "%s" (%s)`, table, strings.Join(definitions, ", ")),
				fmt.Sprintf(`INSERT INTO "%s" VALUES %s`, table, strings.Join(rows, ", ")),
			} {
				if _, err := tx.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, "sqlite:"+file)
	}
	return sources
}

// openColumns are the columns of which a profile does not say what they are.
func openColumns(t *testing.T, files, sources []string) (open []string) {
	t.Helper()
	args := []string{"-json"}
	for _, f := range files {
		args = append(args, "-rules", f)
	}
	r := mergecheck(t.Context(), append(args, sources...)...)
	if r.code != cli.OK && r.code != cli.Conflicts && r.code != cli.NotVerified {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	report := new(verdict.Report)
	if err := json.Unmarshal([]byte(r.stdout), report); err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		if result.Verdict != verdict.Pass && (result.Code == verdict.CodeReferenceUndeclared || result.Code == verdict.CodeKeyUndeclared || result.Code == verdict.CodeKeyCounter) {
			open = append(open, result.Table+"."+result.Subject)
		}
	}
	slices.Sort(open)
	return slices.Compact(open)
}

// Every column of every table that a profile lists is classified, whatever is in it.
func TestProfilesClassifyEveryColumn(t *testing.T) {
	for name, parts := range profiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "landsandboat" && *profileMutations >= 0 {
				t.Skip("NOT TESTED: it has the game's own data, too, and takes long: -profiles.mutations=-1")
			}
			var r rulefile.Rules
			var files []string
			for _, part := range parts {
				files = append(files, profileFile(part))
				if err := r.Load(files[len(files)-1]); err != nil {
					t.Fatal(err)
				}
			}
			sources := profileWorlds(t, &r)
			before := openColumns(t, files, sources)
			undecided := func(at string) bool {
				return slices.ContainsFunc(r.Check.Rules, func(d rules.Declarations) bool { return slices.Contains(d.Undecided, at) })
			}
			if undeclared := slices.DeleteFunc(slices.Clone(before), func(at string) bool { return slices.Contains(inSomeRows(&r), at) || undecided(at) }); len(undeclared) > 0 {
				t.Errorf("%d columns are open: %q", len(undeclared), undeclared)
			}
			if name != "landsandboat" && !testing.Short() { // where a pattern of the whole table stands behind many a name
				leaveOut(t, &r, files, sources, before)
			}
		})
	}
}

// before are the columns of which another file than the last says what they are.
func before(t *testing.T, files []string) (all []any) {
	for _, file := range files[:len(files)-1] {
		var whole struct {
			Check struct {
				Plain, Shared []any
				Reference     []struct{ At []any }
			}
		}
		if _, err := toml.DecodeFile(file, &whole); err != nil {
			t.Fatal(err)
		}
		all = append(append(all, whole.Check.Plain...), whole.Check.Shared...)
		for _, ref := range whole.Check.Reference {
			all = append(all, ref.At...)
		}
	}
	return all
}

// leaveOut leaves out one statement after the other. open are the columns that are open with all of them.
func leaveOut(t *testing.T, r *rulefile.Rules, files, sources, open []string) {
	file := files[len(files)-1]
	var whole map[string]any
	if _, err := toml.DecodeFile(file, &whole); err != nil {
		t.Fatal(err)
	}
	check, _ := whole["check"].(map[string]any)
	said := before(t, files)
	var all []func() (what string)
	for _, key := range []string{"plain", "shared"} {
		list, _ := check[key].([]any)
		for i := range list {
			if names(r)[list[i].(string)] || staysBehind(r, list[i].(string)) || slices.Contains(said, list[i]) {
				continue // a reference by name or an earlier file says the same, or the rows are not copied
			}
			all = append(all, func() string {
				check[key] = slices.Delete(slices.Clone(list), i, i+1)
				return fmt.Sprint(key, " ", list[i])
			})
		}
	}
	refs, _ := check["reference"].([]map[string]any)
	for i := range refs {
		at := refs[i]["at"].([]any)
		if refs[i]["by"] != nil {
			continue // it is about names, and the column is compared with keys
		}
		if !slices.ContainsFunc(at, func(at any) bool { return !staysBehind(r, at.(string)) }) {
			continue
		}
		also := func(other map[string]any) bool {
			return slices.ContainsFunc(other["at"].([]any), func(o any) bool { return slices.Contains(at, o) })
		}
		if slices.ContainsFunc(slices.Delete(slices.Clone(refs), i, i+1), also) ||
			slices.ContainsFunc(at, func(at any) bool { return slices.Contains(said, at) }) {
			continue // another statement, or that of an earlier file, says what these rows are
		}
		all = append(all, func() string {
			check["reference"] = slices.Delete(slices.Clone(refs), i, i+1)
			return fmt.Sprint("reference ", refs[i]["at"])
		})
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if *profileMutations >= 0 {
		all = all[:min(len(all), *profileMutations)]
	}
	plain, shared := check["plain"], check["shared"]
	for _, mutate := range all {
		what := mutate()
		less := filepath.Join(t.TempDir(), "less.toml")
		f, err := os.Create(less)
		if err != nil {
			t.Fatal(err)
		}
		if err := toml.NewEncoder(f).Encode(whole); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if now := openColumns(t, append(slices.Clone(files[:len(files)-1]), less), sources); slices.Equal(now, open) {
			t.Errorf("without %s nothing is open", what)
		}
		for key, list := range map[string]any{"plain": plain, "shared": shared, "reference": refs} {
			if check[key] != nil {
				check[key] = list
			}
		}
	}
}
