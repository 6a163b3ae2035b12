package world

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// Fingerprints are short texts, one of each object with all that is part of it, and one of the database as a whole.
// Each changes with what [Schema.Differences] compares.
func (s *Schema) Fingerprints() map[string]string {
	all := map[string]string{"the database": s.Engine + " " + s.Options}
	for i := range s.Objects {
		o := &s.Objects[i]
		whole := o
		if o.Table != "" && o.Kind != Trigger {
			whole = &Object{Kind: Table, Name: o.Table}
		}
		all[whole.String()] += fmt.Sprintf("%q\n",
			[]string{string(o.Kind), o.Name, o.SQL, o.Settings, o.Collation, o.Place, o.State})
	}
	for what, text := range all {
		sum := sha256.Sum256([]byte(text))
		all[what] = fmt.Sprintf("%x", sum[:8])
	}
	return all
}

// Altered names what was made, altered or dropped since these fingerprints were taken.
func (s *Schema) Altered(since map[string]string) (what []string) {
	all := s.Fingerprints()
	for name, text := range all {
		if since[name] != text {
			what = append(what, name)
		}
	}
	for name := range since {
		if _, there := all[name]; !there {
			what = append(what, name)
		}
	}
	slices.Sort(what)
	return what
}
