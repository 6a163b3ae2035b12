package prove_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

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

func merged(t *testing.T, e worldtest.Engine, opts planner.PlanOptions) (p *plan.Plan, into world.Database, worlds []world.Database) {
	t.Helper()
	worlds = []world.Database{worldtest.GameWorld(t, e, "s1", 1, 20, "anna"), worldtest.GameWorld(t, e, "s2", 2, 240, "bert"), worldtest.GameWorld(t, e, "s3", 3, 11, "carl")}
	p, into = worldtest.MergeOf(t, e, worlds, opts)
	return p, into, worlds
}

// Verify passes what was copied, and finds one value that is another, one row
// that is gone, and one of the target's own that was changed.
func TestVerify(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		p, into, worlds := merged(t, e, planner.PlanOptions{})
		proof := worldtest.Verified(t, p, into, worlds)
		if proof.Verdict != verdict.Pass || len(proof.Tables) != 4 {
			t.Fatalf("%+v", proof)
		}
		for _, c := range []struct {
			change, back     string
			table            string
			missing, changed int64
			others           bool
		}{
			{"UPDATE players SET account = 'acc-7x' WHERE name = 'bert70'", "UPDATE players SET account = 'acc-70' WHERE name = 'bert70'", "players", 0, 1, false},
			{"UPDATE players SET name = 'Bert70' WHERE name = 'bert70'", "UPDATE players SET name = 'bert70' WHERE name = 'Bert70'", "players", 0, 1, false},
			{"UPDATE players SET gold = gold + 1 WHERE name = 'anna3'", "UPDATE players SET gold = gold - 1 WHERE name = 'anna3'", "players", 0, 1, false},
			{"UPDATE players SET gold = gold + 1 WHERE name LIKE '%a%1' OR name LIKE '%b%1'", "UPDATE players SET gold = gold - 1 WHERE name LIKE '%a%1' OR name LIKE '%b%1'", "players", 0, 27, false},
			{"DELETE FROM guild_members", "", "guild_members", 27, 0, false},
		} {
			worldtest.Exec(t, into, c.change)
			proof := worldtest.Verified(t, p, into, worlds)
			if proof.Verdict != verdict.Fail {
				t.Errorf("%s: %s", c.change, proof.Verdict)
			}
			for _, table := range proof.Tables {
				if table.Table != c.table {
					if table.Verdict != verdict.Pass {
						t.Errorf("%s: %+v", c.change, table)
					}
					continue
				}
				if table.Missing != c.missing || table.Changed != c.changed || table.Others != c.others || len(table.Samples) != int(min(world.MaxSamples, c.missing+c.changed)) {
					t.Errorf("%s: %+v", c.change, table)
				}
			}
			if c.back != "" {
				worldtest.Exec(t, into, c.back)
			}
		}
	})
}

// A verify that is interrupted gives no verdict, but the tables that it read, in the worlds and in the new database.
func TestVerifyResult(t *testing.T) {
	e := worldtest.OnSQLite(t)
	p, into, worlds := merged(t, e, planner.PlanOptions{})
	worldtest.Exec(t, into, "UPDATE guilds SET name = UPPER(name)")
	ctx, cancel := context.WithCancel(t.Context())
	proof, err := prove.Verify(ctx, p, into, worlds, job.Options{Parallel: 1, Progress: func(now job.Progress) {
		if now.Step == record.StepResult && now.Table == "items" { // after those of guilds
			cancel()
		}
	}})
	if !errors.Is(err, record.ErrStopped) || proof == nil || proof.Verdict != "" || len(proof.Tables) < 2 || len(proof.Tables) == len(p.Tables) {
		t.Fatalf("%+v, %v", proof, err)
	}
	for _, table := range proof.Tables {
		if want := (table.Table == "guilds"); want != (table.Verdict == verdict.Fail) || table.Rows != table.Want {
			t.Errorf("%+v", table)
		}
	}
}

// A source that was written to after it was copied is named.
func TestVerifyLateWrite(t *testing.T) {
	e := worldtest.OnSQLite(t)
	p, into, worlds := merged(t, e, planner.PlanOptions{})
	worldtest.Exec(t, worlds[1], "UPDATE items SET count = count + 1 WHERE template = 2")
	proof, err := prove.Verify(t.Context(), p, into, worlds, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if table := proof.Tables[index(p, "items")]; proof.Verdict != verdict.Fail || fmt.Sprint(table.Worlds) != "[s2]" || table.Changed != 240 || table.Others {
		t.Errorf("%+v", table)
	}
}

// The check of the result is about the target alone, and says what the findings
// say.
func TestVerifyCheck(t *testing.T) {
	e := worldtest.OnSQLite(t)
	p, into, worlds := merged(t, e, planner.PlanOptions{Check: rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"guild*"}, Policy: rules.PolicySkip}}}})
	check := worldtest.Verified(t, p, into, worlds).Check
	if check.Verdict != verdict.Pass || len(check.Worlds) != 1 || check.Worlds[0].Name != into.Name || len(check.Results) == 0 {
		t.Fatalf("%s of %d sources, %d results", check.Verdict, len(check.Worlds), len(check.Results))
	}
	worldtest.Exec(t, into, "UPDATE gameid_servers SET reserved_ms = 0")
	proof := worldtest.Verified(t, p, into, worlds)
	if proof.Verdict != verdict.Fail || proof.Check.Verdict != verdict.Fail || len(proof.Findings) == 0 || proof.Tables[0].Verdict != verdict.Pass {
		t.Fatalf("%+v", proof)
	}
	for _, r := range proof.Check.Results {
		if index(p, r.Table) < 0 && r.Table != "" && r.Verdict != verdict.Pass {
			t.Errorf("of table %q, which was left out: %+v", r.Table, r)
		}
		if (r.Verdict == verdict.Fail) != (len(r.Samples) > 0) {
			t.Errorf("%s of %s: %d samples", r.Verdict, r.Code, len(r.Samples))
		}
	}
}

func index(p *plan.Plan, table string) int {
	for i := range p.Tables {
		if p.Tables[i].Name == table {
			return i
		}
	}
	return -1
}
