package change_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/pprof"
	"slices"
	"syscall"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

var leaveRows = flag.Int("leave-rows", 0, "how many rows each of two worlds has of which the plan is timed, with and without conditions; 0: not")

var leaveOther = flag.Bool("leave-other-keys", false, "with -leave-rows: items have a key of two columns, and a third of them stay behind by a condition")

var leaveRounds = flag.Int("leave-rounds", 3, "how often each plan of -leave-rows is timed, in turn")

// A plan with conditions takes not much more processor time than one without, and memory does not grow with the rows.
func TestLeaveSpeed(t *testing.T) {
	if *leaveRows == 0 {
		t.Skip("no -leave-rows")
	}
	e := worldtest.Engines()[0]
	if os.Getenv(servertest.EnvMariaDB) != "" {
		e = worldtest.Engines()[1]
	}
	n := *leaveRows / 10 // heroes
	var all []world.Database
	for w := range 2 {
		d := e.Fresh(t, fmt.Sprint("w", w))
		numbers := fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", n*10)
		fill := func(table, columns string, rows int) string {
			return "INSERT INTO " + table + " " + numbers + "SELECT " + columns + fmt.Sprintf(" FROM n WHERE i <= %d", rows)
		}
		if e.Name != "sqlite" {
			worldtest.Exec(t, d, "SET SESSION max_recursive_iterations = 100000000")
		}
		worldtest.Exec(t, d,
			"CREATE TABLE hero (guid INTEGER NOT NULL PRIMARY KEY, account INTEGER NOT NULL, level INTEGER NOT NULL, name VARCHAR(40) NOT NULL)",
			"CREATE TABLE item (id INTEGER NOT NULL, owner INTEGER NOT NULL, kind INTEGER NOT NULL, text VARCHAR(60) NOT NULL, PRIMARY KEY ("+map[bool]string{true: "kind, id", false: "id"}[*leaveOther]+"))",
			"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, sender INTEGER NOT NULL, receiver INTEGER NOT NULL, text VARCHAR(60) NOT NULL)",
			"CREATE TABLE spell (guid INTEGER NOT NULL, spell INTEGER NOT NULL, PRIMARY KEY (guid, spell))",
			fill("hero", "i, i * 7919 % 60000, i * 104729 % 100, 'somebody of this world'", n),
			fill("item", fmt.Sprintf("i, 1 + i * 7907 %% %d, i %% 900, 'forged by a smith of the northern isles'", n), 5*n),
			fill("mail", fmt.Sprintf("i, 1 + i * 7901 %% %d, 1 + i * 5 %% %[1]d, 'hello, how are you, where is my money'", n), 2*n),
			fill("spell", fmt.Sprintf("1 + i %% %d, i / %[1]d", n), 2*n-n/100))
		all = append(all, d)
	}
	plan := func(with bool) (*plan.Plan, time.Duration, time.Duration) {
		o := rules.Options{Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"hero.guid"}}, {Keys: []string{"item.id"}}, {Keys: []string{"mail.id"}}}}}
		o.Rules = []rules.Declarations{{Plain: []string{"*.text", "hero.level", "hero.name", "item.kind"}, Shared: []string{"spell.spell", "hero.account"},
			References: []rules.DeclaredReference{{At: []string{"item.owner", "mail.sender", "mail.receiver", "spell.guid"}, To: []string{"hero.guid"}, Gone: rules.GoneDrop}}}}
		if with {
			o.Leave = []rules.Leave{{Table: "hero", Where: "level < 22", Best: &rules.Best{Of: "account", Keep: 4, By: []string{"level desc"}}}}
			if *leaveOther {
				o.Leave = append(o.Leave, rules.Leave{Table: "item", Where: "kind < 300"})
			}
		}
		begin, started := cpu(t), time.Now()
		var p *plan.Plan
		var err error
		pprof.Do(t.Context(), pprof.Labels("with", fmt.Sprint(with)), func(ctx context.Context) {
			p, err = planner.NewPlan(ctx, e.Fresh(t, "new"), all, planner.PlanOptions{Check: o})
		})
		if err != nil || len(p.Refusals) > 0 {
			t.Fatal(err, p.Refusals)
		}
		return p, cpu(t) - begin, time.Since(started)
	}
	var used, took [2][]float64 // without conditions and with them
	for round := range *leaveRounds {
		for i, with := range []bool{false, true} {
			p, c, w := plan(with)
			used[i], took[i] = append(used[i], c.Seconds()), append(took[i], w.Seconds())
			if round == 0 {
				status, _ := os.ReadFile("/proc/self/status")
				t.Logf("%s, conditions %v: %d rows come, %s", e.Name, with, p.Rows(), regexp.MustCompile(`VmHWM:.*`).Find(status))
			}
		}
	}
	for _, c := range []struct {
		what string
		of   [2][]float64
	}{{"of the processor", used}, {"of time", took}} {
		slices.Sort(c.of[0])
		slices.Sort(c.of[1])
		middle := len(c.of[0]) / 2
		t.Logf("seconds %s: without %.1f, with %.1f: middle %.2f, least %.2f times as much", c.what, c.of[0], c.of[1],
			c.of[1][middle]/c.of[0][middle], c.of[1][0]/c.of[0][0])
	}
}

// cpu is the processor time of this process; a server has its own.
func cpu(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
