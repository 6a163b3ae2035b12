package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
)

// versionText is what -version prints, and what names the program in a report: its name,
// the version and path of its module, the commit that it was built from, and Go's version.
func versionText(name string, info *debug.BuildInfo) string {
	if info == nil { // built by something else than the go command
		return name + " of an unknown version"
	}
	facts := []string{cmp.Or(info.Main.Path, info.Path)}
	var commit string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = "commit " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			commit += " with changes"
		}
	}
	if commit != "" {
		facts = append(facts, strings.TrimSpace(commit))
	}
	return fmt.Sprintf("%s %s (%s)", name, cmp.Or(info.Main.Version, "(devel)"), strings.Join(append(facts, info.GoVersion), ", "))
}
