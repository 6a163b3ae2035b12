package world

import (
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/keys"
)

func WithCodec(all []string, format string) []string {
	if !keys.IsCodec(format) || slices.Contains(all, format) {
		return all
	}
	return append(all, format)
}

// ValidFormat returns an error unless a format is one. The codecs are not known yet.
func ValidFormat(format, column string) error {
	if keys.IsCodec(format) {
		return keys.Validate(format)
	}
	_, err := keys.ParseRow(format, column, nil)
	return err
}

// CodecFails says where a codec cannot work; nil if err is another error, or none. Nothing is
// known of the cell then: it must not pass for one that is wrong.
func (l *Layout) CodecFails(err error, column int, row []any) error {
	if failed, is := errors.AsType[*keys.CodecError](err); is {
		return fmt.Errorf("table %q: row %s: %s: %w", l.Table, l.KeyText(row), l.Columns[column], failed)
	}
	return nil
}
