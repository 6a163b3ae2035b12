package stream

import (
	"errors"
	"fmt"

	"mergesafe/merge/keys"
)

// KeysIn returns the keys in the cells of a row. In cells that do not have the format there
// are none: what is wrong with them is for [check.ReferenceRule] to say.
func (s *Stream) KeysIn(r *keys.Row, cells [][]byte, row int) []keys.CellKey {
	if s.Broken != nil {
		return nil
	}
	keys, err := r.Keys(cells)
	s.CodecFails(err, r.Columns()[0], row)
	return keys
}

// CodecFails ends the reading if an error tells that a codec cannot work: nothing is known of
// the cells then. It reports whether it does.
func (s *Stream) CodecFails(err error, column string, row int) bool {
	failed, is := errors.AsType[*keys.CodecError](err)
	if is && s.Broken == nil {
		s.Broken = fmt.Errorf("column %q, row %s: %w", column, s.RowText(row), failed)
	}
	return is
}
