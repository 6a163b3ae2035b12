package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"

	"mergesafe/merge/rules"

	"mergesafe/merge/stream"
)

// cellPass is the reading of a column with keys in its cells in one database.
type cellPass struct {
	*cellColumn
	r     *Reader
	db    *rules.Database
	first bool // the rows are read before it is known which values the keys will have
	cellsRead
}

// cellsRead is what was read.
type cellsRead struct {
	rows, keys int64
	broken     Faults
	wrong      string // what is wrong with the first of these
	others     int64  // numbers with a tag that no format is about
	other      string // one of them
	large      int64  // cells that grow and are larger than largeCell then
	unread     string // why rows could not be read
}

func (p *cellPass) column() string { return p.at.Column }

func (p *cellPass) cannotRead(reason string) { p.unread = reason }

func (p *cellPass) conclude() {
	if p.db.Tables[p.at.Table].Column(p.at.Column) != nil {
		p.passes = append(p.passes, p)
	}
}

// largeCell is how many bytes a cell may grow to. The rows of larger ones may be more than a
// database takes at once (max_allowed_packet), which is tried on them as they are.
const largeCell = 256 << 10

// cellRead is one of the references, as the rows of the pass are read.
type cellRead struct {
	*rules.Ref
	leaves func(row int) bool
	cells  func(row int) [][]byte
	shift  keys.Shift
	most   keys.Integer // if not 0: every key becomes as large as any can
}

// visit makes a stream look at the cells, give their keys the values that they will have, and note what is
// wrong.
func (p *cellPass) visit(s *stream.Stream) {
	p.cellsRead = cellsRead{}
	var all []*cellRead
	for _, ref := range p.refs {
		read := &cellRead{ref, Leaves(ref, s), cellsOf(ref.Cells, s), shiftIn(p.r.Facts.Rekeyed, p.db, p.at, ref), keys.Integer{}}
		if p.first && p.db != p.r.Facts.Model() {
			read.most = mostIn(p.r.Facts, p.at, ref)
		}
		all = append(all, read)
	}
	_, model := p.r.Facts.ModelOf(p.at.Table)
	rooms := make(map[string]room)
	for _, c := range model.Columns {
		rooms[c.Name] = roomOf(&c, p.r.Facts.Model().Catalog.Engine)
	}
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			p.rows++
			if s.Broken != nil {
				return
			}
			if err := p.row(s, all, rooms, row); err != nil && !s.CodecFails(err, p.at.Column, row) {
				if p.broken.Rows == 0 {
					p.wrong = "row " + s.RowText(row) + ": " + err.Error()
				}
				p.broken.Add(s, row)
			}
		}
	})
}

// row reads one row.
func (p *cellPass) row(s *stream.Stream, all []*cellRead, rooms map[string]room, row int) error {
	var formats []*keys.Row
	var about []*cellRead
	for _, ref := range all {
		if !ref.leaves(row) {
			formats, about = append(formats, ref.Ref.Cells), append(about, ref)
		}
	}
	found := make(map[int]bool) // where the keys begin
	changed, err := keys.SpliceAll(formats, func(column string) []byte { return s.CarriedAt(s.Carry(column), row) }, func(i int, k keys.CellKey) (keys.Integer, error) {
		p.keys++
		found[k.Start] = true
		v, ok := about[i].shift.Image(k.Value)
		if !ok {
			return v, fmt.Errorf("%s plus %d is larger than any column can hold", k.Value, about[i].shift.By)
		}
		if most := about[i].most; v.Less(most) && !about[i].None.HasInteger(k.Value) {
			v = most
		}
		return v, nil
	})
	if err != nil {
		return err
	}
	for column, v := range changed {
		if len(v) > largeCell && len(v) > len(s.CarriedAt(s.Carry(column), row)) {
			p.large++
		}
		if problem := rooms[column].problem(v); problem != "" {
			return fmt.Errorf("with new keys %s is %s: %s", column, printable.Text(stream.Cut(v)), problem)
		}
	}
	for _, ref := range about {
		others, _ := ref.Ref.Cells.Others(ref.cells(row))
		for _, k := range others {
			if !found[k.Start] && !slices.ContainsFunc(about, func(r *cellRead) bool { return r.Declared.Others == rules.OthersPlain }) {
				found[k.Start] = true // once for all formats
				p.others++
				p.other = fmt.Sprintf("0x%x", k.Tag)
			}
		}
	}
	return nil
}

