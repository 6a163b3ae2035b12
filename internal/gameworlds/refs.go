package gameworlds

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/naming"
)

// Kind says what a number in a column is. merge/propose/testdata/README.md describes the kinds and the
// format of the lists.
type Kind string

const (
	Key       Kind = "key"     // a surrogate key that the world counts
	Reference Kind = "ref"     // names a row
	Natural   Kind = "natural" // from the game's own data, the same in all worlds
	Cell      Kind = "cell"    // has a key in it, among other text or in some of its bits
	Account   Kind = "account" // of an account in another database
	Thing     Kind = "thing"   // names a thing that has no table
	Name      Kind = "name"    // a text that a person chose; some are taken in several worlds
	Plain     Kind = "plain"   // names nothing
)

// Column is a column of a table.
type Column struct{ Table, Name string }

func (c Column) String() string { return c.Table + "." + c.Name }

func compareColumns(a, b Column) int { return strings.Compare(a.String(), b.String()) }

// Meaning is what the numbers of a column are: in all rows, or in those where When holds.
type Meaning struct {
	Kind    Kind
	To      []Column // what a reference or a cell names; empty for a cell of accounts. The first is it; to say another is right too
	Counter string   // the keys of the columns with this name come from one counter; "" is a counter of its own
	When    *When    // nil: all rows
	None    []Range  // values that name nothing
	As      *Form    // how a cell is written; nil: any way
}

// When holds in the rows in which a column of the same table has one of some values.
type When struct {
	Column string
	Is     []string
}

// Range is the numbers from Min to Max.
type Range struct{ Min, Max int64 }

// Refs lists the meaning of each column of a schema.
type Refs struct {
	Sizes   map[string]string    // the tables that a world is measured by: of "characters", "items", "guilds"
	Tables  []string             // in the order of the list
	Columns map[Column][]Meaning // a column that is not here is plain
}

// ReadRefs reads a list. Errors name the line.
func ReadRefs(r io.Reader) (*Refs, error) {
	refs := &Refs{Sizes: make(map[string]string), Columns: make(map[Column][]Meaning)}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if err := refs.line(strings.HasPrefix(text, "\t"), words); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return refs, lines.Err()
}

func (r *Refs) line(indented bool, words []string) error {
	switch {
	case indented && len(r.Tables) > 0 && len(words) > 1:
		m, err := meaning(words[1:])
		names, ok := naming.ExpandPattern(words[0])
		if !ok {
			return fmt.Errorf("%q is no range of columns", words[0])
		}
		for _, name := range names {
			c := Column{r.Tables[len(r.Tables)-1], name}
			r.Columns[c] = append(r.Columns[c], m)
		}
		return err
	case !indented && words[0] == "table" && len(words) == 2:
		if slices.Contains(r.Tables, words[1]) {
			return fmt.Errorf("table %q is listed twice", words[1])
		}
		r.Tables = append(r.Tables, words[1])
		return nil
	case !indented && words[0] == "size" && len(words) == 3:
		r.Sizes[words[1]] = words[2]
		return nil
	}
	return fmt.Errorf("want \"table NAME\", \"size WHAT TABLE\", or a tab and \"COLUMN KIND\", got %q", strings.Join(words, " "))
}

// meaning reads KIND [TARGET...] [as FORM] [when COLUMN = V,...] [none V,...].
func meaning(words []string) (m Meaning, err error) {
	m.Kind = Kind(words[0])
	if !slices.Contains([]Kind{Key, Reference, Natural, Cell, Account, Thing, Name, Plain}, m.Kind) {
		return m, fmt.Errorf("unknown kind %q", words[0])
	}
	for words = words[1:]; len(words) > 0; {
		switch table, column, dotted := strings.Cut(words[0], "."); {
		case words[0] == "when" && len(words) >= 4 && words[2] == "=":
			m.When = &When{words[1], strings.Split(words[3], ",")}
			words = words[4:]
		case words[0] == "none" && len(words) >= 2:
			m.None, err = ranges(words[1])
			words = words[2:]
		case words[0] == "as" && len(words) >= 2 && (m.Kind == Cell || m.Kind == Plain):
			m.As, err = parseForm(words[1])
			words = words[2:]
		case dotted && (m.Kind == Reference || m.Kind == Cell):
			m.To = append(m.To, Column{table, column})
			words = words[1:]
		case m.Kind == Key && m.Counter == "", m.Kind == Cell && words[0] == "account":
			if m.Kind == Key {
				m.Counter = words[0]
			}
			words = words[1:]
		default:
			return m, fmt.Errorf("%q is not understood after %q", words[0], m.Kind)
		}
		if err != nil {
			return m, err
		}
	}
	if m.Kind == Reference && len(m.To) == 0 {
		return m, fmt.Errorf("a reference to nothing")
	}
	return m, nil
}

func ranges(list string) (all []Range, err error) {
	for text := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseInt(strings.TrimLeft(text, "<>"), 10, 64)
		if err != nil {
			return nil, err
		}
		r := Range{v, v}
		switch text[0] {
		case '<':
			r = Range{math.MinInt64, v - 1}
		case '>':
			r = Range{v + 1, math.MaxInt64}
		}
		all = append(all, r)
	}
	return all, nil
}
