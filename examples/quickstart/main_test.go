package main

import (
	"os"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// What the page shows is what compiles and runs here.
func TestPage(t *testing.T) {
	readme, err := os.ReadFile("../../docs/new-games.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program, found := strings.Cut(string(source), "package main\n")
	if !found || !strings.Contains(string(readme), "```go\npackage main\n"+program+"```") {
		t.Error("the example in docs/new-games.md is not main.go: copy it over")
	}
}

func TestRun(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { runTwice(t, "sqlite:"+t.TempDir()+"/quickstart.db") })
	t.Run("postgres", func(t *testing.T) { runTwice(t, servertest.PostgresDSN(t)) })
}

func runTwice(t *testing.T, dsn string) {
	for range 2 { // the second time the hero is there already
		if err := run(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.OpenReadOnly(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	hero, err := starter.Players.ByName(t.Context(), db, "ARIA")
	if err != nil {
		t.Fatal(err)
	}
	items, err := starter.Items.Count(t.Context(), db, "TRUE")
	if err != nil || items != 3 || hero.ID.Server() != 7 {
		t.Errorf("%d items of %+v, %v", items, hero, err)
	}
}
