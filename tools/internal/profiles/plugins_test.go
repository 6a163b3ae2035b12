package profiles

import (
	"path/filepath"
	"strings"
	"testing"
)

// The short profiles of games that are made of plugins, whose SQL nobody reads here, name columns of their own lists alone, and
// say where these were read.
func TestPlugins(t *testing.T) {
	for _, name := range []string{"coreprotect", "esx", "metin2", "minecraft"} {
		p, err := load(filepath.Join("../../../profiles", name+".toml"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(p.schema) == 0 || !strings.Contains(p.source, ", commit ") {
			t.Errorf("%s has %d tables, read in %q", name, len(p.schema), p.source)
		}
		for table, columns := range p.schema {
			for _, c := range columns {
				if kind, _ := p.of(column{Table: table, Name: c}); kind == "" || kind == "open" {
					t.Errorf("%s: %s.%s is %q", name, table, c, kind)
				}
			}
		}
	}
}
