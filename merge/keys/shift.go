package keys

import (
	"fmt"
	"strings"
)

// Shift says what happens to the numbers of a column on their way into the new database. The
// nil Shift leaves them as they are.
type Shift struct {
	By   uint64
	Stay Values // these stay as they are

	// Match are the numbers that become others which are there already, in place of
	// getting By added.
	Match *Pairs
}

// Moves reports whether any number becomes another one.
func (s *Shift) Moves() bool { return s != nil && (s.By > 0 || s.Match.Len() > 0) }

// Image returns the new value of a number. ok is false if there is no such number.
func (s *Shift) Image(n Integer) (image Integer, ok bool) {
	if !s.Moves() || !s.Stay.Empty() && s.Stay.HasInteger(n) {
		return n, true
	}
	if image, ok := s.Match.Image(n); ok {
		return image, true
	}
	return n.Add(s.By)
}

// mostInSQL is how many pairs an expression may have.
const mostInSQL = 500

// InSQL reports whether SQL can say it.
func (s *Shift) InSQL() bool { return s.Match.Len() <= mostInSQL }

// SQL is the expression for the new values of the integers of a column, as all engines
// understand it.
func (s *Shift) SQL(column string) string {
	moved := fmt.Sprintf("%s + %d", column, s.By)
	if s.Match.Len() > 0 {
		var b strings.Builder
		b.WriteString("CASE " + column)
		for old, image := range s.Match.All() {
			fmt.Fprintf(&b, " WHEN %s THEN %s", old, image)
		}
		moved = b.String() + " ELSE " + moved + " END"
	}
	if some := s.Stay.SQL(column); len(some) > 0 {
		moved = "CASE WHEN " + strings.Join(some, " AND ") + " THEN " + moved + " ELSE " + column + " END"
	}
	return moved
}
