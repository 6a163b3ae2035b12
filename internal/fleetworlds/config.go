package fleetworlds

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed rules.toml
var rules string

// config is the text of config.toml.
func (f *Fleet) config() string {
	var b strings.Builder
	b.WriteString("# A fleet of made-up worlds, to try the tools on. It is written by make-fleet.\n\n" + rules)
	for _, w := range f.Worlds {
		fmt.Fprintf(&b, "\n[[source]]\nname   = %q\ndsn    = %q\nlabels = { language = %q, zone = %q }\n", w.Name, w.DSN, w.Language, w.Zone)
	}
	return b.String()
}
