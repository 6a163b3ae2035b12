package check

import (
	"context"
	"errors"
	"slices"

	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// GroupQuestion asks for the rows of a column of a table, apart by the values of other columns.
type GroupQuestion struct {
	Column string
	By     func(*catalog.Table) []string                            // the other columns
	Begin  func(*stream.Stream, *rules.Database) func(row int) bool // begins a database; what it returns notes the value of a row, or says that it does not count
	Group  func(by string, value []byte) (add func())               // begins the rows with a value of another column: add adds the row noted last; nil: the column has too many values
	End    func(*rules.Database)                                    // ends a database; nil: nothing is to be done
	Forget func()                                                   // what was counted, but not which columns have too many values
}

// teller is another column in a reading: it numbers its values.
type teller struct {
	name    string
	at      int
	numbers map[string]int
	row     int // the last one whose number was looked up, and this
	number  int
}

// Read reads a table once in each database for all questions. A column that cannot be read is left out: then nothing
// is counted for a question about it, or by it. Code is that of the rule for which it reads. The first rows of a large
// table show of most columns that they have too many values: if all of them have, no more is read.
func Read(ctx context.Context, r *Reader, code, table string, questions []GroupQuestion) error {
	without := make(map[string]bool)
	for {
		var err error
		if !slices.ContainsFunc(questions, func(q GroupQuestion) bool { return q.End != nil }) {
			err = readAll(ctx, r, code, table, questions, without, true)
			forget(questions)
		}
		if err == nil {
			err = readAll(ctx, r, code, table, questions, without, false)
		}
		unsupported, ok := errors.AsType[*catalog.UnsupportedError](err)
		if !ok || unsupported.Column == "" || without[unsupported.Column] {
			return err
		}
		without[unsupported.Column] = true
		forget(questions)
	}
}

func forget(questions []GroupQuestion) {
	for _, q := range questions {
		q.Forget()
	}
}

// readAll reads all databases or, for a first look, some rows of the first one that has many.
func readAll(ctx context.Context, r *Reader, code, table string, questions []GroupQuestion, without map[string]bool, look bool) error {
	for db, t := range r.Facts.Having(table) {
		if look && db.Rows[table] <= 2*int64(r.First) {
			continue
		}
		p := &groupPass{s: r.Stream(db, code, 0, catalog.Scan{Table: table, Unsorted: true})}
		if look {
			p.s.Scan.Most = r.First
		}
		for _, q := range questions {
			if t.Column(q.Column) == nil || without[q.Column] {
				continue
			}
			by := slices.DeleteFunc(q.By(t), func(by string) bool { return without[by] || by == q.Column })
			if len(by) > 0 || q.End != nil {
				p.ask(q, db, by)
			}
		}
		if len(p.asked) == 0 {
			continue
		}
		p.s.Visit = append(p.s.Visit, p.visit)
		if err := p.s.Drain(ctx); err != nil || look {
			return err
		}
		for _, a := range p.asked {
			if a.End != nil {
				a.End(db)
			}
		}
	}
	return nil
}

// groupPass is the reading of one database.
type groupPass struct {
	s       *stream.Stream
	asked   []*asked
	tellers []*teller
}

// asked is a question in a pass.
type asked struct {
	GroupQuestion
	counts func(row int) bool
	by     []*teller
	adds   [][]func() // by these and the number of the value
}

func (p *groupPass) ask(q GroupQuestion, db *rules.Database, by []string) {
	a := &asked{GroupQuestion: q, counts: q.Begin(p.s, db)}
	for _, name := range by {
		i := slices.IndexFunc(p.tellers, func(t *teller) bool { return t.name == name })
		if i < 0 {
			i = len(p.tellers)
			p.tellers = append(p.tellers, &teller{name: name, at: p.s.Carry(name), numbers: make(map[string]int), row: -1})
		}
		a.by = append(a.by, p.tellers[i])
	}
	a.adds = make([][]func(), len(by))
	p.asked = append(p.asked, a)
}

func (p *groupPass) visit(b *catalog.Batch) {
	for row := range b.Len {
		for _, a := range p.asked {
			if len(a.by) > 0 && a.counts(row) {
				a.count(b, row)
			}
		}
	}
	for _, t := range p.tellers {
		t.row = -1
	}
}

// count adds a row to its group by each column.
func (a *asked) count(b *catalog.Batch, row int) {
	for k := 0; k < len(a.by); k++ {
		t := a.by[k]
		number := t.of(b, row)
		for len(a.adds[k]) <= number {
			a.adds[k] = append(a.adds[k], nil)
		}
		if a.adds[k][number] == nil {
			a.adds[k][number] = a.Group(t.name, b.Carry[t.at].At(row))
		}
		if add := a.adds[k][number]; add != nil {
			add()
			continue
		}
		a.by, a.adds = slices.Delete(a.by, k, k+1), slices.Delete(a.adds, k, k+1)
		k--
	}
}

// of returns the number of the value of a row; 0 is NULL.
func (t *teller) of(b *catalog.Batch, row int) int {
	if t.row == row {
		return t.number
	}
	t.row = row
	value := b.Carry[t.at].At(row)
	t.number = 0
	if value != nil {
		number, known := t.numbers[string(value)]
		if !known {
			number = 1 + len(t.numbers)
			t.numbers[string(value)] = number
		}
		t.number = number
	}
	return t.number
}
