package keys

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/slice"
)

// Codec finds the keys of cells that no format covers. A game has one of its own, and a
// reference names it as its format: [Codecs]. Several goroutines may use it at a time.
//
// Nothing is taken on trust. Each cell is first written with the keys that it has, which
// must give the same bytes. With new keys in it, exactly these must be read, and the old
// keys put back must give the bytes from before.
//
// An error is about the cell: it is not as the codec wants it. If the codec itself cannot
// work, the error is a [*CodecError]. What a codec is given is a copy, which it may change.
type Codec interface {
	// Keys returns the keys of a cell, always in the same order. A cell is never empty.
	Keys(cell []byte) ([]Integer, error)

	// Splice returns the cell with other keys: as many as Keys found, in the same order.
	Splice(cell []byte, keys []Integer) ([]byte, error)
}

// Codecs are codecs by the text of their format, such as "codec inventory" of a program
// that has one, or "exec ./codec items" of a command.
type Codecs map[string]Codec

// CodecError tells that a codec cannot work, whatever the cell is: a command that is
// missing, or that died.
type CodecError struct {
	Codec string // its format
	Err   error
}

// There is no Unwrap: a pipe that breaks must not be taken for a database that went away.
func (e *CodecError) Error() string { return fmt.Sprintf("codec %q: %v", e.Codec, e.Err) }

// NoCodecError tells that a format names a codec that was not given.
type NoCodecError struct{ Format string }

func (e *NoCodecError) Error() string {
	if IsCommand(e.Format) {
		return fmt.Sprintf("the format %q needs this command, which was not allowed to run", e.Format)
	}
	return fmt.Sprintf("the format %q needs this codec, which was not given: pass it as an option of the Go API, or use a command: exec ./codec", e.Format)
}

// IsCodec reports whether a format is a codec of the game's own.
func IsCodec(text string) bool { return firstWord(text) == "codec" || IsCommand(text) }

// IsCommand reports whether a format is a codec that is a command.
func IsCommand(text string) bool { return firstWord(text) == "exec" }

func firstWord(text string) string {
	name, _, _ := strings.Cut(text, " ")
	return name
}

// CommandLine returns the words of a format that is a command: what stands between blanks,
// or in single quotes, in which a quote is written twice. No shell reads them.
func CommandLine(text string) (words []string, err error) {
	rest, is := strings.CutPrefix(text, "exec ")
	word, any, quoted := []byte(nil), false, false
	end := func() {
		if any {
			words = append(words, string(word))
		}
		word, any = nil, false
	}
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c < ' ' || c == 0x7f:
			return nil, fmt.Errorf("format %q: want no control characters", text)
		case c == '\'' && quoted && strings.HasPrefix(rest[i+1:], "'"):
			word = append(word, c)
			i++
		case c == '\'':
			quoted, any = !quoted, true
		case c == ' ' && !quoted:
			end()
		default:
			word, any = append(word, c), true
		}
	}
	end()
	switch {
	case quoted:
		return nil, fmt.Errorf("format %q: a quote is not closed", text)
	case !is || len(words) == 0 || words[0] == "":
		return nil, fmt.Errorf("format %q: want a command; right is: exec ./codec items", text)
	}
	return words, nil
}

// Validate returns an error unless a text is a format. That the columns of words are there,
// and that a codec was given, is for [ParseRow] to find out.
func Validate(text string) (err error) {
	switch {
	case IsCommand(text):
		_, err = CommandLine(text)
	case IsCodec(text):
		name, _ := strings.CutPrefix(text, "codec ")
		if name == "" || name == text || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' }) {
			err = fmt.Errorf("format %q: want the name of a codec, without blanks; right is: codec inventory", text)
		}
	case isWords(text):
		_, err = ParseWords(text)
	default:
		_, err = Parse(text)
	}
	return err
}

// coded is a codec whose answers are tried.
type coded struct {
	text  string
	codec Codec
}

func (c *coded) keys(cell []byte) (all []CellKey, err error) {
	values, err := c.read(cell)
	all = slice.Map(values, func(v Integer) CellKey { return CellKey{Value: v} })
	return all, err
}

func (c *coded) read(cell []byte) ([]Integer, error) {
	if len(cell) == 0 {
		return nil, nil
	}
	values, err := c.codec.Keys(bytes.Clone(cell))
	if err != nil {
		return nil, c.fault(cell, err)
	}
	for _, v := range values {
		if v.Negative && v.Bits>>63 == 0 {
			return nil, c.fault(cell, fmt.Errorf("the negative number %d is none", int64(v.Bits)))
		}
	}
	return values, nil
}

func (c *coded) write(cell []byte, keys []Integer) ([]byte, error) {
	out, err := c.codec.Splice(bytes.Clone(cell), slices.Clone(keys))
	if err != nil {
		return nil, c.fault(cell, err)
	}
	return out, nil
}

// splice is [Format.Splice] with all the proofs that [Codec] speaks of.
func (c *coded) splice(cell []byte, image func(CellKey) (Integer, error)) ([]byte, error) {
	olds, err := c.read(cell)
	if err != nil || len(olds) == 0 {
		return cell, err
	}
	same, err := c.write(cell, olds)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(same, cell) {
		return nil, c.fault(cell, fmt.Errorf("with the same keys put back, the codec changes it to %s", quote(same)))
	}
	news := slices.Clone(olds)
	for i, old := range olds {
		if news[i], err = image(CellKey{Value: old}); err != nil {
			return nil, c.fault(cell, fmt.Errorf("key %s: %w", old, err))
		}
	}
	if slices.Equal(olds, news) {
		return cell, nil
	}
	out, err := c.write(cell, news)
	if err != nil {
		return nil, err
	}
	if again, err := c.read(out); err != nil {
		return nil, fmt.Errorf("with new keys: %w", err)
	} else if !slices.Equal(again, news) {
		return nil, c.fault(cell, fmt.Errorf("after the keys %s were put in, the codec finds %s in %s", few(news), few(again), quote(out)))
	}
	if back, err := c.write(out, olds); err != nil {
		return nil, fmt.Errorf("with the old keys put back: %w", err)
	} else if !bytes.Equal(back, cell) {
		return nil, c.fault(cell, fmt.Errorf("with new keys and then the old ones put back, the codec changes it to %s", quote(back)))
	}
	return out, nil
}

// fault says which codec says something of a cell. That it cannot work is left as it is.
func (c *coded) fault(cell []byte, err error) error {
	if broken, ok := errors.AsType[*CodecError](err); ok {
		return broken
	}
	return fmt.Errorf("%s: %q: %w", quote(cell), c.text, err)
}

// few are the first of some numbers, for a message.
func few(all []Integer) string {
	const most = 5
	if len(all) == 0 {
		return "none"
	}
	text := strings.Join(slice.Map(all[:min(most, len(all))], Integer.String), ", ")
	if len(all) > most {
		text += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return text
}
