package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestHints(t *testing.T) {
	_, missing := os.Open("missing.toml")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("write r.html: %w", syscall.ENOSPC), "The disk is full."},
		{errors.New("items: database or disk is full (13)"), "The disk is full."},
		{errors.New(`Error 3: Error writing file '/tmp/MYfd=53' (Errcode: 28 "No space left on device")`), "The disk is full."},
		{errors.New("Error 1021 (HY000): Disk full (/tmp/x); waiting for someone to free some space..."), "The disk is full."},
		{&os.PathError{Op: "open", Path: "r.html", Err: syscall.EACCES}, "This account has no right"},
		{fmt.Errorf("rules: %w", missing), "Check the name of missing.toml, and the folder: you are in /"},
		{errors.New("table items is full of surprises"), ""},
	} {
		if got := hintOf(tt.err); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
}
