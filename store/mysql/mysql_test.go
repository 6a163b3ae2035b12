package mysql_test

import (
	"strings"
	"testing"

	"mergesafe/store"
	_ "mergesafe/store/mysql"
)

// A program that links one driver is told what to import for another one; no DSN is shown in full.
func TestOtherDriver(t *testing.T) {
	_, err := store.Open(t.Context(), "sqlite:game.db")
	if want := `add import _ "mergesafe/store/sqlite"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err = store.Wrap(t.Context(), nil, store.SQLite); err == nil {
		t.Error("a pool of a dialect that is not linked was wrapped")
	}
	if shown := store.Redact("sqlite:some:where"); shown != "sqlite:***" {
		t.Errorf("shown as %s", shown)
	}
}
