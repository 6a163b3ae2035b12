package plan

import (
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/verdict"
)

// ColumnAt is a column of a table.
type ColumnAt struct{ Table, Column string }

// Match is one row of the table.
type Match struct {
	Path, Source, Table, Column, Space string
	Old, Image, Here                   keys.Integer
}

// WithoutMatches are the new keys of a plan without those that are matched.
func WithoutMatches(r *verdict.Rekeying) *verdict.Rekeying {
	if r == nil {
		return nil
	}
	small := *r
	small.Spaces = slices.Clone(r.Spaces)
	for i := range small.Spaces {
		s := &small.Spaces[i]
		s.Worlds = slices.Clone(s.Worlds)
		for k := range s.Worlds {
			s.Worlds[k].Matched = nil
		}
	}
	return &small
}

// MatchColumns are the key columns of a space; that without keys here has one without a table.
func (p *Plan) MatchColumns(space string) (all []ColumnAt) {
	for _, c := range p.Rekey.Columns {
		if c.Key && c.Cases[0].Space == space {
			all = append(all, ColumnAt{c.Table, c.Column})
		}
	}
	if len(all) == 0 {
		all = append(all, ColumnAt{"", space})
	}
	return all
}

// FirstDifference names a key that is matched in another way.
func FirstDifference(want, have *keys.Pairs) string {
	say := func(p *keys.Pairs, old keys.Integer) string {
		if image, ok := p.Image(old); ok {
			return "with " + image.String()
		}
		return "with none"
	}
	for _, p := range []*keys.Pairs{want, have} {
		for old := range p.All() {
			if a, b := say(want, old), say(have, old); a != b {
				return fmt.Sprintf("key %s %s, want %s", old, b, a)
			}
		}
	}
	return "none"
}
