package keys

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A chunk of 2^chunkBits numbers is a string of bits in SQL if it has at least denseChunk keys; fewer are listed.
const (
	chunkBits  = 16
	denseChunk = 1 << (chunkBits - 6)
)

// SQL is the condition that a column of integers, or columns of the kinds of the set, have one of the keys, as all engines
// understand it. It is never NULL. The set is finished and not sparse. The text takes about two bytes for eight
// numbers where keys lie close together, and their digits where they do not.
func (s *Set) SQL(columns ...string) string {
	if s.Len() == 0 {
		return "1 = 0"
	}
	if s.Kinds != "" {
		return s.valuesSQL(columns)
	}
	column := columns[0]
	var listed []string
	var dense []chunkSQL
	var keys []Integer // of one chunk
	flush := func() {
		if len(keys) < denseChunk || keys[0].Negative || keys[0].Bits >= 1<<62 {
			for _, n := range keys {
				listed = append(listed, n.String())
			}
		} else {
			dense = append(dense, chunkOf(column, keys))
		}
		keys = keys[:0]
	}
	for n := range s.All() {
		if len(keys) > 0 && (keys[0].Negative != n.Negative || keys[0].Bits>>chunkBits != n.Bits>>chunkBits) {
			flush()
		}
		keys = append(keys, n)
	}
	flush()
	var any []string
	if len(listed) > 0 {
		any = append(any, column+" IN ("+strings.Join(listed, ", ")+")")
	}
	if len(dense) > 0 {
		any = append(any, "("+column+" >= 0 AND "+chunkSQLOf(column, dense)+")")
	}
	return "(" + column + " IS NOT NULL AND (" + strings.Join(any, " OR ") + "))"
}

// chunkSQL is the condition for the numbers of one chunk.
type chunkSQL struct {
	number    uint64
	condition string
}

// chunkOf writes the bits of a chunk: the lowest of a byte is that of its least number.
func chunkOf(column string, keys []Integer) chunkSQL {
	const mask = 1<<chunkBits - 1
	text := make([]byte, (keys[len(keys)-1].Bits&mask)/8+1)
	for _, n := range keys {
		text[n.Bits&mask/8] |= 1 << (n.Bits & 7)
	}
	byteOf := fmt.Sprintf("HEX(SUBSTR(x'%s', 1 + ((%s & %d) >> 3), 1))", hex.EncodeToString(text), column, mask)
	digit := fmt.Sprintf("INSTR('123456789ABCDEF', SUBSTR(%s, 2 - ((%s & 7) >> 2), 1))", byteOf, column)
	bit := fmt.Sprintf("((%s >> (%s & 3)) & 1)", digit, column)
	// Behind the last byte there is none, and INSTR finds the empty text.
	return chunkSQL{keys[0].Bits >> chunkBits, fmt.Sprintf("(%s & %d) < %d AND %s = 1", column, mask, 8*len(text), bit)}
}

// chunkSQLOf finds the chunk of a number by halves.
func chunkSQLOf(column string, chunks []chunkSQL) string {
	if len(chunks) > 4 {
		half := len(chunks) / 2
		return fmt.Sprintf("CASE WHEN %s < %d THEN %s ELSE %s END", column, chunks[half].number<<chunkBits,
			chunkSQLOf(column, chunks[:half]), chunkSQLOf(column, chunks[half:]))
	}
	var b strings.Builder
	b.WriteString("CASE " + column + " >> " + strconv.Itoa(chunkBits))
	for _, c := range chunks {
		fmt.Fprintf(&b, " WHEN %d THEN %s", c.number, c.condition)
	}
	return b.String() + " ELSE 0 END"
}

// MarshalText writes the set as one word: [Set.AppendBinary], compressed, in base64.
func (s *Set) MarshalText() ([]byte, error) {
	b, err := s.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	return base64.StdEncoding.AppendEncode(nil, packed.Bytes()), err
}

// UnmarshalText reads what [Set.MarshalText] wrote.
func (s *Set) UnmarshalText(text []byte) error {
	packed, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("rekey: not a set of keys: %w", err)
	}
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return fmt.Errorf("rekey: not a set of keys: %w", err)
	}
	return s.UnmarshalBinary(b)
}
