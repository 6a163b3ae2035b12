package check_test

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/gameworlds"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// A real schema is shifted by hand, and a third of the references are forgotten: the
// check names each of them, with the rows that would mean a stranger's.
// MERGESAFE_SCHEMAS is a folder with the schemas.
func TestForgottenReferencesOfRealSchemas(t *testing.T) {
	folder := os.Getenv("MERGESAFE_SCHEMAS")
	if folder == "" {
		t.Skip("MERGESAFE_SCHEMAS names no folder with the schemas of public games")
	}
	for _, name := range []string{"azerothcore_characters", "hercules_main"} {
		t.Run(name, func(t *testing.T) {
			schema, err := gameworlds.Load(filepath.Join(folder, name+".sql"), filepath.Join("../propose/testdata", name+".refs"))
			if err != nil {
				t.Fatal(err)
			}
			schema.Engine = "InnoDB"
			target, source := gameworlds.Typical(1), gameworlds.Typical(2)
			source.Offset, source.Forget = 2_000_000, 1.0/3
			dsns := []string{servertest.DSN(t), servertest.DSN(t)}
			var pools []*sql.DB
			var forgotten []gameworlds.Column
			for i, opts := range []gameworlds.Options{target, source} {
				pool, err := sql.Open("mysql", dsns[i])
				if err != nil {
					t.Fatal(err)
				}
				defer pool.Close()
				world, err := schema.Fill(t.Context(), pool, sqldb.MySQL, opts)
				if err != nil {
					t.Fatal(err)
				}
				pools, forgotten = append(pools, pool), world.Forgotten
			}
			if len(forgotten) == 0 {
				t.Fatal("nothing was forgotten")
			}
			ruled := trueRules(schema.Refs, forgotten)
			report, took, heap := checkPools(t, dsns, rules.Options{Rules: []rules.Declarations{ruled}})
			open := openColumns(report)
			rows, missed, keys := int64(0), 0, keysOf(t, pools, ruled)
			for _, c := range forgotten {
				want := strangers(t, pools, keys, c)
				rows += want
				r := resultOf(report, c.String())
				got := int64(0)
				if len(r) > 0 {
					got = r[0].Count
				}
				if got != want {
					t.Errorf("%s: %d rows are open, SQL counts %d", c, got, want)
					missed++
				}
			}
			t.Logf("%s: %s; %d references forgotten, %d rows of them would mean others, %d differ from SQL; %d columns open, %d declared plain hold keys; %v and %d MiB",
				name, report.Verdict, len(forgotten), rows, missed, len(open), report.Plain, took, heap>>20)
		})
	}
}

// trueRules declares what is true of a schema, but for the columns that are forgotten.
func trueRules(refs *gameworlds.Refs, forgotten []gameworlds.Column) (d rules.Declarations) {
	for _, c := range slices.SortedFunc(maps.Keys(refs.Columns), func(a, b gameworlds.Column) int { return strings.Compare(a.String(), b.String()) }) {
		meanings := refs.Columns[c]
		if slices.Contains(forgotten, c) {
			continue
		}
		at := c.String()
		for i, m := range meanings {
			switch m.Kind {
			case gameworlds.Natural:
				if i == 0 && len(meanings) == 1 {
					d.Shared = append(d.Shared, at)
				}
			case gameworlds.Account:
				if len(meanings) == 1 {
					d.Shared = append(d.Shared, at)
				}
			case gameworlds.Reference:
				if natural := refs.Columns[m.To[0]]; len(natural) > 0 && natural[0].Kind == gameworlds.Natural {
					d.Shared = append(d.Shared, at)
					break
				}
				r := rules.DeclaredReference{At: []string{at}, To: []string{m.To[0].String()}}
				for _, n := range m.None {
					r.None = append(r.None, fmt.Sprintf("<=%d", n.Max))
					if n.Min == n.Max {
						r.None[len(r.None)-1] = fmt.Sprint(n.Min)
					} else if n.Max > 1<<60 {
						r.None[len(r.None)-1] = fmt.Sprintf(">=%d", n.Min)
					}
				}
				if m.When != nil {
					r.When = &rules.When{Column: m.When.Column, Is: m.When.Is}
				}
				d.References = append(d.References, r)
			}
		}
	}
	return d
}

