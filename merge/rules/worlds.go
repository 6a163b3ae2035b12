package rules

import (
	"fmt"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// WorldKey says how to compute the server of its world from an integer key, so that
// future keys cannot collide either.
type WorldKey struct {
	At    string `json:"at"`    // columns, as in Declarations
	Value string `json:"value"` // as [keys.ParseExpression] reads it

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// WorldColumn is a WorldKey as it is in the databases.
type WorldColumn struct {
	ColumnName
	World *keys.Expression
}

// worldColumns resolves the declarations.
func worldColumns(opts Options, n Names) (all []WorldColumn, err error) {
	for i, w := range opts.Worlds {
		e, err := keys.ParseExpression(w.Value)
		if err == nil {
			err = n.each(w.At, func(at ColumnName, exact bool) error {
				if col := n[at.Table][at.Column]; exact && col.Kind != catalog.KindInteger {
					return fmt.Errorf("%s is %s: want an integer", at, col.Declared())
				}
				all = append(all, WorldColumn{at, e})
				return nil
			})
		}
		if err != nil {
			return nil, Unsuitable("world %d%s: %v", i+1, in(w.File, w.Line), err)
		}
	}
	return all, nil
}
