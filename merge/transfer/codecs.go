package transfer

import (
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge"
	"mergesafe/merge/cell"
)

// Codecs returns the formats of the plan that are codecs of the game's own, each once:
// [Apply], [Verify] and [Undo] need them in [Options.Codecs].
func (p *Plan) Codecs() []string {
	all := CodecsOf(p.Check.Rules)
	if p.Rekey != nil {
		for _, column := range p.Rekey.Columns {
			for _, c := range column.Cases {
				all = withCodec(all, c.Format)
			}
		}
	}
	return all
}

// CodecsOf returns the formats of rules that are codecs of the game's own, each once.
func CodecsOf(rules []merge.Declarations) (all []string) {
	for _, file := range rules {
		for _, r := range file.References {
			all = withCodec(all, r.Format)
		}
	}
	return all
}

func withCodec(all []string, format string) []string {
	if !cell.IsCodec(format) || slices.Contains(all, format) {
		return all
	}
	return append(all, format)
}

// needs returns an error unless all codecs of the plan are there.
func (p *Plan) needs(codecs cell.Codecs) error {
	for _, format := range p.Codecs() {
		if codecs[format] == nil {
			return fmt.Errorf("transfer: the plan cannot be carried out: %w", &cell.NoCodecError{Format: format})
		}
	}
	return nil
}

// validFormat returns an error unless a format is one. The codecs are not known yet.
func validFormat(format, column string) error {
	if cell.IsCodec(format) {
		return cell.Validate(format)
	}
	_, err := cell.ParseRow(format, column, nil)
	return err
}

// codecFails says where a codec cannot work; nil if err is another error, or none. Nothing is
// known of the cell then: it must not pass for one that is wrong.
func (l *layout) codecFails(err error, column int, row []any) error {
	if failed, is := errors.AsType[*cell.CodecError](err); is {
		return fmt.Errorf("table %q: row %s: %s: %w", l.table, l.keyText(row), l.columns[column], failed)
	}
	return nil
}
