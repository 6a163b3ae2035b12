package main

import (
	"context"
	"testing"

	cliv3 "github.com/urfave/cli/v3"
)

// undo takes merges or -all, and so does the command to paste.
func TestCommandOfAll(t *testing.T) {
	var about, whole string
	undo := &cliv3.Command{Name: "undo", Flags: []cliv3.Flag{&cliv3.BoolFlag{Name: "all"}, &cliv3.BoolFlag{Name: "yes"}}, Action: func(_ context.Context, cmd *cliv3.Command) error {
		about, whole = commandOf(cmd, "undo", "night.toml", "w 1"), commandOf(cmd, "undo", "night.toml")
		return nil
	}}
	root := &cliv3.Command{Name: "fleet", Commands: []*cliv3.Command{undo}}
	if err := root.Run(t.Context(), []string{"fleet", "undo", "--all", "--yes", "night.toml"}); err != nil {
		t.Fatal(err)
	}
	if want := "fleet undo -yes night.toml 'w 1'"; about != want {
		t.Errorf("got %s, want %s", about, want)
	}
	if want := "fleet undo -all -yes night.toml"; whole != want {
		t.Errorf("got %s, want %s", whole, want)
	}
}
