package inventory

import (
	"cmp"
	"slices"

	"mergesafe/merge/catalog"
)

// schemas are the schemas of the worlds that were read so far.
type schemas struct {
	all []*schema
}

type schema struct {
	Schema
	outline *catalog.Outline // of one of its worlds: those of the others are the same
	first   int              // the place of its first world
}

// add adds the schema of the world at a place, if it is known.
func (s *schemas) add(at int, w *found) {
	if w.outline == nil {
		return
	}
	i := slices.IndexFunc(s.all, func(k *schema) bool { return k.Fingerprint == w.Schema })
	if i < 0 {
		i = len(s.all)
		s.all = append(s.all, &schema{Schema: Schema{Fingerprint: w.Schema, Engine: w.Engine}, outline: w.outline, first: at})
	}
	s.all[i].Worlds++
	s.all[i].first = min(s.all[i].first, at)
}

// compare tells how each schema differs from that of most worlds with its engine, of two as
// frequent ones that of the first world, and notes it in the worlds.
func (s *schemas) compare(worlds []World) (all []Schema) {
	slices.SortFunc(s.all, func(a, b *schema) int {
		return cmp.Or(cmp.Compare(b.Worlds, a.Worlds), cmp.Compare(a.first, b.first))
	})
	models := make(map[string]*catalog.Outline) // by engine
	drift := make(map[string][]string)          // by fingerprint
	for _, k := range s.all {
		if models[k.Engine] == nil {
			models[k.Engine] = k.outline
		}
		k.Drift = k.outline.Drift(models[k.Engine])
		drift[k.Fingerprint] = k.Drift
		all = append(all, k.Schema)
	}
	for i := range worlds {
		worlds[i].Drift = drift[worlds[i].Schema]
	}
	return all
}
