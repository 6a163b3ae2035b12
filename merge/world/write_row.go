package world

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mergesafe/merge/keys"
)

// Sum is a sum over the contents of rows: of a hash of 128 bits of every row,
// modulo 2^128. It does not depend on the order of the rows, and sums of parts
// can be added and subtracted. If one bit of one row differs, the sum differs.
//
// Its text form is 32 hexadecimal digits.
type Sum struct{ hi, Lo uint64 }

// Add returns s + t.
func (s Sum) Add(t Sum) Sum {
	lo, carry := bits.Add64(s.Lo, t.Lo, 0)
	hi, _ := bits.Add64(s.hi, t.hi, carry)
	return Sum{hi, lo}
}

// Sub returns s - t.
func (s Sum) Sub(t Sum) Sum {
	lo, borrow := bits.Sub64(s.Lo, t.Lo, 0)
	hi, _ := bits.Sub64(s.hi, t.hi, borrow)
	return Sum{hi, lo}
}

func (s Sum) String() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], s.hi)
	binary.BigEndian.PutUint64(b[8:], s.Lo)
	return hex.EncodeToString(b[:])
}

// MarshalText implements [encoding.TextMarshaler].
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Sum) UnmarshalText(text []byte) error {
	var b [16]byte
	if n, err := hex.Decode(b[:], text[:min(len(text), 32)]); err != nil || n != len(b) || len(text) != 32 {
		return fmt.Errorf("the sum %.40q is not 32 hexadecimal digits", text)
	}
	s.hi, s.Lo = binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	return nil
}

// Hasher sums rows. Every value is hashed with its type and its length. It keeps a
// buffer between rows.
type Hasher struct{ buf []byte }

// Row returns the sum of one row.
func (h *Hasher) Row(values []any) (Sum, error) {
	b, err := appendValues(h.buf[:0], values)
	if err != nil {
		return Sum{}, err
	}
	h.buf = b
	d := sha256.Sum256(b)
	return Sum{binary.BigEndian.Uint64(d[:8]), binary.BigEndian.Uint64(d[8:16])}, nil
}

// appendValues appends the bytes of values: no two different lists have the same.
func appendValues(b []byte, values []any) ([]byte, error) {
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			b = append(b, 'n')
		case []byte:
			b = binary.BigEndian.AppendUint32(append(b, 'b'), uint32(len(v)))
			b = append(b, v...)
		case string:
			b = binary.BigEndian.AppendUint32(append(b, 's'), uint32(len(v)))
			b = append(b, v...)
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v))
		case uint64:
			b = binary.BigEndian.AppendUint64(append(b, 'u'), v)
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(v))
		case float32:
			b = binary.BigEndian.AppendUint32(append(b, 'g'), math.Float32bits(v))
		default:
			return nil, fmt.Errorf("column %d: the driver gave a %T, which cannot be copied faithfully", i+1, v)
		}
	}
	return b, nil
}

// Same reports whether two values are the same, type included, as their sums are. The two zeros
// are equal and not the same.
func Same(a, b any) bool {
	switch a := a.(type) {
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b) && (a == nil) == (b == nil)
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	case float32:
		b, ok := b.(float32)
		return ok && math.Float32bits(a) == math.Float32bits(b)
	}
	if _, ok := b.([]byte); ok {
		return false
	}
	return a == b
}

// AppendKey appends the bytes of a key. The two zeros are one key.
func AppendKey(b []byte, key []any) ([]byte, error) {
	key = slices.Clone(key)
	for i, v := range key {
		switch v := v.(type) {
		case float64:
			key[i] = v + 0
		case float32:
			key[i] = v + 0
		}
	}
	return appendValues(b, key)
}

// normal gives equal integers one type: databases deliver the same integer as int64
// or uint64.
func normal(v any) any {
	if n, ok := v.(uint64); ok && n <= math.MaxInt64 {
		return int64(n)
	}
	return v
}

// EncodeKey writes the values of a key as a text that is safe to print and
// can be read back: a JSON list of texts, each with a letter for the type.
func EncodeKey(values []any) (string, error) {
	parts := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case []byte:
			parts[i] = "x" + hex.EncodeToString(v)
		case string:
			parts[i] = "s" + v
			if !utf8.ValidString(v) {
				parts[i] = "t" + hex.EncodeToString([]byte(v))
			}
		case int64:
			parts[i] = "i" + strconv.FormatInt(v, 10)
		case uint64:
			parts[i] = "u" + strconv.FormatUint(v, 10)
		case float64:
			parts[i] = "f" + strconv.FormatFloat(v, 'x', -1, 64)
		case float32:
			parts[i] = "g" + strconv.FormatFloat(float64(v), 'x', -1, 32)
		default:
			return "", fmt.Errorf("a %T cannot be a key", v)
		}
	}
	b, err := json.Marshal(parts)
	return string(b), err
}

// DecodeKey reads what encodeKey wrote.
func DecodeKey(text string) ([]any, error) {
	var parts []string
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		return nil, fmt.Errorf("the key %.80q is not readable: %w", text, err)
	}
	values := make([]any, len(parts))
	for i, p := range parts {
		if p == "" {
			return nil, fmt.Errorf("the key %.80q is not readable", text)
		}
		var err error
		switch rest := p[1:]; p[0] {
		case 'x':
			values[i], err = hex.DecodeString(rest)
		case 's':
			values[i] = rest
		case 't':
			var b []byte
			b, err = hex.DecodeString(rest)
			values[i] = string(b)
		case 'i':
			values[i], err = strconv.ParseInt(rest, 10, 64)
		case 'u':
			values[i], err = strconv.ParseUint(rest, 10, 64)
		case 'f':
			values[i], err = strconv.ParseFloat(rest, 64)
		case 'g':
			var f float64
			f, err = strconv.ParseFloat(rest, 32)
			values[i] = float32(f)
		default:
			err = fmt.Errorf("unknown type %q", p[0])
		}
		if err != nil {
			return nil, fmt.Errorf("the key %.80q is not readable: %w", text, err)
		}
	}
	return values, nil
}

// KeyText writes a key of a [plan.Rename] or a [prove.Difference] for people: bytes, and
// so IDs, as hexadecimal digits, several columns as [keys.Join] does.
func KeyText(key string) string {
	var parts []string
	if err := json.Unmarshal([]byte(key), &parts); err != nil {
		return key
	}
	for i, p := range parts {
		if p == "" {
			return key
		}
		switch p[0] {
		case 't':
			if b, err := hex.DecodeString(p[1:]); err == nil {
				p = "t" + strings.ToValidUTF8(string(b), "\ufffd")
			}
		case 'f', 'g':
			bits := map[byte]int{'f': 64, 'g': 32}[p[0]]
			if f, err := strconv.ParseFloat(p[1:], bits); err == nil {
				p = "f" + strconv.FormatFloat(f, 'g', -1, bits)
			}
		}
		parts[i] = p[1:]
	}
	return keys.Join(parts)
}
