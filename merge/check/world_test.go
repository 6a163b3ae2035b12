package check_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// now is the clock of all databases of these tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const hour = int64(time.Hour / time.Millisecond)

func nowMillis() int64 { return now.UnixMilli() - gameid.EpochMillis }

// id makes the n-th ID of a server, an hour and more before now.
func id(server gameid.ServerID, n int) gameid.ID {
	return idAt(server, nowMillis()-1000*hour+int64(n)*1000, uint16(n))
}

func idAt(server gameid.ServerID, millis int64, sequence uint16) gameid.ID {
	made, err := gameid.Make(gameid.TimeOf(millis), server, sequence)
	if err != nil {
		panic(err)
	}
	return made
}

func number(name string) catalog.Column {
	return catalog.Column{Name: name, Type: "INT", Kind: catalog.KindInteger}
}

// schema is a small game's: names without regard to case, a composite key,
// references that may be NULL.
func schema() catalog.Catalog {
	idColumn := func(name string) catalog.Column { return catalog.Column{Name: name, Type: "BLOB", IsID: true} }
	nullable := func(c catalog.Column) catalog.Column { c.Nullable = true; return c }
	name := catalog.Column{Name: "name", Type: "TEXT", Collation: mergetest.NoCase}
	return catalog.Catalog{
		Engine: "memory", EngineVersion: "1", SchemaVersion: 1, Now: now,
		Tables: []catalog.Table{
			{
				Name: "guilds", Columns: []catalog.Column{idColumn("id"), name, idColumn("leader")},
				Primary: []string{"id"}, Uniques: []catalog.Unique{{Name: "guild_name", Columns: []string{"name"}}},
				References: []catalog.Reference{{Columns: []string{"leader"}, ToTable: "players", ToColumns: []string{"id"}}},
			}, {
				Name: "items", Columns: []catalog.Column{idColumn("id"), nullable(idColumn("owner")), {Name: "count", Type: "INTEGER"}},
				Primary:    []string{"id"},
				References: []catalog.Reference{{Columns: []string{"owner"}, ToTable: "players", ToColumns: []string{"id"}}},
			}, {
				Name: "members", Columns: []catalog.Column{idColumn("guild"), idColumn("player")},
				Primary: []string{"guild", "player"},
				References: []catalog.Reference{
					{Columns: []string{"guild"}, ToTable: "guilds", ToColumns: []string{"id"}},
					{Columns: []string{"player"}, ToTable: "players", ToColumns: []string{"id"}},
				},
			}, {
				Name: "players", Columns: []catalog.Column{idColumn("id"), name, nullable(catalog.Column{Name: "mail", Type: "TEXT", Collation: mergetest.Binary}), {Name: "gold", Type: "INTEGER"}},
				Primary: []string{"id"},
				Uniques: []catalog.Unique{{Name: "player_name", Columns: []string{"name"}}, {Name: "player_mail", Columns: []string{"mail"}}},
			},
		},
	}
}

// world is a database of one server, with nothing wrong in it.
func madeWorld(server gameid.ServerID) *mergetest.Database {
	return &mergetest.Database{
		Label:  fmt.Sprintf("s%d", server),
		Schema: schema(),
		Registry: []catalog.Server{{
			Server: server, World: fmt.Sprintf("world-%d", server), Name: fmt.Sprintf("realm %d", server),
			Own: true, Reserved: nowMillis(),
		}},
		Rows: make(map[string][]mergetest.Row),
	}
}

