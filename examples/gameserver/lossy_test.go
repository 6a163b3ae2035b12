package main

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
)

// A database that may lose confirmed changes is refused in one line that tells
// the way out. Where it was accepted, the server says so in /healthz and once in
// the log.
func TestLossyDatabase(t *testing.T) {
	t.Parallel()
	database := servertest.Private(t, "--innodb-flush-log-at-trx-commit=2", "--log-bin=bin", "--server-id=1", "--sync-binlog=0")
	dsn, err := database.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fleetDSN := sqliteDSN(t)
	shared, err := fleet.Open(fleetDSN)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	if err := shared.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.Claim(t.Context(), "s7", 7, fleet.Note{By: "test"}); err != nil {
		t.Fatal(err)
	}
	const variable, mend = "innodb_flush_log_at_trx_commit is 2", "SET GLOBAL innodb_flush_log_at_trx_commit = 1"
	config := func(database, more string) string {
		path := writeConfig(t, 7, "mysql:"+dsn)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), "[database]\n", "[database]\n"+database, 1) + more
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	registry := "\n[registry]\ndsn = \"" + fleetDSN + "\"\n"
	const accept = "accept_lossy_database = true\n"
	for _, refused := range []struct{ path, text string }{
		{config("", ""), accept[:len(accept)-1]},
		{config("", registry), accept[:len(accept)-1]},
		{config(accept, ""), "It would hand out the same numbers again"},
	} {
		p := launch(t, nil, "-config", refused.path)
		code, log := p.wait(t), p.log()
		lines := strings.Split(strings.TrimSpace(log), "\n")
		last := lines[len(lines)-1]
		if code != exitNotStarted || !strings.Contains(last, variable) || !strings.Contains(last, mend) || !strings.Contains(last, refused.text) {
			t.Errorf("exit code %d, want %d and %q:\n%s", code, exitNotStarted, refused.text, log)
		}
	}

	p := serving(t, nil, "-config", config(accept, registry))
	if err := playOne(p.client, "Aria", 50); err != nil {
		t.Error(err)
	}
	var health struct {
		Status          string   `json:"status"`
		DatabaseMayLose []string `json:"database_may_lose"`
	}
	p.ask("GET", "/healthz", nil, &health)
	all := strings.Join(health.DatabaseMayLose, "\n")
	if health.Status != "ok" || len(health.DatabaseMayLose) != 2 || !strings.Contains(all, variable) || !strings.Contains(all, mend) || !strings.Contains(all, "sync_binlog is 0") {
		t.Errorf("/healthz: %+v", health)
	}
	p.terminate(t)
	if log := p.log(); strings.Count(log, "may lose confirmed changes") != 2 || !strings.Contains(log, "variable=innodb_flush_log_at_trx_commit value=2") {
		t.Errorf("the log:\n%s", log)
	}

	// Mended.
	pool, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, statement := range []string{mend, "SET GLOBAL sync_binlog = 1"} {
		if _, err := pool.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	p = serving(t, nil, "-config", config("", registry))
	var well map[string]string
	p.ask("GET", "/healthz", nil, &well)
	p.terminate(t)
	if strings.Contains(p.log(), "may lose") {
		t.Errorf("the log of a server that was mended:\n%s", p.log())
	}
}
