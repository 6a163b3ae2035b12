package cli

import (
	"runtime/debug"
	"testing"
)

func TestProgram(t *testing.T) {
	vcs := func(settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "example.org/m", Version: "v1.2.3"}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	for want, info := range map[string]*debug.BuildInfo{
		"prog of an unknown version":                                              nil,
		"prog v1.2.3 (example.org/m, go1.26.0)":                                   vcs(),
		"prog v1.2.3 (example.org/m, commit 0123456789ab, go1.26.0)":              vcs(revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}),
		"prog v1.2.3 (example.org/m, commit 0123456789ab with changes, go1.26.0)": vcs(revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
		"prog (devel) (example.org/m, go1.26.0)":                                  {GoVersion: "go1.26.0", Main: debug.Module{Path: "example.org/m"}},
	} {
		if got := versionText("prog", info); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