// settled is a world with some rows: players, items, a guild and its members.
func settled(server gameid.ServerID) *mergetest.Database {
	db := madeWorld(server)
	for n := range 5 {
		db.Rows["players"] = append(db.Rows["players"], mergetest.Row{
			"id": id(server, n), "name": fmt.Sprintf("Player%d.%d", server, n), "gold": int64(10 * n),
		})
		db.Rows["items"] = append(db.Rows["items"],
			mergetest.Row{"id": id(server, 100+n), "owner": id(server, n), "count": int64(1)},
			mergetest.Row{"id": id(server, 200+n), "count": int64(2)})
	}
	db.Rows["guilds"] = []mergetest.Row{{"id": id(server, 300), "name": fmt.Sprintf("Guild%d", server), "leader": id(server, 0)}}
	db.Rows["members"] = []mergetest.Row{
		{"guild": id(server, 300), "player": id(server, 0)},
		{"guild": id(server, 300), "player": id(server, 1)},
	}
	return db
}

func sources(dbs ...*mergetest.Database) (all []catalog.Source) {
	for _, db := range dbs {
		all = append(all, db)
	}
	return all
}

// check is Check with a clock that stands still.
func mustCheck(t testing.TB, opts rules.Options, dbs ...*mergetest.Database) *verdict.Report {
	t.Helper()
	opts.Clock = func() time.Time { return now }
	report := checked(t, sources(dbs...), opts)
	settles(t, report)
	if opts.Rekey != nil {
		sameWithoutValues(t, sources(dbs...), opts, report, func(*check.Reader) {})
	}
	return report
}

// sameWithoutValues makes sure that a report says the same if no values are kept until the keys are known, so that rows are
// read again.
func sameWithoutValues(t fatal, sources []catalog.Source, opts rules.Options, report *verdict.Report, setUp func(*check.Reader)) {
	t.Helper()
	again, err := check.Check(context.Background(), sources, opts, check.With{Rules: []check.Rule{propose.ProposalRule}, Reader: func(r *check.Reader) {
		setUp(r)
		r.Others = 0
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Results, report.Results) || !slices.Equal(again.PlainOpen, report.PlainOpen) {
		t.Fatalf("without values that are kept:\n%+v %q, want\n%+v %q", again.Results, again.PlainOpen, report.Results, report.PlainOpen)
	}
}

// checked is what a check says.
func checked(t fatal, sources []catalog.Source, opts rules.Options, quick ...func(*verdict.Report)) *verdict.Report {
	t.Helper()
	report, err := merge.Check(context.Background(), sources, opts, quick...)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// settles makes sure that each finding that is not verified names the line of a rule file or the flag that settles it.
func settles(t testing.TB, report *verdict.Report) {
	t.Helper()
	words := []string{"[[", "[check]", "shared = [", "none = [", "-allow ", "-rules ", "check again"}
	for _, r := range report.Results {
		says := func(step string) bool {
			return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(step, word) })
		}
		if r.Verdict == verdict.NotVerified && r.Allow == "" && !slices.ContainsFunc(r.Next, says) {
			t.Errorf("%s %s %s: nothing says what settles it: %q", r.Code, r.Table, r.Subject, r.Next)
		}
	}
}

// find returns the results of a code for a table and subject; "" is any.
func find(r *verdict.Report, code, table, subject string) (all []verdict.Result) {
	for _, result := range r.Results {
		if result.Code == code && (table == "" || result.Table == table) && (subject == "" || result.Subject == subject) {
			all = append(all, result)
		}
	}
	return all
}

// codesOf are those of what is not passed of some tables, but for what registries list.
func codesOf(r *verdict.Report, tables ...string) (codes []string) {
	for _, result := range r.Results {
		if result.Verdict != verdict.Pass && slices.Contains(tables, result.Table) && !strings.HasPrefix(result.Code, "server") {
			codes = append(codes, result.Code)
		}
	}
	return codes
}

// findings is what stands against a merge, as "code table subject" and count.
func findings(r *verdict.Report) map[string]int64 {
	found := make(map[string]int64)
	for _, result := range r.Results {
		if result.Count > 0 {
			found[key(result.Code, result.Table, result.Subject)] = result.Count
		}
	}
	return found
}

func key(code, table, subject string) string { return code + "|" + table + "|" + subject }
