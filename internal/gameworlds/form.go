package gameworlds

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// Form is how a game writes a cell. merge/propose/testdata/README.md describes it. It does
// not use package cell, so that tests can compare that package with it.
type Form struct {
	text   string
	pieces []string       // of a text: literals and places, in turn; the first is a literal
	reads  *regexp.Regexp // the text, with a group for each place

	number bool   // 64 bits: high in the upper 16, the key from bit shift on
	high   uint64 // 0x4000
	shift  int
}

func (f *Form) String() string { return f.text }

// formPlaces are what may stand in a text, with what they look like.
var formPlaces = map[string]string{
	"{key}":   `([0-9]+)`,
	"{hex16}": `([ 0-9a-f]{16})`,
	"{HEX}":   `([0-9A-F]+)`,
	"{keys}":  `([0-9]+(?: [0-9]+)*)`,
	"{n}":     `[0-9]+`,
	"{text}":  `.*`,
}

var (
	formPlace  = regexp.MustCompile(`\{\w*\}`)
	formNumber = regexp.MustCompile(`^(0x[0-9A-F]{4})@([0-9]+)$`)
)

// parseForm reads a form: a text with places in it, or HIGH@SHIFT.
func parseForm(text string) (*Form, error) {
	f := &Form{text: text}
	if m := formNumber.FindStringSubmatch(text); m != nil {
		f.number = true
		f.high, _ = strconv.ParseUint(m[1], 0, 16)
		f.shift, _ = strconv.Atoi(m[2])
		if f.shift > 40 {
			return nil, fmt.Errorf("%q has no bits for the key", text)
		}
		return f, nil
	}
	text = strings.ReplaceAll(text, `\s`, " ")
	reads, last := "^", 0
	for _, at := range formPlace.FindAllStringIndex(text, -1) {
		place := text[at[0]:at[1]]
		if formPlaces[place] == "" {
			return nil, fmt.Errorf("%q has the unknown place %s", f.text, place)
		}
		f.pieces = append(f.pieces, text[last:at[0]], place)
		reads += regexp.QuoteMeta(text[last:at[0]]) + formPlaces[place]
		last = at[1]
	}
	f.pieces = append(f.pieces, text[last:])
	f.reads = regexp.MustCompile(reads + regexp.QuoteMeta(text[last:]) + "$")
	return f, nil
}

// write returns a cell with keys from key.
func (f *Form) write(rng *rand.Rand, key func() int64) any {
	if f.number {
		low := rng.Uint64() & (1<<f.shift - 1)
		return f.high<<48 | uint64(key())<<f.shift | low
	}
	var b strings.Builder
	for i, piece := range f.pieces {
		switch {
		case i%2 == 0:
			b.WriteString(piece)
		case piece == "{key}":
			fmt.Fprint(&b, key())
		case piece == "{hex16}":
			fmt.Fprintf(&b, "%16x", key())
		case piece == "{HEX}":
			fmt.Fprintf(&b, "%X", key())
		case piece == "{keys}":
			for n := range 1 + rng.IntN(4) {
				b.WriteString(" "[:min(n, 1)])
				fmt.Fprint(&b, key())
			}
		case piece == "{n}":
			fmt.Fprint(&b, rng.Int64N(5000))
		case piece == "{text}":
			b.WriteString(strings.Repeat(pick(syllables, fmt.Sprint(rng.Uint32())), rng.IntN(3)))
		}
	}
	return b.String()
}

// Read returns the keys of a cell as decimals, and what the cell is without them; ok is
// false if it is not of this form.
func (f *Form) Read(cell string) (keys []string, rest string, ok bool) {
	if f.number {
		v, err := strconv.ParseUint(cell, 10, 64)
		if err != nil || v>>48 != f.high {
			return nil, "", false
		}
		low, key := v&(1<<f.shift-1), v<<16>>16>>f.shift
		return []string{strconv.FormatUint(key, 10)}, fmt.Sprint(f.high, low), true
	}
	m := f.reads.FindStringSubmatchIndex(cell)
	if m == nil {
		return nil, "", false
	}
	last, group := 0, 2
	for i := 1; i < len(f.pieces); i += 2 {
		if strings.HasPrefix(formPlaces[f.pieces[i]], "(") {
			value := cell[m[group]:m[group+1]]
			rest += cell[last:m[group]]
			last = m[group+1]
			group += 2
			if f.pieces[i] == "{hex16}" || f.pieces[i] == "{HEX}" {
				n, err := strconv.ParseUint(strings.TrimLeft(value, " "), 16, 64)
				if err != nil {
					return nil, "", false
				}
				value = strconv.FormatUint(n, 10)
			}
			keys = append(keys, strings.Split(value, " ")...)
			rest += "\x00"
		}
	}
	return keys, rest + cell[last:], true
}
