package estimate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
	"mergesafe/merge"
)

// TestRecord carries out merges and writes down when what was done, for TestReplay. It runs with RECORD_RUNS, the folder
// for the logs; RECORD_ROWS, how many rows a world has (100,000; the logs kept are of 2,000,000, and those that end with
// -short of 350,000); and RECORD_AS, the beginning of their names. For MariaDB or MySQL:
//
//	RECORD_RUNS=$PWD/merge/estimate/testdata RECORD_AS=mariadb go run ./internal/servertest/with-server mariadb -- \
//		go test ./merge/estimate -run TestRecord -timeout 1h
func TestRecord(t *testing.T) {
	folder, as := os.Getenv("RECORD_RUNS"), os.Getenv("RECORD_AS")
	if folder == "" {
		t.Skip("it makes the logs: set RECORD_RUNS")
	}
	rows := 100_000
	if n, err := strconv.Atoi(os.Getenv("RECORD_ROWS")); err == nil {
		rows = n
	}
	fresh := func() merge.Database {
		if as == "sqlite" {
			return merge.Database{DSN: "sqlite:" + filepath.Join(t.TempDir(), "w.db")}
		}
		return merge.Database{DSN: "mysql:" + servertest.DSN(t)}
	}
	for _, variant := range []struct {
		name  string
		pause time.Duration
		busy  bool
		kill  bool
	}{
		{name: "into"},
		{name: "paused", pause: 30 * time.Millisecond},
		{name: "loaded", busy: true},
		{name: "resumed", kill: true},
		{name: "resting", pause: -1}, // as by -max-load: for 3 seconds of 10
	} {
		t.Run(variant.name, func(t *testing.T) {
			worlds := []merge.Database{fresh(), fresh()}
			for i := range worlds {
				worlds[i].Name = fmt.Sprintf("w%d", i+1)
				fillWorld(t, worlds[i].DSN, rows, i)
			}
			into := fresh()
			into.Name = "new"
			plan, err := merge.NewPlan(t.Context(), into, worlds, merge.PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range plan.Refusals {
				t.Fatal(r)
			}
			l := &runLog{pause: max(variant.pause, 0).Seconds(), kill: map[bool]int64{true: plan.Rows() / 3}[variant.kill]}
			work := merge.Options{Progress: l.report}
			if variant.pause != 0 {
				work.Pause = func(ctx context.Context) error {
					l.pauses++
					began := time.Now()
					time.Sleep(variant.pause)
					for variant.pause < 0 && time.Now().Unix()%10 < 3 {
						time.Sleep(100 * time.Millisecond)
					}
					l.rested += time.Since(began).Seconds()
					return nil
				}
			}
			if variant.busy {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				for range 2 { // other processes, for 8 seconds of 12
					go func() {
						for ctx.Err() == nil {
							burst, end := context.WithTimeout(ctx, 8*time.Second)
							_ = exec.CommandContext(burst, "sh", "-c", "while :; do :; done").Run() // it is killed
							end()
							time.Sleep(4 * time.Second)
						}
					}()
				}
			}
			if variant.kill {
				ctx, cancel := context.WithCancel(t.Context())
				l.cancel = cancel
				l.begin("killed", plan)
				if _, err := merge.Apply(ctx, plan, into, worlds, work); !errors.Is(err, merge.ErrStopped) {
					t.Fatal(err)
				}
				l.lines, l.kill = nil, 0
			}
			l.begin("apply", plan)
			if _, err := merge.Apply(t.Context(), plan, into, worlds, work); err != nil {
				t.Fatal(err)
			}
			l.begin("verify", plan)
			proof, err := merge.Verify(t.Context(), plan, into, worlds, work)
			if err != nil {
				t.Fatal(err)
			}
			l.add(recorded{Begin: "end"})
			t.Logf("%s: %s, %d lines, %.1f s", as, proof.Verdict, len(l.lines), l.lines[len(l.lines)-1].At)
			var b strings.Builder
			for _, line := range l.lines {
				text, err := json.Marshal(line)
				if err != nil {
					t.Fatal(err)
				}
				b.Write(append(text, '\n'))
			}
			name := filepath.Join(folder, as+"-"+variant.name+".jsonl")
			if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// recorded is a line of a log: a command that begins, or how far it is.
type recorded struct {
	At     float64 `json:"t"` // seconds
	Begin  string  `json:"begin,omitempty"`
	Engine string  `json:"engine,omitempty"`
	Moved  int64   `json:"moved,omitempty"` // rows that come

	Step   string `json:"s,omitempty"`
	Rows   int64  `json:"n,omitempty"`
	Total  int64  `json:"of,omitempty"`
	Before int64  `json:"b,omitempty"`

	Rested float64 `json:"r,omitempty"`     // seconds so far, in
	Pauses int     `json:"p,omitempty"`     // so many rests
	Pause  float64 `json:"pause,omitempty"` // seconds before each batch, in the first line
}

type runLog struct {
	began  time.Time
	lines  []recorded
	last   map[string]float64 // by step
	rested float64
	pauses int
	pause  float64
	kill   int64 // after so many rows; 0: never
	cancel func()
}

func (l *runLog) add(r recorded) {
	r.Rested, r.Pauses = float64(int64(l.rested*1000))/1000, l.pauses
	r.At = float64(time.Since(l.began).Milliseconds()) / 1000
	l.lines = append(l.lines, r)
}

func (l *runLog) begin(command string, p *merge.Plan) {
	if len(l.lines) == 0 {
		l.began = time.Now()
	}
	l.last = make(map[string]float64)
	l.add(recorded{Begin: command, Pause: l.pause, Engine: p.Engine, Moved: p.Rows()})
}

// report keeps a line a step every 200 ms.
func (l *runLog) report(p merge.Progress) {
	at := time.Since(l.began).Seconds()
	if last, ok := l.last[p.Step]; ok && at-last < 0.2 && p.Rows < p.Total {
		return
	}
	l.last[p.Step] = at
	l.add(recorded{Step: p.Step, Rows: p.Rows, Total: p.Total, Before: p.Before})
	if l.kill > 0 && p.Step == merge.StepCopy && p.Rows > l.kill {
		l.cancel()
	}
}

// fillWorld makes a world of a game with keys that another one has not.
func fillWorld(t *testing.T, dsn string, rows, world int) {
	t.Helper()
	kind, rest, _ := strings.Cut(dsn, ":")
	text, sum := "CONCAT('p', n)", "REPEAT(SHA2(n, 256), 2)"
	count := "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < %d) SELECT"
	if kind == "sqlite" {
		text, sum = "'p' || n", "hex(randomblob(48))"
	}
	db, err := sql.Open(kind, rest)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	from := world * 100_000_000
	statements := []string{
		"CREATE TABLE players (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, level VARCHAR(8) NOT NULL)",
		"CREATE UNIQUE INDEX players_name ON players (name)",
		"CREATE TABLE items (id BIGINT NOT NULL PRIMARY KEY, owner BIGINT NOT NULL, kind VARCHAR(8) NOT NULL, notes VARCHAR(200) NOT NULL, FOREIGN KEY (owner) REFERENCES players (id))",
		"CREATE INDEX items_owner ON items (owner, kind)",
		"CREATE TABLE mail (id BIGINT NOT NULL PRIMARY KEY, receiver BIGINT NOT NULL, body VARCHAR(400) NOT NULL, FOREIGN KEY (receiver) REFERENCES players (id))",
		"CREATE INDEX mail_receiver ON mail (receiver)",
		fmt.Sprintf("INSERT INTO players "+count+" %d + n, %s, 'l' FROM c", rows/10, from, strings.Replace(text, "'p'", fmt.Sprintf("'w%dp'", world), 1)),
		fmt.Sprintf("INSERT INTO items "+count+" %d + n, %d + 1 + n %% %d, 'k', %s FROM c", rows*6/10, from, from, rows/10, sum),
		fmt.Sprintf("INSERT INTO mail "+count+" %d + n, %d + 1 + n %% %d, %s FROM c", rows*3/10, from, from, rows/10, sum),
	}
	if kind == "mysql" {
		statements = append([]string{"SET SESSION sql_mode = ''"}, statements...)
		var version string
		if err := db.QueryRow("SELECT VERSION()").Scan(&version); err != nil {
			t.Fatal(err)
		}
		depth := "cte_max_recursion_depth"
		if strings.Contains(version, "MariaDB") {
			depth = "max_recursive_iterations"
		}
		statements = append([]string{"SET SESSION " + depth + " = 100000000"}, statements...)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%.90s: %v", s, err)
		}
	}
}
