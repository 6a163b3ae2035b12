package change_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/worldtest"
)

// conditioned are worlds with a condition at a line of a file.
func conditioned(condition string, limit time.Duration) planner.PlanOptions {
	return worldtest.LeaveOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Leave = []rules.Leave{{Table: "hero", Where: condition, Limit: limit, File: "rules.toml", Line: 7}}
		o.Tables = append(o.Tables, rules.TablePolicy{Tables: []string{"n"}, Policy: rules.PolicySkip})
		d.Plain = append(d.Plain, "n.i")
	})
}

// ofEither is an error as if the first world had given it: both judge a condition at the same time.
func ofEither(err error) string { return strings.ReplaceAll(err.Error(), "w1", "w0") }

// What a server cannot judge is refused with its own words, and what it must not is refused by name, at its place.
func TestBadConditions(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers, "CREATE TABLE n (i INTEGER NOT NULL PRIMARY KEY)")...)
		const says = "w0 says: "
		for condition, want := range map[string]string{
			"level < < 3":                                      says,
			"LENGTH(tag, 2) > 1":                               says,
			"level IN (SELECT i, i FROM n)":                    says,
			"SUM(level) > 3":                                   says,
			"level BETWEEN 1":                                  says,
			"hero.level < 3 AND hero.lvl < 3":                  `"lvl" is not a column of the tables in the condition`,
			"level < RAND()":                                   "the function RAND is not allowed",
			"level < RANDOM()":                                 "the function RANDOM is not allowed",
			"level < UNIX_TIMESTAMP()":                         "UNIX_TIMESTAMP",
			"tag = UUID()":                                     "the function UUID is not allowed",
			"level < (@n := 3)":                                `"@" is not allowed`,
			"SLEEP(100) = 0":                                   "the function SLEEP is not allowed",
			"GET_LOCK('a', 9) = 1":                             "the function GET_LOCK is not allowed",
			"BENCHMARK(9, 1) = 0":                              "the function BENCHMARK is not allowed",
			"level < CURRENT_TIMESTAMP":                        "CURRENT_TIMESTAMP is not allowed",
			"level < 3; DELETE FROM hero":                      `";" is not allowed`,
			"level IN (DELETE FROM hero)":                      `"DELETE" is not a column`,
			"LOAD_EXTENSION('x') = 1":                          "the function LOAD_EXTENSION is not allowed",
			"level IN (SELECT i FROM other.n)":                 "other.n is in another database",
			"level IN (SELECT i FROM nobody)":                  `"nobody" is not a table of w0`,
			"1 = 1 OR tag IN (SELECT name FROM sqlite_master)": `"sqlite_master" is not a table of w0`,
		} {
			_, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, conditioned(condition, 0))
			if place := "leave hero in rules.toml:7: where: "; err == nil || !strings.Contains(err.Error(), place) || !strings.Contains(ofEither(err), want) {
				t.Errorf("%s: %v, want %q and %q", condition, err, place, want)
			}
		}
	})
}

// A condition that takes long ends with its time or with an interrupt, on its server too.
func TestSlowCondition(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2, append(worldtest.Leavers, "CREATE TABLE n (i INTEGER NOT NULL PRIMARY KEY)",
			"INSERT INTO n WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 400) SELECT i FROM c")...)
		const slow = "level < (SELECT COUNT(*) FROM n AS a JOIN n AS b ON a.i <> b.i JOIN n AS c ON c.i <> b.i JOIN n AS d ON d.i <> a.i WHERE a.i + b.i + c.i + d.i < hero.level)"
		opts, said := conditioned(slow, 1200*time.Millisecond), make(chan string, 9)
		opts.Check.Judging = func(source, condition string, took time.Duration) {
			said <- fmt.Sprintf("%s %v %v", source, condition == slow, took >= time.Second)
		}
		_, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, opts)
		if len(said) == 0 || !strings.HasSuffix(<-said, " true true") {
			t.Error("nothing said that the condition took long")
		}
		if want := "leave hero in rules.toml:7: where: w0 did not evaluate it, twice, within 1.2s: "; err == nil || !strings.Contains(ofEither(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if _, err := planner.NewPlan(ctx, e.Fresh(t, "new"), all, conditioned(slow, 0)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want that it was interrupted", err)
		}
		if e.Name == "sqlite" {
			return
		}
		for _, d := range all { // a killed statement ends a moment later
			servertest.AwaitRunning(t, strings.TrimPrefix(d.DSN, "mysql:"), "JOIN n AS d", false)
		}
	})
}