// keysOf are the values of the key columns that undeclared columns may name, of each
// world: of each key the first column that is not declared or, as long as the worlds
// have a value in common, further ones.
func keysOf(t *testing.T, pools []*sql.DB, d rules.Declarations) (keys [2]map[string]map[string]bool) {
	t.Helper()
	keys = [2]map[string]map[string]bool{make(map[string]map[string]bool), make(map[string]map[string]bool)}
	columns := textsOf(t, pools[0], `SELECT CONCAT(i.table_name, '|', i.index_name, '|', i.column_name, '|', c.data_type, '|',
			(SELECT MAX(o.nullable) FROM information_schema.statistics AS o WHERE o.table_schema = i.table_schema AND o.table_name = i.table_name AND o.index_name = i.index_name))
		FROM information_schema.statistics AS i JOIN information_schema.columns AS c
		ON c.table_schema = i.table_schema AND c.table_name = i.table_name AND c.column_name = i.column_name
		WHERE i.table_schema = DATABASE() AND i.non_unique = 0
		ORDER BY i.table_name, i.index_name <> 'PRIMARY', i.index_name, i.seq_in_index`)
	index, done := make(map[string]string), make(map[string]bool)
	for _, line := range columns {
		part := strings.Split(line, "|")
		table, column, dataType := part[0], part[2], part[3]
		if part[4] == "YES" || index[table] != "" && index[table] != part[1] || done[table] {
			continue
		}
		index[table] = part[1]
		at := table + "." + column
		if slices.Contains(d.Shared, at) || strings.HasPrefix(dataType, "date") || strings.HasPrefix(dataType, "time") {
			continue
		}
		if i := slices.IndexFunc(d.References, func(r rules.DeclaredReference) bool { return r.At[0] == at }); i >= 0 && completeIn(t, pools, d.References[i]) {
			done[table] = true
			continue
		}
		common := false
		for i, pool := range pools {
			keys[i][at] = make(map[string]bool)
			for _, v := range textsOf(t, pool, "SELECT DISTINCT `"+column+"` FROM `"+table+"`") {
				keys[i][at][v] = true
				common = common || i == 1 && keys[0][at][v]
			}
		}
		if !strings.HasSuffix(dataType, "int") { // another kind of key
			delete(keys[0], at)
			delete(keys[1], at)
		}
		done[table] = !common
	}
	return keys
}

// completeIn reports whether every row of a reference leads somewhere, in all worlds.
func completeIn(t *testing.T, pools []*sql.DB, r rules.DeclaredReference) bool {
	t.Helper()
	table, column, _ := strings.Cut(r.At[0], ".")
	to, key, _ := strings.Cut(r.To[0], ".")
	for _, pool := range pools {
		if n := textsOf(t, pool, fmt.Sprintf("SELECT COUNT(*) FROM `%s` AS r WHERE r.`%s` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM `%s` AS k WHERE k.`%s` = r.`%[2]s`)", table, column, to, key)); n[0] != "0" {
			return false
		}
	}
	return len(r.None) == 0 && r.When == nil
}

// strangers counts the rows of a column whose value is no key of its own world and one
// of the other's, in a column that may be named.
func strangers(t *testing.T, pools []*sql.DB, keys [2]map[string]map[string]bool, c gameworlds.Column) (n int64) {
	t.Helper()
	var values [2][]string
	hexadecimal := false
	for i, pool := range pools {
		values[i] = textsOf(t, pool, "SELECT `"+c.Name+"` FROM `"+c.Table+"` WHERE `"+c.Name+"` IS NOT NULL")
		for _, v := range values[i] {
			for _, p := range partsOf(v) {
				hexadecimal = hexadecimal || len(p) <= 16 && mixedHex.MatchString(p)
			}
		}
	}
	changes := func(i int, readings []string) bool {
		for k, set := range keys[1-i] {
			for _, v := range readings {
				if k != c.String() && set[v] && !keys[i][k][v] {
					return true
				}
			}
		}
		return false
	}
	for i := range pools {
		for _, v := range values[i] {
			if changes(i, []string{v}) || !wholeNumber.MatchString(v) && changes(i, readingsOf(v, "int", hexadecimal)) {
				n++
			}
		}
	}
	return n
}

func textsOf(t *testing.T, pool *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := pool.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

// checkPools checks, and measures the time and what the heap grew to.
func checkPools(t *testing.T, dsns []string, opts rules.Options) (*verdict.Report, time.Duration, uint64) {
	t.Helper()
	var sources []catalog.Source
	for i, dsn := range dsns {
		s, err := world.Open(t.Context(), worldName(i), "mysql:"+dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sources = append(sources, s)
	}
	runtime.GC()
	var before, most runtime.MemStats
	runtime.ReadMemStats(&before)
	most = before
	opts.Progress = func(p rules.Progress) {
		if p.Rows%(1<<16) < 512 {
			var now runtime.MemStats
			if runtime.ReadMemStats(&now); now.HeapAlloc > most.HeapAlloc {
				most = now
			}
		}
	}
	began := time.Now()
	report, err := merge.Check(t.Context(), sources, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report, time.Since(began).Round(time.Millisecond), most.HeapAlloc - min(most.HeapAlloc, before.HeapAlloc)
}
