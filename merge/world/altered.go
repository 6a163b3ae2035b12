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
		all[o.whole().String()] += fmt.Sprintf("%q\n",
			[]string{string(o.Kind), o.Name, s.text(o), o.Settings, o.Collation, o.Place, o.State})
	}
	for what, text := range all {
		sum := sha256.Sum256([]byte(text))
		all[what] = fmt.Sprintf("%x", sum[:8])
	}
	return all
}

// Keep leaves the objects that have one of these fingerprints, the same or another.
func (s *Schema) Keep(since map[string]string) {
	s.Objects = slices.DeleteFunc(s.Objects, func(o Object) bool {
		_, is := since[o.whole().String()]
		return !is
	})
	s.index = nil // it points into what was moved
}

// whole is the object that it is a part of, or itself.
func (o *Object) whole() *Object {
	if o.Table != "" && o.Kind != Trigger {
		return &Object{Kind: Table, Name: o.Table}
	}
	return o
}

// Altered says what was added, altered or dropped since these fingerprints were taken: "view names was added".
func (s *Schema) Altered(since map[string]string) (what []string) {
	all := s.Fingerprints()
	for name, text := range all {
		if was, there := since[name]; !there {
			what = append(what, name+" was added")
		} else if was != text {
			what = append(what, name+" was altered")
		}
	}
	for name := range since {
		if _, there := all[name]; !there {
			what = append(what, name+" was dropped")
		}
	}
	slices.Sort(what)
	return what
}

// Lost names what others made or altered in a database, which is "here", that was made like s, and that would go with
// what [Schema.Drop] drops: of a table of s its columns, indexes, triggers and the like, and objects of s. What they
// dropped, the states of events and the settings of the database are not lost, nor is what the account cannot read.
func (s *Schema) Lost(made *Schema) []string {
	return s.differences(made, func(o *Object) bool {
		here := made.find(o)
		return here != nil && here.SQL != "" && (s.find(o) != nil || s.Has(Table, o.Table))
	})
}
