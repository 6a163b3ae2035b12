package world

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
)

// Whether two texts are equal, and which of them comes first, is for the
// collation to say: case, accents, the width of letters and, in most
// collations, spaces at the end do not count. The server gives the weights
// that it compares by in WEIGHT_STRING, but these need care. Where spaces at
// the end do not count, the shorter of two texts is compared as if it went on
// in spaces; and where there are several levels, each goes for itself. So there
// are candidates for a form that is made of the weights, and the server is
// asked which of them compares as it says that the texts do, on texts that
// tell them apart. If none does, the collation is not supported.
//
// The rows come in the order of the collation, which costs nothing if the
// column has an index and the collation is its own, and the form is made beside
// it. Both orders are one: that of the collation is what the server says when it
// compares two texts, in an index as in SQL, and the form compares as that does.
// The exception are servers that sort without an index by something that is not
// quite the collation: they are asked to sort the texts, too. If they do not
// sort them as their forms, the rows come in the order of the weights. Should
// the orders differ in a text that was not asked for, then package merge finds
// a row that sorts before the one ahead of it, and the check ends with an error.
//
// Two servers may disagree about a collation of one name. That is not found
// out here.

// weightString is how to read the column in the form by whose bytes it sorts
// under the collation. Where there is none, it returns a
// [*catalog.UnsupportedError].
func (d *mysqlDialect) weightString(ctx context.Context, conn *sql.Conn, c *column, collation string) (reading, error) {
	charset, _, ok := strings.Cut(collation, "_")
	if !ok || !plainName(collation) {
		return reading{}, unsupported(c, "%q is not a collation for text", collation)
	}
	if name := strings.TrimPrefix(collation, charset); mb3(charset) == "utf8mb3" && mb3(c.charset) != "utf8mb3" && name != "_bin" {
		charset, collation = "utf8mb4", "utf8mb4"+name // which has the same weights, and all characters
	}
	if charset != "utf8mb4" && mb3(charset) != mb3(c.charset) {
		// Characters that charset does not have would all become "?".
		return reading{}, unsupported(c, "text in %s cannot be compared under %s without loss", c.charset, collation)
	}
	collated := func(text string) string {
		return "CONVERT(" + text + " USING " + charset + ") COLLATE " + collation
	}
	w, known := d.weights[collation]
	if !known {
		var err error
		if w, err = findWeight(ctx, conn, collation, collated); err != nil {
			return reading{}, err
		}
		d.weights[collation] = w
	}
	if w == nil {
		return reading{}, unsupported(c, "the server's weights for %s do not tell how it compares texts", collation)
	}
	text := collated(d.ref(c))
	if collation == c.Collation && !c.listed {
		text = d.ref(c) // for the sake of an index
	}
	r := reading{expr: w.expr(text), order: text, encode: w.encode}
	if w.unsorted {
		r.order = weightString(text, allLevels)
	}
	if w.ascii != nil {
		// Most texts are sent once and not with their weights.
		r.instead = fmt.Sprintf("IF(LENGTH(%s) = CHAR_LENGTH(%[1]s), NULL, %s)", text, r.expr)
		r.expr, r.encode, r.encodeInstead = d.ref(c), w.encodeASCII, w.encode
	}
	return r, nil
}

// mb3 gives the character set utf8mb3 its new name.
func mb3(charset string) string {
	if charset == "utf8" {
		return "utf8mb3"
	}
	return charset
}

