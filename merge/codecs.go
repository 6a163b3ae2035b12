package merge

import (
	"errors"
	"fmt"

	"mergesafe/merge/cell"
)

// keysIn returns the keys in the cells of a row. In cells that do not have the format there
// are none: what is wrong with them is for [cellRule] to say.
func (s *stream) keysIn(r *cell.Row, cells [][]byte, row int) []cell.Key {
	if s.broken != nil {
		return nil
	}
	keys, err := r.Keys(cells)
	s.codecFails(err, r.Columns()[0], row)
	return keys
}

// codecFails ends the reading if an error tells that a codec cannot work: nothing is known of
// the cells then. It reports whether it does.
func (s *stream) codecFails(err error, column string, row int) bool {
	failed, is := errors.AsType[*cell.CodecError](err)
	if is && s.broken == nil {
		s.broken = fmt.Errorf("column %q, row %s: %w", column, s.rowText(row), failed)
	}
	return is
}
