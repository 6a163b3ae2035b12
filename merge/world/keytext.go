package world

import "strings"

// RowSamples are rows that a message names: all are counted, the first are named.
type RowSamples struct {
	Rows int64
	Keys []string // of the first ones; see [KeyText]
}

func (s *RowSamples) Add(l *Layout, row []any) {
	if s.Rows++; len(s.Keys) < MaxSamples {
		s.Keys = append(s.Keys, l.KeyText(row))
	}
}

func (s *RowSamples) String() string {
	text := "row " + strings.Join(s.Keys, ", row ")
	if s.Rows > int64(len(s.Keys)) {
		text += ", and more"
	}
	return text
}

// KeyText is the key of a row for people.
func (l *Layout) KeyText(row []any) string {
	values := l.KeyOf(row)
	for i, v := range values {
		if v == nil {
			values[i] = "NULL"
		}
	}
	key, err := EncodeKey(values)
	if err != nil {
		return "of a key that cannot be shown"
	}
	return KeyText(key)
}

// KeysOnly is how only the keys of the rows are read.
func (l *Layout) KeysOnly() *Layout {
	k := &Layout{Dialect: l.Dialect, Table: l.Table, Columns: l.KeyColumns()}
	for i, at := range l.Key {
		k.Reads, k.Text, k.big, k.Key = append(k.Reads, l.Reads[at]), append(k.Text, l.Text[at]), append(k.big, l.big[at]), append(k.Key, i)
		k.Numbers = append(k.Numbers, l.Numbers[at])
	}
	return k
}

// Become changes a row whose sum is known, and returns the sum of what it became.
func (h *Hasher) Become(row []any, sum Sum, change Changer) (Sum, error) {
	changed, err := change.Row(row)
	if err != nil || !changed {
		return sum, err
	}
	return h.Row(row)
}

// SumOf sums rows up.
func SumOf(rows [][]any) (all Sum, err error) {
	var h Hasher
	for _, row := range rows {
		sum, err := h.Row(row)
		if err != nil {
			return all, err
		}
		all = all.Add(sum)
	}
	return all, nil
}
