package sqlsource

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
)

// Whether two texts are equal is for the collation to say: case, accents, the
// width of letters and, in most collations, spaces at the end do not count.
// The server gives the weights that it compares by in WEIGHT_STRING, but
// these need care: where spaces at the end do not count, their weights are
// there nevertheless. Cutting them off is right for weights of one level;
// where there are several, each level has its own. So there are candidates,
// and the server is asked which of them is equal exactly when it says that
// the texts are, on texts that tell them apart. If none is, the collation is
// not supported.
//
// Two servers may disagree about a collation of one name. That is not found
// out here.

// weight writes the expression for the weights of a text, given the
// expression for the text, which carries the collation.
type weight func(text string) string

// weightString is the expression by whose bytes the column sorts under the
// collation. Where there is none, it returns a [*merge.UnsupportedError].
func (d *mysqlDialect) weightString(ctx context.Context, conn *sql.Conn, c *column, collation string) (string, error) {
	charset, _, ok := strings.Cut(collation, "_")
	if !ok || !plainName(collation) {
		return "", unsupported(c, "%q is not a collation for text", collation)
	}
	if charset != "utf8mb4" && mb3(charset) != mb3(c.charset) {
		// Characters that charset does not have would all become "?".
		return "", unsupported(c, "text in %s cannot be compared under %s without loss", c.charset, collation)
	}
	collated := func(text string) string {
		return "CONVERT(" + text + " USING " + charset + ") COLLATE " + collation
	}
	if d.weights[collation] == nil {
		w, err := findWeight(ctx, conn, collated)
		if err != nil {
			return "", err
		}
		if w == nil {
			return "", unsupported(c, "the server's weights for %s do not tell which texts it takes for equal", collation)
		}
		d.weights[collation] = w
	}
	return d.weights[collation](collated(d.ref(c))), nil
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

// candidate is one way of making a sorting form of the server's weights.
type candidate struct {
	// levels are those that count, each with its own weights. Level 0 stands
	// for all that the server gives in one.
	levels []int

	// trim cuts off the weights of spaces at the end.
	trim bool
}

func candidates() []candidate {
	return []candidate{
		{[]int{0}, false},
		{[]int{0}, true},
		{[]int{1, 2}, true},
		{[]int{1, 3}, true},
		{[]int{1, 2, 3}, true},
	}
}

// findWeight returns the first candidate that is right for the collation, or
// nil.
func findWeight(ctx context.Context, conn *sql.Conn, collated func(string) string) (weight, error) {
	for _, c := range candidates() {
		w, err := c.weight(ctx, conn, collated)
		if err == nil {
			var wrong int
			x, y := collated("x.t"), collated("y.t")
			statement := fmt.Sprintf("SELECT COUNT(*) FROM (%s) AS x JOIN (%[1]s) AS y WHERE (%s = %s) <> (%s = %s)",
				probeTexts(), x, y, w(x), w(y))
			if err = conn.QueryRowContext(ctx, statement).Scan(&wrong); err == nil && wrong == 0 {
				return w, nil
			}
		}
		if err != nil && !mysqlError(err, errSyntax) { // MySQL 8 knows no levels
			return nil, err
		}
	}
	return nil, nil
}

func (c candidate) weight(ctx context.Context, conn *sql.Conn, collated func(string) string) (weight, error) {
	of := func(text string, level int) string {
		if level == 0 {
			return "WEIGHT_STRING(" + text + ")"
		}
		return fmt.Sprintf("WEIGHT_STRING(%s LEVEL %d)", text, level)
	}
	spaces := make([]string, len(c.levels))
	for i, level := range c.levels {
		if err := conn.QueryRowContext(ctx, "SELECT HEX("+of(collated("' '"), level)+")").Scan(&spaces[i]); err != nil {
			return nil, err
		}
	}
	return func(text string) string {
		parts := make([]string, len(c.levels))
		for i, level := range c.levels {
			parts[i] = of(text, level)
			if c.trim {
				parts[i] = "TRIM(TRAILING x'" + spaces[i] + "' FROM " + parts[i] + ")"
			}
		}
		if len(parts) == 1 {
			return parts[0]
		}
		// No weight is 0, so this keeps the levels apart.
		return "CONCAT(" + strings.Join(parts, ", x'0000', ") + ")"
	}, nil
}

// probeTexts is a query for texts t of which each tells one way of comparing from
// another.
func probeTexts() string {
	return selectTexts(
		"", " ", "  ", "a", "a ", "a  ", " a", "A", "aa", "b", "z",
		"á", "a\u0301", "Á", "ä", "ae", "æ", "ß", "ss", "s", "ø", "o",
		"a\t", "a \t", "a\t ", "\t", "a\x01", "a\x00", "\x00", "a\u00a0", "a\u3000", "\u3000", "a\u200b", "a\u00ad", "a-",
		"ａ", "Ａ", "ア", "ァ", "ｱ", "あ", "ば", "中", "国", "國",
		"😀", "😁", "a😀", "😀 ", "𐐀", "𐐨", "i", "İ", "ı", "K", "\u212a", "1", "١", "ﬁ", "fi", "ch", "c",
		"ﷺﷺﷺﷺﷺﷺﷺﷺa", "ﷺﷺﷺﷺﷺﷺﷺﷺb", "?",
	)
}

func selectTexts(texts ...string) string {
	selects := make([]string, len(texts))
	for i, t := range texts {
		selects[i] = "SELECT CONVERT(x'" + hex.EncodeToString([]byte(t)) + "' USING utf8mb4)"
		if i == 0 {
			selects[i] += " AS t"
		}
	}
	return strings.Join(selects, " UNION ALL ")
}
