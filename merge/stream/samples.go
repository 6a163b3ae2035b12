package stream

import (
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/rules"
)

func Cut(v []byte) string {
	const most = 60
	if len(v) > most {
		return string(v[:most]) + "..."
	}
	return string(v)
}

// RowText names a row by what the stream carries of its key.
func (s *Stream) RowText(row int) string {
	all := slice.Map(s.Carried(row)[:s.Names], Cut)
	return printable.Text(strings.Join(all, ", "))
}

// KeyRange is where the keys of one table of one world lie, in the order of
// the first world.
type KeyRange struct {
	First, Last [][]byte // as the database sent them; nil: there are no rows
}

// Conflict is rows that conflict with each other, or one row that is wrong by
// itself.
type Conflict struct {
	Rows    int64
	Members []Member // those to show
}

// Member is a row that can be fetched after the pass.
type Member struct {
	DB      *rules.Database
	Table   string
	Columns []string
	Values  [][]byte
	Names   int // columns that name it, for Source.Row; others may follow
}

func (s *Stream) Member(row int) Member {
	return Member{s.DB, s.Scan.Table, s.Scan.Carry, s.Carried(row), s.Names}
}