// addCells makes a stream judge the keys in cells before their new values are known: as if each became the largest that it can
// become. If all have room then, every one has.
func (r *spaceReader) addCells(s *stream.Stream) {
	odd := func(ref *rules.Ref) bool { return !ref.Cells.Steady() }
	for _, c := range cellColumns(r.Facts, s.Scan.Table) {
		if s.DB != r.Facts.Model() && slices.ContainsFunc(c.refs, odd) {
			continue
		}
		if s.DB.Tables[c.at.Table].Column(c.at.Column) != nil {
			p := &cellPass{cellColumn: c, r: r.Reader, db: s.DB, first: true}
			p.visit(s)
			r.found.in[s.DB].cells[c.at] = p
		}
	}
}

// cellsOf returns what was read of the keys in the cells of a column, if nothing is wrong with them; otherwise nil.
func (k *Rekeyed) cellsOf(db *rules.Database, at rules.ColumnName) *cellsRead {
	if k == nil || k.Read.in[db].cells[at] == nil {
		return nil
	}
	if read := &k.Read.in[db].cells[at].cellsRead; read.broken.Rows == 0 && read.large == 0 {
		return read
	}
	return nil
}

// mostIn is the largest number that a key in cells may become, of a reference to keys that move.
func mostIn(f *Facts, at rules.ColumnName, ref *rules.Ref) (most keys.Integer) {
	if f.Moving.Columns[at] == nil {
		return most
	}
	if n, known := ref.Cells.Most(); known {
		return n
	}
	for _, c := range f.Moving.Columns[at].Cases {
		if c.Ref == nil || !c.Ref.Same(ref) {
			continue
		}
		for _, to := range c.Space.Columns {
			if n, known := mostOf(f.Resolved, to); known && most.Less(n) {
				most = n
			} else if !known {
				most = keys.Integer{Bits: math.MaxUint64}
			}
		}
	}
	return most
}

// shiftIn is what becomes of the keys that a reference names in cells of a database.
func shiftIn(k *Rekeyed, db *rules.Database, at rules.ColumnName, ref *rules.Ref) keys.Shift {
	shift := keys.Shift{Stay: ref.None}
	m := k.moved(at.Table, at.Column)
	if m == nil {
		return shift
	}
	for _, c := range m.Cases {
		if c.Ref != nil && c.Ref.Same(ref) {
			shift = *k.shiftOf(c.Space, db, ref.None)
		}
	}
	return shift
}

// room is what a column takes.
type room struct {
	length     int // 0: any
	characters bool
	wide       int // bytes that each character takes at most, where that is not as in UTF-8; 0: it is
	number     bool
	most       keys.Integer
}

// lengths are the bytes that texts and blobs of MySQL and MariaDB take.
var lengths = map[string]int{"tinytext": 1<<8 - 1, "tinyblob": 1<<8 - 1, "text": 1<<16 - 1, "blob": 1<<16 - 1, "mediumtext": 1<<24 - 1, "mediumblob": 1<<24 - 1}

func roomOf(c *catalog.Column, engine string) (r room) {
	if c.Kind == catalog.KindInteger {
		r.number = true
		if most, known := c.Most(engine); known {
			r.most = most
		}
		return r
	}
	if engine == "sqlite" {
		return r
	}
	declared := strings.ToLower(c.Type)
	name, rest, sized := strings.Cut(declared, "(")
	name, _, _ = strings.Cut(name, " ")
	if sized {
		fmt.Sscanf(rest, "%d", &r.length)
		r.characters = name == "varchar" || name == "char"
		return r
	}
	r.length = lengths[name]
	for set, bytes := range map[string]int{"ucs2": 2, "utf16": 4, "utf32": 4} {
		if strings.HasPrefix(c.Collation, set) {
			r.wide = bytes
		}
	}
	return r
}

// problem says why a value has no room, or returns "".
func (r room) problem(v []byte) string {
	if r.number {
		if n, ok := keys.ParseInteger(v); ok && !n.Negative && r.most.Less(n) {
			return "the column takes at most " + r.most.String()
		}
		return ""
	}
	length, what := len(v), "bytes"
	if r.characters {
		length, what = utf8.RuneCount(v), "characters"
	} else if r.wide > 0 {
		length = utf8.RuneCount(v) * r.wide
	}
	if r.length > 0 && length > r.length {
		return fmt.Sprintf("these are %d %s, and the column takes %d", length, what, r.length)
	}
	return ""
}
