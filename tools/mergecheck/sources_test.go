package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNameDSNs(t *testing.T) {
	args := []string{
		"s1",
		"sqlite:data/s2.db",
		"mysql:u:s3cret@tcp(db1:3306)/game_s3",
		"mysql:u:s3cret@tcp(db1)/game",
		"mysql:u:s3cret@tcp(db2:3307)/game",
		"mysql:u:s3cret@unix(/run/m.sock)/x",
		"mysql:u:s3cret@wrong",
		"postgres://u:s3cret@db/game",
		"sqlite:s1",
	}
	want := []string{"s1", "data/s2.db", "game_s3", "db1:3306/game", "db2:3307/game", "x", "mysql:***", "***", "sqlite:s1"}
	var places []place
	for _, arg := range args {
		places = append(places, place{arg: arg, name: arg})
	}
	nameDSNs(places)
	var got []string
	for _, p := range places {
		got = append(got, p.name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFindTarget(t *testing.T) {
	places := []place{{arg: "s1", name: "s1"}, {arg: "sqlite:data/s2.db", name: "data/s2.db"}}
	for target, want := range map[string]string{"": "", "s1": "s1", "data/s2.db": "data/s2.db", "sqlite:data/s2.db": "data/s2.db"} {
		if got, err := findTarget(target, places); got != want || err != nil {
			t.Errorf("%q: got %q, %v", target, got, err)
		}
	}
	if _, err := findTarget("s2", places); err == nil {
		t.Error("a target that is not there was found")
	}
}
