package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/gameworlds"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

var profileMutations = flag.Int("profiles.mutations", servertest.Scale(2, -1), "how many statements of each profile to leave out, one by one; -1: all")

// mutation is a statement of a profile, or a part of one, that is left out.
type mutation struct {
	kind, what string
	prepare    func(profile map[string]any) // if any: what is done to it first, so that it matters
	leaveOut   func(profile map[string]any)
	judge      func(before, after planned) string // what is wrong with what comes of it; "" if nothing is
}

// planned is what became of a plan.
type planned struct {
	*merge.Plan        // nil: the rules were not taken
	failed      string // why
}

// refuses reports whether something stands against a table, or against a column of it.
func (p planned) refuses(table, column string) bool {
	return p.Plan != nil && slices.ContainsFunc(p.Refusals, func(r merge.Refusal) bool {
		words := strings.FieldsFunc(r.Reason, func(c rune) bool { return strings.ContainsRune(" :,()[]", c) })
		return r.Table == table && (column == "" || slices.Contains(words, column) || slices.Contains(words, table+"."+column))
	})
}

// Whatever one statement of a profile is left out: a plan over worlds as the game fills them
// is refused and names the column, or it is another one where the statement says so, and
// nowhere else. What columns are (plain, shared) is left out by TestProfilesClassifyEveryColumn
// of mergecheck, where every column may name a key.
func TestProfilesWithoutOneStatement(t *testing.T) {
	folder := os.Getenv(gameworlds.EnvSchemas)
	if folder == "" {
		t.Skipf("%s names no folder with the schemas of public games", gameworlds.EnvSchemas)
	}
	for _, g := range realGames {
		t.Run(g.profile, func(t *testing.T) {
			w := g.worldsWithEverything(t, folder)
			before := w.plan(t, w.profile(t))
			if before.Plan == nil || len(before.Refusals) > 0 {
				t.Fatalf("the whole profile: %s %v", before.failed, before.Plan.Refusals)
			}
			all := w.mutations(t, before)
			rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if *profileMutations >= 0 {
				all = all[:min(len(all), *profileMutations)]
			}
			kinds := make(map[string]int)
			for _, m := range all {
				kinds[m.kind]++
				t.Run(m.kind, func(t *testing.T) {
					t.Parallel()
					profile, before := w.profile(t), before
					if m.prepare != nil {
						m.prepare(profile)
						before = w.plan(t, profile)
					}
					m.leaveOut(profile)
					after := w.plan(t, profile)
					if wrong := m.judge(before, after); wrong != "" {
						t.Errorf("without %s %s: %s\n%s", m.kind, m.what, wrong, w.summary(before, after))
					} else {
						t.Logf("without %s %s: %s", m.kind, m.what, w.summary(before, after))
					}
				})
			}
			t.Logf("%d statements left out, one by one: %v", len(all), kinds)
		})
	}
}

// fullWorlds are a target and a source of a game, in which every statement of its profile
// matters.
type fullWorlds struct {
	realGame
	refs    *gameworlds.Refs
	dbs     []*sql.DB
	dsns    []string
	file    string              // the profile
	columns map[string][]string // of the tables
	unseen  map[string]bool     // columns that no value which leads nowhere can be in often
}

func (w *fullWorlds) profile(t *testing.T) map[string]any {
	t.Helper()
	var whole map[string]any
	if _, err := toml.DecodeFile(w.file, &whole); err != nil {
		t.Fatal(err)
	}
	inOlderWords(whole)
	return whole
}

// inOlderWords puts older words in the place of those of today, one statement for each column.
func inOlderWords(whole map[string]any) {
	split := func(at any) (table, column string) {
		if list, several := at.([]any); several {
			at = list[0]
		}
		table, column, _ = strings.Cut(at.(string), ".")
		return table, column
	}
	check := whole["check"].(map[string]any)
	merge, _ := whole["merge"].(map[string]any)
	var copies []map[string]any
	refs := sections(whole, "check", "reference")
	for _, r := range refs {
		if r["by"] == nil {
			continue
		}
		for _, at := range r["at"].([]any) {
			c := map[string]any{"key": r["by"]}
			c["table"], c["column"] = split(at)
			c["of_table"], c["of_column"] = split(r["to"])
			copies = append(copies, c)
		}
	}
	if len(copies) > 0 {
		check["reference"] = slices.DeleteFunc(slices.Clone(refs), func(r map[string]any) bool { return r["by"] != nil })
		merge["copy"] = copies
	}
	for _, u := range sections(whole, "check", "unique") {
		table, column := split(u["at"])
		u["table"], u["columns"] = table, []any{column}
		delete(u, "at")
	}
	older := func(s map[string]any, older, name string) {
		if s[name] != nil {
			s[older] = s[name]
			delete(s, name)
		}
	}
	for _, n := range sections(whole, "merge", "name") {
		n["table"], n["column"] = split(n["at"])
		delete(n, "at")
		older(n, "max_length", "max")
	}
	for _, c := range sections(whole, "merge", "counter") {
		older(c, "space", "to")
	}
	for _, s := range sections(whole, "merge", "space") {
		older(s, "step", "offset")
	}
}

