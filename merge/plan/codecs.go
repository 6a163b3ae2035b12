package plan

import (
	"fmt"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// Codecs returns the formats of the plan that are codecs of the game's own, each once:
// [build.Apply], [prove.Verify] and [build.Undo] need them in [job.Options.Codecs].
func (p *Plan) Codecs() []string {
	all := CodecsOf(p.Check.Rules)
	if p.Rekey != nil {
		for _, column := range p.Rekey.Columns {
			for _, c := range column.Cases {
				all = world.WithCodec(all, c.Format)
			}
		}
	}
	return all
}

// CodecsOf returns the formats of rules that are codecs of the game's own, each once.
func CodecsOf(rules []rules.Declarations) (all []string) {
	for _, file := range rules {
		for _, r := range file.References {
			all = world.WithCodec(all, r.Format)
		}
	}
	return all
}

// Needs returns an error unless all codecs of the plan are there.
func (p *Plan) Needs(codecs keys.Codecs) error {
	for _, format := range p.Codecs() {
		if codecs[format] == nil {
			return fmt.Errorf("merge: the plan cannot be carried out: %w", &keys.NoCodecError{Format: format})
		}
	}
	return nil
}
