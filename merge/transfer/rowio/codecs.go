package rowio

import (
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/cell"
)

func WithCodec(all []string, format string) []string {
	if !cell.IsCodec(format) || slices.Contains(all, format) {
		return all
	}
	return append(all, format)
}

// ValidFormat returns an error unless a format is one. The codecs are not known yet.
func ValidFormat(format, column string) error {
	if cell.IsCodec(format) {
		return cell.Validate(format)
	}
	_, err := cell.ParseRow(format, column, nil)
	return err
}

// CodecFails says where a codec cannot work; nil if err is another error, or none. Nothing is
// known of the cell then: it must not pass for one that is wrong.
func (l *Layout) CodecFails(err error, column int, row []any) error {
	if failed, is := errors.AsType[*cell.CodecError](err); is {
		return fmt.Errorf("table %q: row %s: %s: %w", l.Table, l.KeyText(row), l.Columns[column], failed)
	}
	return nil
}
