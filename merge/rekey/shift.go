package rekey

import (
	"fmt"
	"strings"
)

// Shift is what becomes of the numbers of a column on their way into the target. The
// nil Shift leaves them as they are.
type Shift struct {
	By   uint64
	Stay Values // these stay as they are
}

// Image returns what becomes of a number. ok is false if there is no such number.
func (s *Shift) Image(n Integer) (image Integer, ok bool) {
	if s == nil || s.By == 0 || !s.Stay.Empty() && s.Stay.HasInteger(n) {
		return n, true
	}
	return n.Add(s.By)
}

// SQL is the expression for what becomes of the integers of a column, as all engines
// understand it.
func (s *Shift) SQL(column string) string {
	moved := fmt.Sprintf("%s + %d", column, s.By)
	if some := s.Stay.SQL(column); len(some) > 0 {
		moved = "CASE WHEN " + strings.Join(some, " AND ") + " THEN " + moved + " ELSE " + column + " END"
	}
	return moved
}
