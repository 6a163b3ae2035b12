package pools

import (
	"errors"
	"testing"

	"mergesafe/store"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/sqlite"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v is not: %v", err, want)
	}
}

func duplicate(err error) (*store.DuplicateError, bool) {
	return errors.AsType[*store.DuplicateError](err)
}