// plainName reports whether s can stand in a statement as it is.
func plainName(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// weight is a way of making a sorting form of the server's weights.
type weight struct {
	// levels are those that count, each with its own weights. Level allLevels
	// stands for all that the server gives in one, and textItself for the text
	// in UTF-8, whose bytes sort like its characters.
	levels []int

	// spaces are the weights of a space at each level, where the shorter of two
	// texts is compared as if it went on in spaces; nil where it is not.
	spaces [][]byte

	// ascii are the weights of each character of ASCII, where those of a text
	// of these are simply theirs one after the other; else nil. quick are those
	// of two bytes again, but for the weight of a space, and 0 for the others.
	ascii [][]byte
	quick [128]uint16

	// unsorted tells that the server does not sort texts as it compares them.
	// MariaDB, if it has to sort, takes a text and the same one with a NUL at
	// its end for equal where spaces at the end count. It does not do so with
	// the weights.
	unsorted bool
}

const (
	allLevels  = 0
	textItself = -1
)

// expr is the expression for the weights of a text, given the expression for
// the text, which carries the collation.
func (w *weight) expr(text string) string {
	parts := slice.Map(w.levels, func(level int) string { return weightString(text, level) })
	if len(parts) == 1 {
		return parts[0]
	}
	// No weight is 0, so this keeps the levels apart.
	return "CONCAT(" + strings.Join(parts, ", x'0000', ") + ")"
}

func weightString(text string, level int) string {
	switch level {
	case textItself:
		return text
	case allLevels:
		return "WEIGHT_STRING(" + text + ")"
	}
	return fmt.Sprintf("WEIGHT_STRING(%s LEVEL %d)", text, level)
}

// encode makes the sorting form of the weights.
func (w *weight) encode(dst []byte, src any) ([]byte, error) {
	weights, ok := src.([]byte)
	if !ok {
		return dst, &mismatch{text, src}
	}
	if w.spaces == nil {
		return append(dst, weights...), nil
	}
	last := len(w.spaces) - 1
	for i, space := range w.spaces {
		level := weights
		if i < last {
			end := indexUnit(weights, []byte{0, 0})
			if end < 0 {
				return dst, fmt.Errorf("the server gave the weights of %d levels, want %d", i+1, last+1)
			}
			level, weights = weights[:end], weights[end+2:]
		}
		if len(level)%len(space) != 0 {
			return dst, fmt.Errorf("the server gave %d bytes of weights, which is not a multiple of %d", len(level), len(space))
		}
		dst = appendPadded(dst, level, space)
	}
	return dst, nil
}

// encodeASCII makes the sorting form of a text of ASCII characters.
func (w *weight) encodeASCII(dst []byte, src any) ([]byte, error) {
	s, ok := src.([]byte)
	if !ok {
		return dst, &mismatch{text, src}
	}
	start := len(dst)
	dst = slices.Grow(dst, 2*len(s)+3)[:start+2*len(s)]
	weights := dst[start:]
	for _, c := range s {
		if int(c) >= len(w.quick) || w.quick[c] == 0 {
			return w.gatherASCII(dst[:start], s)
		}
		binary.BigEndian.PutUint16(weights, w.quick[c])
		weights = weights[2:]
	}
	if w.spaces != nil {
		dst = append(append(dst, w.spaces[0]...), thenNothing)
	}
	return dst, nil
}

// gatherASCII is encodeASCII with all that may occur, spaces for example.
func (w *weight) gatherASCII(dst, s []byte) ([]byte, error) {
	var weights []byte
	for _, c := range s {
		if int(c) >= len(w.ascii) {
			return dst, fmt.Errorf("the server took %q for ASCII", s)
		}
		weights = append(weights, w.ascii[c]...)
	}
	return w.encode(dst, weights)
}

// learn finds out the weights of ASCII characters, and whether they depend on
// the characters beside them: it asks for those of a text in which each stands
// beside each.
func (w *weight) learn(ctx context.Context, conn *sql.Conn, collated func(string) string) error {
	if !slices.Equal(w.levels, []int{allLevels}) {
		return nil
	}
	var text []byte
	for i := range byte(128) {
		text = append(text, i)
		for j := i + 1; j < 128; j++ {
			text = append(text, i, j)
		}
	}
	statement := "SELECT " + weightString(collated(fmt.Sprintf("CONVERT(x'%x' USING utf8mb4)", text)), allLevels)
	for i := range 128 {
		statement += fmt.Sprintf(", %s", weightString(collated(fmt.Sprintf("CONVERT(x'%02x' USING utf8mb4)", i)), allLevels))
	}
	weights := make([][]byte, 129)
	dest := make([]any, len(weights))
	for i := range weights {
		dest[i] = &weights[i]
	}
	if err := conn.QueryRowContext(ctx, statement).Scan(dest...); err != nil {
		return err
	}
	together, each := weights[0], weights[1:]
	var want []byte
	for _, c := range text {
		want = append(want, each[c]...)
	}
	if !bytes.Equal(together, want) {
		return nil
	}
	w.ascii = each
	for c, one := range each {
		if len(one) == 2 && (w.spaces == nil || !bytes.Equal(one, w.spaces[0])) {
			w.quick[c] = binary.BigEndian.Uint16(one)
		}
	}
	return nil
}

// What stands behind the first of some spaces in a padded form says how the
// text continues after them.
const (
	thenLess    = iota // with a weight that is less than a space
	thenNothing        // with nothing but spaces, without end
	thenMore           // with a weight that is more than a space
)

// appendPadded appends a form of weights that compares as the weights do when
// each is followed by spaces without end. Weights are as wide as that of a
// space.
func appendPadded(dst, weights, space []byte) []byte {
	n := len(space)
	for bytes.HasSuffix(weights, space) {
		weights = weights[:len(weights)-n]
	}
	for {
		i := indexUnit(weights, space)
		if i < 0 {
			break
		}
		dst = append(append(dst, weights[:i]...), space...)
		weights = weights[i+n:]
		end := 0 // of the spaces that follow
		for bytes.HasPrefix(weights[end:], space) {
			end += n
		}
		then := byte(thenMore)
		if bytes.Compare(weights[end:end+n], space) < 0 {
			then = thenLess
		}
		dst = append(append(dst, then), weights[:end]...)
		weights = weights[end:]
	}
	return append(append(append(dst, weights...), space...), thenNothing)
}

// indexUnit finds a unit at a multiple of its length, or returns -1.
func indexUnit(s, unit []byte) int {
	for at := 0; ; {
		i := bytes.Index(s[at:], unit)
		if i < 0 {
			return -1
		}
		if i += at; i%len(unit) == 0 {
			return i
		}
		at = i + 1
	}
}

// findWeight returns the first candidate that is right for the collation, or
// nil.
func findWeight(ctx context.Context, conn *sql.Conn, collation string, collated func(string) string) (*weight, error) {
	var pairs [][3]int // two texts, and how they compare
	var pair [3]int
	x, y := collated("x.t"), collated("y.t")
	statement := fmt.Sprintf("SELECT x.i, y.i, (%[1]s > %[2]s) - (%[1]s < %[2]s) FROM (%[3]s) AS x JOIN (%[3]s) AS y", x, y, probeTexts())
	if err := each(ctx, conn, statement, func() { pairs = append(pairs, pair) }, &pair[0], &pair[1], &pair[2]); err != nil {
		return nil, err
	}
	for _, candidate := range []struct {
		levels []int
		padded bool
	}{
		{[]int{textItself}, false},
		{[]int{textItself}, true},
		{[]int{allLevels}, false},
		{[]int{allLevels}, true},
		{[]int{1, 2}, true},
		{[]int{1, 3}, true},
		{[]int{1, 2, 3}, true},
	} {
		if candidate.levels[0] == textItself && !strings.HasPrefix(collation, "utf8mb") {
			continue // the driver is sent UTF-8, and not what the server compares
		}
		w := &weight{levels: candidate.levels}
		forms, err := w.probe(ctx, conn, collated, candidate.padded)
		switch {
		case sqldb.Says(err, sqldb.Syntax): // MySQL 8 knows no levels
		case err != nil:
			return nil, err
		case !slices.ContainsFunc(pairs, func(p [3]int) bool { return bytes.Compare(forms[p[0]], forms[p[1]]) != p[2] }):
			if w.unsorted, err = misplaced(ctx, conn, collated, forms); err == nil && strings.HasPrefix(collation, "utf8mb") {
				err = w.learn(ctx, conn, collated)
			}
			return w, err
		}
	}
	return nil, nil
}

// probe completes w and returns the forms of the probe texts.
func (w *weight) probe(ctx context.Context, conn *sql.Conn, collated func(string) string, padded bool) (map[int][]byte, error) {
	if padded {
		for _, level := range w.levels {
			var space []byte
			if err := conn.QueryRowContext(ctx, "SELECT "+weightString(collated("' '"), level)).Scan(&space); err != nil {
				return nil, err
			}
			if len(space) == 0 {
				return nil, nil // and so it will not be right
			}
			w.spaces = append(w.spaces, space)
		}
	}
	var (
		i       int
		weights []byte
		wrong   error
		forms   = make(map[int][]byte)
	)
	err := each(ctx, conn, "SELECT t.i, "+w.expr(collated("t.t"))+" FROM ("+probeTexts()+") AS t", func() {
		form, err := w.encode(nil, weights)
		if err != nil {
			wrong = err
		}
		forms[i] = form
	}, &i, &weights)
	if wrong != nil {
		return nil, nil
	}
	return forms, err
}

// misplaced reports whether the server sorts the probe texts in another order
// than that of their forms. Texts that it takes for equal come in both orders.
func misplaced(ctx context.Context, conn *sql.Conn, collated func(string) string, forms map[int][]byte) (bool, error) {
	for _, direction := range []string{"ASC", "DESC"} {
		var i int
		var last []byte
		wrong := false
		err := each(ctx, conn, "SELECT t.i FROM ("+probeTexts()+") AS t ORDER BY "+collated("t.t")+", t.i "+direction, func() {
			wrong = wrong || bytes.Compare(last, forms[i]) > 0
			last = forms[i]
		}, &i)
		if wrong || err != nil {
			return wrong, err
		}
	}
	return false, nil
}

// probeTexts is a query for numbered texts t of which each tells one way of
// comparing from another.
func probeTexts() string {
	texts := []string{
		"", " ", "  ", "a", "a ", "a  ", " a", "A", "aa", "b", "z",
		"á", "a\u0301", "Á", "ä", "ae", "æ", "ß", "ss", "s", "ø", "o",
		"a\t", "a \t", "a\t ", "\t", "a\x01", "a\x00", "\x00", "a\u00a0", "a\u3000", "\u3000", "a\u200b", "a\u00ad", "a-",
		"a b", "a  b", "a \tb", "a\tb", "a  \t", " \t", " b", "A b", "á b", "á  b",
		"ａ", "Ａ", "ア", "ァ", "ｱ", "あ", "ば", "中", "国", "國",
		"😀", "😁", "a😀", "😀 ", "𐐀", "𐐨", "i", "İ", "ı", "K", "\u212a", "1", "١", "ﬁ", "fi", "ch", "c",
		"ﷺﷺﷺﷺﷺﷺﷺﷺa", "ﷺﷺﷺﷺﷺﷺﷺﷺb", "?",
	}
	selects := make([]string, len(texts))
	for i, t := range texts {
		selects[i] = fmt.Sprintf("SELECT %d, CONVERT(x'%x' USING utf8mb4)", i, t)
		if i == 0 {
			selects[i] = fmt.Sprintf("SELECT %d AS i, CONVERT(x'%x' USING utf8mb4) AS t", i, t)
		}
	}
	return strings.Join(selects, " UNION ALL ")
}
