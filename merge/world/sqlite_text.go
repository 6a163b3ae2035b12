package world

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// sqliteText returns the encoding by which texts sort under one of SQLite's
// own collations; nil for a collation that the game has added.
func sqliteText(collation string) encode {
	switch strings.ToUpper(collation) {
	case "BINARY":
		return sqliteBinary
	case "NOCASE":
		return sqliteNoCase
	case "RTRIM":
		return sqliteRTrim
	default:
		return nil
	}
}

func sqliteBinary(dst []byte, src any) ([]byte, error) {
	if s, ok := src.(string); ok {
		return append(dst, s...), nil
	}
	return dst, &mismatch{text, src}
}

// sqliteRTrim leaves out spaces at the end, and no other white space.
func sqliteRTrim(dst []byte, src any) ([]byte, error) {
	start := len(dst)
	dst, err := sqliteBinary(dst, src)
	return dst[:start+len(bytes.TrimRight(dst[start:], " "))], err
}

// sqliteNoCase folds the letters A to Z, and no others. SQLite compares up to
// a NUL only, and then by length: what follows the NUL is replaced by the
// length.
func sqliteNoCase(dst []byte, src any) ([]byte, error) {
	start := len(dst)
	dst, err := sqliteBinary(dst, src)
	value := dst[start:]
	for i, c := range value {
		switch {
		case c >= 'A' && c <= 'Z':
			value[i] = c + ('a' - 'A')
		case c == 0:
			return binary.BigEndian.AppendUint64(dst[:start+i+1], uint64(len(value))), err
		}
	}
	return dst, err
}