func (w *fullWorlds) plan(t *testing.T, profile map[string]any) (p planned) {
	t.Helper()
	for _, section := range profile { // an empty list of sections is none
		if list, ok := section.(map[string]any); ok {
			maps.DeleteFunc(list, func(_ string, v any) bool { all, ok := v.([]map[string]any); return ok && len(all) == 0 })
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.Base(w.file))
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(toml.NewEncoder(f).Encode(profile), f.Close()); err != nil {
		t.Fatal(err)
	}
	own := []string{file}
	if w.own != "" {
		own = append(own, ownFile(t, w.realGame.profile, w.own))
	}
	r := servermerge(t.Context(), slices.Concat([]string{"plan", "-into", "sqlite:" + filepath.Join(dir, "new.db"), "-json", "-o", filepath.Join(dir, "plan.json")}, realGame{profile: w.base}.rules(t, own...), w.dsns)...)
	if r.stdout == "" {
		return planned{failed: r.stderr}
	}
	if p.Plan, err = merge.ReadPlan(strings.NewReader(r.stdout)); err != nil {
		t.Fatal(err)
	}
	return p
}

// differences are the places at which two plans differ.
func (w *fullWorlds) differences(before, after planned) (all []string) {
	places := func(p planned) map[string]string {
		at := make(map[string]string)
		add := func(place string, what any) {
			text, err := json.Marshal(what)
			if err != nil {
				panic(err)
			}
			at[place] += string(text)
		}
		for _, t := range p.Tables {
			add(t.Name, []any{t.Key, t.Columns, t.Combine, t.Worlds, t.Counter})
		}
		for _, l := range p.Left {
			add(l.Table, l)
		}
		for _, r := range p.Resets {
			add(r, r)
		}
		for _, a := range p.Alike {
			add(a.Table, a)
		}
		for _, r := range p.Renames {
			add(r.Table+"."+r.Column, r)
		}
		for _, c := range p.Copies {
			add(c.Table+"."+c.Column, c)
		}
		for _, c := range p.Rekey.Columns {
			c.Cases = slices.Clone(c.Cases)
			for i := range c.Cases {
				c.Cases[i].None = nil // what is declared is no difference: what is counted is
			}
			add(c.Table+"."+c.Column, c)
		}
		for _, s := range p.Rekey.Spaces {
			add("space "+s.Name, s)
		}
		for _, c := range p.Rekey.Counters {
			add(c.Table+"."+c.Column, c)
		}
		add("step", p.Rekey.Step)
		return at
	}
	if before.Plan == nil || before.Rekey == nil || after.Plan == nil || after.Rekey == nil {
		return []string{"everything"}
	}
	was, is := places(before), places(after)
	for place := range was {
		if was[place] != is[place] {
			all = append(all, place)
		}
	}
	for place := range is {
		if _, there := was[place]; !there {
			all = append(all, place)
		}
	}
	slices.Sort(all)
	return all
}

func (w *fullWorlds) summary(before, after planned) string {
	if after.Plan == nil {
		return "not taken: " + strings.TrimSpace(after.failed)
	}
	if n := len(after.Refusals); n > 0 {
		var some []string
		for _, r := range after.Refusals[:min(n, 3)] {
			some = append(some, fmt.Sprintf("%.150s", r))
		}
		return fmt.Sprintf("refused, %d reasons: %s", n, strings.Join(some, "; "))
	}
	return fmt.Sprintf("differs at %q", w.differences(before, after))
}

// place is a column.
type place struct{ table, column string }

func (p place) String() string { return p.table + "." + p.column }

var placePattern = regexp.MustCompile(`\\\*|\\\{(\d+)\\\.\\\.(\d+)\\\}`)

// expand returns the columns that "table.column" with * and {1..3} stands for.
func (w *fullWorlds) expand(pattern string) (all []place) {
	match := regexp.MustCompile("^" + placePattern.ReplaceAllStringFunc(regexp.QuoteMeta(pattern), func(s string) string {
		var first, last int
		if _, err := fmt.Sscanf(s, `\{%d\.\.%d\}`, &first, &last); err != nil {
			return `[^.]*`
		}
		var numbers []string
		for i := first; i <= last; i++ {
			numbers = append(numbers, fmt.Sprint(i))
		}
		return "(?:" + strings.Join(numbers, "|") + ")"
	}) + "$")
	for table, columns := range w.columns {
		for _, c := range columns {
			if match.MatchString(table + "." + c) {
				all = append(all, place{table, c})
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int { return strings.Compare(a.String(), b.String()) })
	return all
}

func (w *fullWorlds) expandAll(patterns any) (all []place) {
	for _, p := range patterns.([]any) {
		all = append(all, w.expand(p.(string))...)
	}
	return all
}

func sections(profile map[string]any, of, name string) []map[string]any {
	section, _ := profile[of].(map[string]any)
	all, _ := section[name].([]map[string]any)
	return all
}

func without[T any](all []T, i int) []T { return slices.Delete(slices.Clone(all), i, i+1) }

// mutations are all statements of the profile but for what columns are.
func (w *fullWorlds) mutations(t *testing.T, before planned) (all []mutation) {
	profile := w.profile(t)
	left := make(map[string]bool)
	for _, l := range before.Left {
		left[l.Table] = true
	}
	staying := func(p place) bool { return left[p.table] || slices.Contains(w.dropped, p.table) }

	refs := sections(profile, "check", "reference")
	others := make(map[place][]int) // the statements that say what the other rows of a column are
	for i, ref := range refs {
		for _, p := range w.expandAll(ref["at"]) {
			if ref["others"] != nil {
				others[p] = append(others[p], i)
			}
		}
	}
	// Every column of a statement is named, but for some.
	named := func(columns []place, but func(place) bool) func(before, after planned) string {
		columns = slices.DeleteFunc(slices.Clone(columns), but)
		return func(_, after planned) string {
			if after.Plan == nil {
				return "the rules are not taken"
			}
			var lacking []string
			for _, p := range columns {
				if !slices.ContainsFunc(w.words(p), func(column string) bool { return after.refuses(p.table, column) }) {
					lacking = append(lacking, p.String())
				}
			}
			if len(lacking) > 0 {
				return fmt.Sprintf("nothing stands against %q", lacking)
			}
			return ""
		}
	}
	for i, ref := range refs {
		columns := w.expandAll(ref["at"])
		stays := !slices.ContainsFunc(columns, func(p place) bool { return !left[p.table] || slices.Contains(w.dropped, p.table) })
		what := fmt.Sprintf("%v to %v, when %v, as %v", ref["at"], ref["to"], ref["when"], ref["format"])
		part := func(key string, judge func(before, after planned) string) {
			if ref[key] == nil {
				return
			}
			kind := key
			if stays {
				kind, judge = key+" of rows that stay behind", w.sameAsBefore
			}
			all = append(all, mutation{kind, what, nil, func(p map[string]any) {
				ref := sections(p, "check", "reference")[i]
				delete(ref, key)
				if ref["when"] == nil && ref["format"] == nil {
					delete(ref, "others")
				}
			}, judge})
		}
		leave := func(p map[string]any) { p["check"].(map[string]any)["reference"] = without(refs, i) }
		switch {
		case stays:
			all = append(all, mutation{"reference of rows that stay behind", what, nil, leave, w.sameAsBefore})
		case slices.ContainsFunc(columns, func(p place) bool { return slices.ContainsFunc(others[p], func(k int) bool { return k != i }) }):
			all = append(all, mutation{"reference beside others", what, nil, leave, w.differsAt(columns...)})
		default:
			all = append(all, mutation{"reference", what, nil, leave, named(columns, func(p place) bool { return len(columns) > 1 && staying(p) })})
		}
		if stays {
			part("none", nil)
		} else {
			all = append(all, w.nones(t, i, ref, what, columns, staying)...)
		}
		part("dangling", named(columns, func(p place) bool { return staying(p) || w.unseen[p.String()] }))
		part("when", w.differsAt(columns...))
		part("others", named(columns, staying))
		part("format", w.differsAt(append(w.expand(fmt.Sprint(ref["to"])), columns...)...)) // or its key has no room
	}

	shared, _ := profile["check"].(map[string]any)["shared"].([]any)
	for i, at := range shared {
		columns := w.expand(at.(string))
		if staying(columns[0]) || !slices.ContainsFunc(columns, w.names) {
			continue
		}
		all = append(all, mutation{"shared", at.(string), nil, func(p map[string]any) { p["check"].(map[string]any)["shared"] = without(shared, i) }, named(columns, staying)})
	}

	for i, u := range sections(profile, "check", "unique") {
		uniques := sections(profile, "check", "unique")
		var columns []place
		for _, c := range u["columns"].([]any) {
			columns = append(columns, place{u["table"].(string), c.(string)})
		}
		// [[merge.name]] makes a column unique as well: each of both stands in for the other.
		all = append(all, mutation{"unique", fmt.Sprint(columns), func(p map[string]any) {
			not := func(table, column string) func(map[string]any) bool {
				return func(s map[string]any) bool { return s[table] == u["table"] && s[column] == columns[0].column }
			}
			merge := p["merge"].(map[string]any)
			merge["name"] = slices.DeleteFunc(sections(p, "merge", "name"), not("table", "column"))
			merge["copy"] = slices.DeleteFunc(sections(p, "merge", "copy"), not("of_table", "of_column"))
		}, func(p map[string]any) { p["check"].(map[string]any)["unique"] = without(uniques, i) }, func(before, after planned) string {
			at := columns[0]
			switch {
			case before.Plan == nil:
				return before.failed
			case !before.refuses(at.table, at.column) || after.refuses(at.table, at.column):
				return "it is not what makes the names differ"
			}
			return ""
		}})
	}

	in := func(p map[string]any) map[string]any { return p["merge"].(map[string]any) }
	spaces := sections(profile, "merge", "space")
	for i, s := range spaces {
		keys, _ := s["keys"].([]any)
		name, _ := s["name"].(string)
		if name == "" {
			name = keys[0].(string)
		}
		leave := func(p map[string]any) { in(p)["space"] = without(spaces, i) }
		if most, _ := s["max"].(int64); most > 0 {
			all = append(all, mutation{"max", name, func(p map[string]any) {
				sections(p, "merge", "space")[i]["offset"] = map[string]any{before.Worlds[1].Name: most}
			}, func(p map[string]any) { delete(sections(p, "merge", "space")[i], "max") }, func(before, after planned) string {
				if before.Plan == nil || len(before.Refusals) == 0 {
					return "it is no limit"
				}
				if after.Plan == nil {
					return "the rules are not taken"
				}
				if len(after.Refusals) > 0 && slices.Equal(before.Refusals, after.Refusals) {
					return "it is refused for the same without it"
				}
				return ""
			}})
		}
		for _, key := range []string{"keep", "step"} {
			if s[key] == nil {
				continue
			}
			all = append(all, mutation{key, name, nil, func(p map[string]any) { delete(sections(p, "merge", "space")[i], key) }, func(before, after planned) string {
				if after.Plan == nil || !slices.Contains(w.differences(before, after), "space "+name) {
					return "the space is as it was"
				}
				return ""
			}})
		}
		var columns []place
		for _, k := range keys {
			columns = append(columns, w.expand(k.(string))...)
		}
		all = append(all, mutation{"space", name, nil, leave, w.refusesOne(columns...)})
	}

	counters := sections(profile, "merge", "counter")
	for i, c := range counters {
		all = append(all, mutation{"counter", fmt.Sprint(c["at"], c["when"]), nil, func(p map[string]any) { in(p)["counter"] = without(counters, i) }, named(w.expand(c["at"].(string)), func(place) bool { return false })})
	}

	tables := sections(profile, "merge", "table")
	for i, s := range tables {
		patterns := s["tables"].([]any)
		kind := s["policy"].(string)
		for k, pattern := range patterns {
			all = append(all, mutation{kind, pattern.(string), nil, func(p map[string]any) {
				if len(patterns) == 1 {
					in(p)["table"] = without(tables, i)
				} else {
					sections(p, "merge", "table")[i]["tables"] = without(patterns, k)
				}
			}, w.tablesDiffer(pattern.(string), kind)})
		}
		columns, _ := s["columns"].(map[string]any)
		for c := range columns {
			all = append(all, mutation{"column of combine", fmt.Sprint(patterns, c), nil, func(p map[string]any) {
				delete(sections(p, "merge", "table")[i]["columns"].(map[string]any), c)
			}, w.differsAt(place{patterns[0].(string), c})})
		}
		if s["rows"] != nil {
			all = append(all, mutation{"rows", fmt.Sprint(patterns), nil, func(p map[string]any) { delete(sections(p, "merge", "table")[i], "rows") }, func(_, after planned) string {
				if after.Plan == nil || len(after.Refusals) == 0 {
					return "the plan is not refused"
				}
				return ""
			}})
		}
	}

	copies := sections(profile, "merge", "copy")
	names := sections(profile, "merge", "name")
	for i, n := range names {
		at := place{n["table"].(string), n["column"].(string)}
		along := []place{at}
		set, _ := n["set"].(map[string]any)
		for column := range set {
			along = append(along, place{at.table, column})
		}
		for _, c := range copies {
			if c["of_table"] == at.table && c["of_column"] == at.column {
				along = append(along, place{c["table"].(string), c["column"].(string)})
			}
		}
		all = append(all, mutation{"name", at.String(), nil, func(p map[string]any) { in(p)["name"] = without(names, i) }, w.refusesOne(at)})
		for _, key := range []string{"template", "keep", "max_length"} {
			if n[key] != nil {
				all = append(all, mutation{key, at.String(), nil, func(p map[string]any) {
					n := sections(p, "merge", "name")[i]
					delete(n, key)
					if key == "keep" {
						delete(n, "by")
					}
				}, w.differsAt(along...)})
			}
		}
	}
	for i, c := range copies {
		at := place{c["table"].(string), c["column"].(string)}
		all = append(all, mutation{"copy", at.String(), nil, func(p map[string]any) { in(p)["copy"] = without(copies, i) }, w.differsAt(at)})
	}
	return all
}

// nones are the values of a reference that name nobody, one by one. Where a value that is not
// above 0 stands in a row, the plan is refused without it and names the column; others are
// keys that lead nowhere, and are counted so.
func (w *fullWorlds) nones(t *testing.T, i int, ref map[string]any, what string, columns []place, staying func(place) bool) (all []mutation) {
	t.Helper()
	values, _ := ref["none"].([]any)
	for k, v := range values {
		text := fmt.Sprint(v)
		is, number := "= "+text, !strings.ContainsAny(text, "<>")
		if !number {
			is = text
		}
		var having []place
		possible := false
		for _, p := range columns {
			if staying(p) {
				continue
			}
			if ref["format"] != nil {
				having, possible = append(having, p), true
				continue
			}
			possible = possible || w.takes(t, p, text)
			if n := rowsOf(t, w.dbs[1], fmt.Sprintf("SELECT COUNT(*) FROM `%s` WHERE `%s` %s AND %s", p.table, p.column, is, condition(ref))); *n[0][0] != "0" {
				having = append(having, p)
			}
		}
		kind := "none"
		if !possible {
			kind = "none that no column takes"
		}
		all = append(all, mutation{kind, text + " of " + what, nil, func(p map[string]any) {
			ref := sections(p, "check", "reference")[i]
			if ref["none"] = without(values, k); len(values) == 1 {
				delete(ref, "none")
			}
		}, func(before, after planned) string {
			switch {
			case !possible:
				return w.sameAsBefore(before, after)
			case after.Plan == nil && ref["gone"] == "none":
				return "" // the rules need a value that names no row
			case after.Plan == nil:
				return "the rules are not taken"
			case having == nil:
				return "no row of the source has it"
			}
			differ := w.differences(before, after)
			to, _, _ := strings.Cut(fmt.Sprint(ref["to"]), ".")
			lacking := slices.DeleteFunc(slices.Clone(having), func(p place) bool {
				return slices.ContainsFunc(w.words(p), func(column string) bool { return after.refuses(p.table, column) }) || (!number || !strings.HasPrefix(text, "-") && text != "0") && (after.refuses(to, "") || len(after.Refusals) == 0 && slices.Contains(differ, p.String()))
			})
			if len(lacking) > 0 {
				return fmt.Sprintf("nothing stands against %q", lacking)
			}
			return ""
		}})
	}
	return all
}

// names reports whether a column that is the same in every world names accounts, or other things without
// a table. That of the others is left out by TestProfilesClassifyEveryColumn of mergecheck.
func (w *fullWorlds) names(p place) bool {
	return slices.ContainsFunc(w.refs.Columns[gameworlds.Column{Table: p.table, Name: p.column}], func(m gameworlds.Meaning) bool {
		return m.Kind == gameworlds.Account || m.Kind == gameworlds.Thing
	})
}

// words are the columns that a key may be in which begins in a column.
func (w *fullWorlds) words(p place) []string {
	for _, k := range w.halves {
		if k.table == p.table && k.columns[0] == p.column {
			return k.columns
		}
	}
	return []string{p.column}
}

// takes reports whether a column of integers takes a value.
func (w *fullWorlds) takes(t *testing.T, p place, value string) bool {
	t.Helper()
	row := rowsOf(t, w.dbs[0], fmt.Sprintf("SELECT column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '%s' AND column_name = '%s'", p.table, p.column))
	return !strings.Contains(*row[0][0], "unsigned") || !strings.HasPrefix(value, "-") && value != "<0"
}

// condition is when a reference holds, in SQL.
func condition(ref map[string]any) string {
	c, _ := ref["when"].(map[string]any)
	if c == nil {
		return "1"
	}
	var values []string
	for _, v := range c["is"].([]any) {
		values = append(values, fmt.Sprintf("'%v'", v))
	}
	return fmt.Sprintf("`%s` IN (%s)", c["column"], strings.Join(values, ", "))
}

// sameAsBefore judges what comes of a statement on rows that stay behind: nothing.
func (w *fullWorlds) sameAsBefore(before, after planned) string {
	if after.Plan == nil || len(after.Refusals) > 0 {
		return "it is refused"
	}
	return w.onlyAt(before, after, nil)
}

// refusesOne judges what comes of a part without which nothing can be planned: the rules are
// not taken, or the plan is refused, and one of the columns is named.
func (w *fullWorlds) refusesOne(columns ...place) func(before, after planned) string {
	return func(_, after planned) string {
		named := func(p place) bool {
			return after.Plan == nil && strings.Contains(after.failed, p.String()) || after.Plan != nil && after.refuses(p.table, p.column)
		}
		if columns == nil && (after.Plan == nil || len(after.Refusals) > 0) || slices.ContainsFunc(columns, named) {
			return ""
		}
		return "nothing stands against it"
	}
}

// differsAt judges what comes of a part that changes what is done to columns: the rules are
// not taken, the plan is refused and names one of the columns, or it differs at them, and
// nowhere else.
func (w *fullWorlds) differsAt(columns ...place) func(before, after planned) string {
	return func(before, after planned) string {
		if after.Plan == nil {
			if !strings.Contains(after.failed, ".toml") && !slices.ContainsFunc(columns, func(p place) bool { return strings.Contains(after.failed, p.column) }) {
				return "the rules are not taken, and it is not said where"
			}
			return ""
		}
		if slices.ContainsFunc(columns, func(p place) bool {
			return slices.ContainsFunc(w.words(p), func(column string) bool { return after.refuses(p.table, column) })
		}) {
			return ""
		}
		if len(after.Refusals) > 0 {
			if columns == nil {
				return ""
			}
			return "it is refused, and not for that"
		}
		var places []string
		for _, p := range columns {
			places = append(places, p.String())
		}
		if !slices.ContainsFunc(w.differences(before, after), func(at string) bool { return slices.Contains(places, at) }) {
			return "nothing is different"
		}
		return w.onlyAt(before, after, places)
	}
}

// onlyAt says where plans differ beside some places: at the tables of columns they may, whose sums differ.
func (w *fullWorlds) onlyAt(before, after planned, places []string) string {
	tables := make(map[string]bool)
	for _, p := range places {
		table, _, _ := strings.Cut(p, ".")
		tables[table] = true
	}
	more := slices.DeleteFunc(w.differences(before, after), func(at string) bool {
		return slices.Contains(places, at) || tables[at] || strings.HasPrefix(at, "space ")
	})
	if len(more) > 0 {
		return fmt.Sprintf("%q are different, too", more)
	}
	return ""
}

// tablesDiffer judges what comes of a table that has no policy.
func (w *fullWorlds) tablesDiffer(pattern, policy string) func(before, after planned) string {
	match := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
	return func(before, after planned) string {
		if after.Plan == nil {
			return "the rules are not taken"
		}
		is := func(p planned) map[string]bool {
			all := make(map[string]bool)
			for _, t := range p.Tables {
				all[t.Name] = t.Combine == nil
			}
			return all
		}
		was, now := is(before), is(after)
		var lacking []string
		for table := range w.columns {
			if match.MatchString(table) && !was[table] && !now[table] && !after.refuses(table, "") && !w.saidElsewhere(pattern, table) {
				lacking = append(lacking, table)
			}
		}
		if len(lacking) > 0 {
			return fmt.Sprintf("%q are neither refused nor copied", lacking)
		}
		return ""
	}
}

// saidElsewhere reports whether another pattern of the profile has a policy for a table.
func (w *fullWorlds) saidElsewhere(pattern, table string) bool {
	var profile struct {
		Merge struct{ Table []struct{ Tables []string } }
	}
	if _, err := toml.DecodeFile(w.file, &profile); err != nil {
		panic(err)
	}
	for _, rule := range profile.Merge.Table {
		for _, p := range rule.Tables {
			if p != pattern && regexp.MustCompile("^"+strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*")+"$").MatchString(table) {
				return true
			}
		}
	}
	return false
}

// withoutHints takes out what a database says of keys by itself, as it does not in every
// world of a family: foreign keys and AUTO_INCREMENT.
func withoutHints(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, row := range rowsOf(t, db, "SELECT DISTINCT table_name, constraint_name FROM information_schema.key_column_usage WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL") {
		statements(t, db, []string{fmt.Sprintf("ALTER TABLE `%s` DROP FOREIGN KEY `%s`", *row[0], *row[1])})
	}
	for _, row := range rowsOf(t, db, "SELECT table_name, column_name, column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND extra = 'auto_increment'") {
		statements(t, db, []string{fmt.Sprintf("ALTER TABLE `%s` MODIFY `%s` %s NOT NULL", *row[0], *row[1], *row[2])})
	}
}

// worldsWithEverything makes two worlds of a game with what any of its statements is about:
// names that are there twice, characters that are gone and known in many rows.
func (g realGame) worldsWithEverything(t *testing.T, folder string) *fullWorlds {
	t.Helper()
	schema := g.load(t, folder)
	w := &fullWorlds{realGame: g, refs: schema.Refs, file: filepath.Join("../../profiles", g.profile+".toml"), columns: make(map[string][]string), unseen: make(map[string]bool)}
	for seed := range uint64(2) {
		opts := gameworlds.Typical(seed)
		opts.Characters, opts.Items, opts.Offset = 300, 1500, g.above
		dsn := servertest.DSN(t)
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		if _, err := schema.Fill(t.Context(), db, sqldb.MySQL, opts); err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1) // for the session's settings
		statements(t, db, append(slices.Clone(g.first), "SET SESSION foreign_key_checks = 0, sql_mode = ''"))
		withoutHints(t, db)
		statements(t, db, g.all)
		w.dbs, w.dsns = append(w.dbs, db), append(w.dsns, "mysql:"+dsn)
	}
	for _, row := range rowsOf(t, w.dbs[0], "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE()") {
		w.columns[*row[0]] = append(w.columns[*row[0]], *row[1])
	}
	profile := w.profile(t)
	for i, db := range w.dbs {
		for _, ref := range sections(profile, "check", "reference") {
			if ref["dangling"] != nil {
				w.oneIsGone(t, db, ref)
			}
		}
		for _, n := range sections(profile, "merge", "name") {
			w.sameName(t, db, i, n, sections(profile, "merge", "copy"))
		}
	}
	for p := range w.unseen {
		t.Logf("each value is in %s once", p)
	}
	return w
}

// oneIsGone puts a key of a row that is gone into many rows: somebody whom many knew.
func (w *fullWorlds) oneIsGone(t *testing.T, db *sql.DB, ref map[string]any) {
	t.Helper()
	table, column, _ := strings.Cut(ref["to"].(string), ".")
	keys := make(map[string]bool)
	for _, row := range rowsOf(t, db, fmt.Sprintf("SELECT `%s` FROM `%s`", column, table)) {
		keys[*row[0]] = true
	}
	taken := maps.Clone(keys) // and by what is counted together with them
	for c, meanings := range w.refs.Columns {
		if with := w.refs.Columns[gameworlds.Column{Table: table, Name: column}]; len(with) > 0 && with[0].Counter != "" && meanings[0].Counter == with[0].Counter {
			for _, row := range rowsOf(t, db, fmt.Sprintf("SELECT `%s` FROM `%s`", c.Name, c.Table)) {
				taken[*row[0]] = true
			}
		}
	}
	gone := ""
	for n := w.above + 2; gone == ""; n++ {
		if !taken[fmt.Sprint(n)] {
			gone = fmt.Sprint(n)
		}
	}
	when := "WHERE " + condition(ref)
	for _, p := range w.expandAll(ref["at"]) {
		order := " ORDER BY `" + w.columns[p.table][0] + "`"
		if strings.Contains(fmt.Sprint(ref["format"]), "tag 48..63=0xF140") { // beside another reference
			order += " DESC"
		}
		cell := gone
		wholly := func(m gameworlds.Meaning) bool {
			return m.Kind == gameworlds.Reference && m.To[0] == (gameworlds.Column{Table: table, Name: column})
		}
		if ref["format"] != nil && !slices.ContainsFunc(w.refs.Columns[gameworlds.Column{Table: p.table, Name: p.column}], wholly) {
			cell = w.cellWith(t, db, p, place{table, column}, keys, when)
		}
		if cell == "" {
			t.Fatalf("%s has no cell that leads nowhere", p)
		}
		limit := 40
		if all, _ := strconv.Atoi(*rowsOf(t, db, "SELECT COUNT(*) FROM `"+p.table+"` "+when)[0][0]); all < 2*limit && ref["none"] != nil {
			limit = all / 2 // the others may name no row
		}
		n, err := db.ExecContext(t.Context(), fmt.Sprintf("UPDATE IGNORE `%s` SET `%s` = ? %s LIMIT %d", p.table, p.column, when+order, limit), cell)
		var refused *mysql.MySQLError
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		rows := int64(0)
		if err == nil {
			rows, _ = n.RowsAffected()
		}
		if rows < 20 {
			w.unseen[p.String()] = true
		}
	}
}

// cellWith returns a cell with a key that leads nowhere.
func (w *fullWorlds) cellWith(t *testing.T, db *sql.DB, p, to place, keys map[string]bool, when string) string {
	t.Helper()
	for _, row := range rowsOf(t, db, fmt.Sprintf("SELECT `%s` FROM `%s` %s", p.column, p.table, when)) {
		for _, m := range w.refs.Columns[gameworlds.Column{Table: p.table, Name: p.column}] {
			if row[0] == nil || m.As == nil || len(m.To) == 0 || m.To[0] != (gameworlds.Column{Table: to.table, Name: to.column}) {
				continue
			}
			in, _, ok := m.As.Read(*row[0])
			gone := func(k string) bool { return !keys[k] && k != "0" } // 0 leads to no row
			if ok && slices.ContainsFunc(in, gone) {
				return *row[0]
			}
			for at := range *row[0] { // another key in its place
				for _, k := range in {
					if strings.HasPrefix((*row[0])[at:], k) {
						for _, before := range []string{(*row[0])[:at] + "7", strings.TrimSuffix((*row[0])[:at], "  ") + "77"} {
							if in, _, ok := m.As.Read(before + (*row[0])[at:]); ok && slices.ContainsFunc(in, gone) {
								return before + (*row[0])[at:]
							}
						}
					}
				}
			}
			if number, err := strconv.ParseUint(*row[0], 10, 64); ok && err == nil {
				for shift := range 40 { // another key in the same bits
					other := fmt.Sprint(number + 1<<shift)
					if in, _, ok := m.As.Read(other); ok && slices.ContainsFunc(in, gone) {
						return other
					}
				}
			}
		}
	}
	return ""
}

// sameName gives a row of each world the same name, as long as the game takes, and has others
// repeat it. What the name is kept by says: the source's.
func (w *fullWorlds) sameName(t *testing.T, db *sql.DB, world int, n map[string]any, copies []map[string]any) {
	t.Helper()
	table, column := n["table"].(string), n["column"].(string)
	length := int64(8)
	if most, _ := n["max_length"].(int64); most > 0 {
		length = most
	}
	name := strings.Repeat("n", int(length))
	key := ""
	for c, meanings := range w.refs.Columns {
		if c.Table == table && meanings[0].Kind == gameworlds.Key {
			key = c.Name
		}
	}
	row := rowsOf(t, db, fmt.Sprintf("SELECT MIN(`%s`) FROM `%s`", key, table))
	of := *row[0][0]
	set := fmt.Sprintf("UPDATE `%s` SET `%s` = '%s'", table, column, name)
	if by, _ := n["by"].(string); by != "" {
		times := map[string][]string{"active": {"1100000000", "1200000000"}, "older": {"1200000000", "1100000000"}}[n["keep"].(string)]
		value := times[world]
		for _, r := range rowsOf(t, db, fmt.Sprintf("SELECT data_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '%s' AND column_name = '%s'", table, by)) {
			switch *r[0] {
			case "timestamp", "datetime":
				value = "FROM_UNIXTIME(" + value + ")"
			case "smallint":
				value = "1" + value[1:4]
			}
		}
		set += fmt.Sprintf(", `%s` = %s", by, value)
	}
	statements(t, db, []string{fmt.Sprintf("%s WHERE `%s` = %s", set, key, of)})
	for _, c := range copies {
		if c["of_table"] != table || c["of_column"] != column {
			continue
		}
		statements(t, db, []string{
			fmt.Sprintf("UPDATE IGNORE `%s` SET `%s` = %s LIMIT 1", c["table"], c["key"], of),
			fmt.Sprintf("UPDATE `%s` SET `%s` = '%s' WHERE `%s` = %s", c["table"], c["column"], name, c["key"], of),
		})
	}
}
