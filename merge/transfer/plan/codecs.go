package plan

import (
	"fmt"

	"mergesafe/merge/cell"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/rowio"
)

// Codecs returns the formats of the plan that are codecs of the game's own, each once:
// [apply.Apply], [prove.Verify] and [undo.Undo] need them in [job.Options.Codecs].
func (p *Plan) Codecs() []string {
	all := CodecsOf(p.Check.Rules)
	if p.Rekey != nil {
		for _, column := range p.Rekey.Columns {
			for _, c := range column.Cases {
				all = rowio.WithCodec(all, c.Format)
			}
		}
	}
	return all
}

// CodecsOf returns the formats of rules that are codecs of the game's own, each once.
func CodecsOf(rules []declare.Declarations) (all []string) {
	for _, file := range rules {
		for _, r := range file.References {
			all = rowio.WithCodec(all, r.Format)
		}
	}
	return all
}

// Needs returns an error unless all codecs of the plan are there.
func (p *Plan) Needs(codecs cell.Codecs) error {
	for _, format := range p.Codecs() {
		if codecs[format] == nil {
			return fmt.Errorf("transfer: the plan cannot be carried out: %w", &cell.NoCodecError{Format: format})
		}
	}
	return nil
}
