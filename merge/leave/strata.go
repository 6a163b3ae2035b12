package leave

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// Shift says what becomes of the integers of a column of a database; nil: they stay as they are.
type Shift func(db *rules.Database, table, column string) (*keys.Shift, error)

// Found is what stays behind.
type Found struct {
	Stays    []*rules.Stays // in the order of the worlds, and the tables that are read
	Says     []Judged
	Cleared  []*rules.SeveredReference // by which a row names a row that stays, and comes without the reference
	Blocking []Blocking
	Shown    *verdict.Staying
}

// Judged is what became of a statement.
type Judged struct {
	rules.Leave
	None    []string
	Counted *verdict.Counted
	Nulls   []Nulls           // rows whose condition is NULL: they come
	Where   map[string]string // by world, the digest of the keys for which the condition holds
	Rows    []int64           // that stay for this reason, of each world, in the order of all databases
}

// Nulls are rows of a world whose condition is NULL.
type Nulls struct {
	Source string
	Rows   int64
}

// Blocking is a reference that says nothing, by which rows that come refer to rows that stay.
type Blocking struct {
	*rules.SeveredReference
	Worlds []Blocked
	Apart  bool // of a table of the first world that comes as it is, since the rows of the others stay (policy skip)
}

// Blocked are its rows in one world.
type Blocked struct {
	World   string
	Rows    int64
	Largest []rules.Heavy // keys of the rows that stay to which most of them refer
}

// world is a database, and what of its rows stays behind so far.
type world struct {
	db    *rules.Database
	keys  map[string]*leftKeys            // of tables with a key
	why   map[string]map[string]*leftKeys // of the same, by table and reason
	took  map[string]time.Duration        // by reason, what the server took for a condition
	dirty map[string]bool                 // tables whose keys became more since all that refers to them was read
}

type run struct {
	*Leaving
	shift  Shift
	worlds []*world
	lock   sync.Mutex // of Found
}

// Find judges the strata. It reads the rows that the sources do not withhold.
func (l *Leaving) Find(ctx context.Context, shift Shift) (*Found, error) {
	r := &run{Leaving: l, shift: shift}
	for _, db := range l.f.DBs {
		w := &world{db: db, keys: make(map[string]*leftKeys), why: make(map[string]map[string]*leftKeys),
			dirty: make(map[string]bool), took: make(map[string]time.Duration)}
		for name, t := range l.tables {
			if w.why[name] = make(map[string]*leftKeys); t.keyed() {
				w.keys[name] = newKeys(t.Kinds)
			}
		}
		r.worlds = append(r.worlds, w)
	}
	found := new(Found)
	for _, s := range l.says {
		j := Judged{Leave: *s.Leave, Rows: make([]int64, len(r.worlds)), Where: make(map[string]string)}
		if s.Best != nil {
			refs := l.f.Declared.Role(s.Table, s.Best.Of).References
			if len(refs) == 1 && refs[0].When == nil && refs[0].Cells == nil {
				j.None = refs[0].Declared.None
			}
		}
		if s.fewer != nil {
			e := s.fewer
			j.Counted = &verdict.Counted{Table: e.Table, Column: e.Column, And: e.And, None: e.None, When: e.When}
			for db := range l.f.Having(e.Table) {
				j.Counted.In = append(j.Counted.In, db.Name)
			}
		}
		found.Says = append(found.Says, j)
	}
	steps := []func() error{
		func() error {
			return r.each(ctx, func(ctx context.Context, w *world) error { return r.judgeWhere(ctx, w, found) })
		},
		func() error { return r.judgeBest(ctx) },
		func() error { return r.each(ctx, r.drop) },
		func() error { return r.judgeFewer(ctx) },
		func() error { return r.each(ctx, r.drop) },
		func() error { return r.conclude(ctx, found) },
		func() error { return r.readCells(ctx, found) },
		func() error { return r.show(ctx, found) },
	}
	for _, do := range steps {
		if err := do(); err != nil {
			return nil, err
		}
	}
	for i, s := range l.says {
		for k, w := range r.worlds {
			for _, why := range s.whys() {
				if of := w.why[s.Table][why]; of != nil {
					found.Says[i].Rows[k] += of.n
				}
			}
		}
	}
	return found, nil
}

// whys are the reasons for which rows may stay.
func (s *said) whys() []string {
	whys := []string{s.whyWhere()}
	if s.Best != nil {
		whys = append(whys, s.Best.String())
	}
	if s.Fewer != nil {
		whys = append(whys, s.Fewer.String())
	}
	return whys
}

func (s *said) whyWhere() string { return "where " + s.Where }

func (e *edge) why() string { return "refers by " + catalog.ColumnList(e.key.Columns) + " to " + e.To }

// each lets several worlds be read at a time.
func (r *run) each(ctx context.Context, read func(ctx context.Context, w *world) error) error {
	return stream.SideBySide(ctx, r.f.DBs, func(ctx context.Context, db *rules.Database) error {
		return read(ctx, r.worlds[slices.Index(r.f.DBs, db)])
	})
}

// add notes a row that stays behind.
func (w *world) add(t *table, key keys.Key, why string) {
	if key.Among(t.kept) || !w.keys[t.name].add(key) {
		return
	}
	if w.why[t.name][why] == nil {
		w.why[t.name][why] = newKeys(t.Kinds)
	}
	w.why[t.name][why].add(key)
	w.dirty[t.name] = true
}

// judgeWhere judges the conditions of a world, twice.
func (r *run) judgeWhere(ctx context.Context, w *world, found *Found) error {
	for i, s := range r.says {
		c := s.where[w.db]
		if c == nil {
			continue
		}
		limit := cmp.Or(s.Limit, rules.LeaveLimit)
		limited, stop := context.WithTimeout(ctx, limit)
		defer stop()
		fail := func(err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case limited.Err() != nil:
				return rules.Unsuitable("%s: where: %s did not evaluate it, twice, within %s: create an index on the columns that it reads",
					s.Place(), w.db.Name, limit)
			}
			return rules.Unsuitable("%s: where: %s says: %v", s.Place(), w.db.Name, err)
		}
		asked, able := w.db.Opened.(rules.Selector)
		if !able {
			return rules.Unsuitable("%s: this kind of source cannot evaluate conditions", s.Place())
		}
		t, text := r.tables[s.Table], c.with(r.now)
		judged := r.judging(w.db.Name, s.Where)
		defer judged()
		var twice [2]*leftKeys
		for i := range twice {
			twice[i] = newKeys(t.Kinds)
			began := time.Now()
			if err := asked.Select(limited, s.Table, t.RowKey, text, func(n keys.Key) { twice[i].add(n) }); err != nil {
				return fail(err)
			}
			w.took[s.whyWhere()] = max(w.took[s.whyWhere()], time.Since(began))
		}
		if !twice[0].equal(twice[1]) {
			return rules.Unsuitable("%s: where: in %s it selected different rows the second time: want a condition that depends on the rows and :now only", s.Place(), w.db.Name)
		}
		for n := range twice[0].all {
			w.add(t, n, s.whyWhere())
		}
		n, err := asked.CountWhere(limited, s.Table, "("+text+") IS NULL")
		if err != nil {
			return fail(err)
		}
		judged()
		r.lock.Lock()
		if found.Says[i].Where[w.db.Name] = twice[0].digest(); n > 0 {
			found.Says[i].Nulls = append(found.Says[i].Nulls, Nulls{w.db.Name, n})
		}
		r.lock.Unlock()
	}
	return nil
}

// judging says, while a condition takes long, how long it has taken, until judged is called.
func (r *run) judging(source, condition string) (judged func()) {
	tell := r.f.Opts.Judging
	if tell == nil {
		return func() {}
	}
	ended, began := make(chan struct{}), time.Now()
	go func() {
		for wait := rules.JudgingSlow; ; wait = time.Second {
			select {
			case <-ended:
				return
			case <-time.After(wait):
				tell(source, condition, time.Since(began))
			}
		}
	}()
	return sync.OnceFunc(func() { close(ended) })
}

// scan reads columns of the rows of a table that are not withheld.
func (w *world) scan(ctx context.Context, scan catalog.Scan, take func(b *catalog.Batch, row int)) error {
	scan.Unsorted, scan.Numbers = true, scan.Carry
	for b, err := range w.db.Opened.Scan(ctx, scan) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return &catalog.ReadError{World: w.db.Name, Table: scan.Table, Doing: "rows", Err: err}
		}
		for row := range b.Len {
			take(b, row)
		}
	}
	return ctx.Err()
}

// reader reads a key from rows of a scan.
type reader struct {
	kinds keys.Kinds
	at    []int // in Carry
}

func reading(key rules.RowKey, scan *catalog.Scan) *reader {
	return &reader{key.Kinds, slice.Map(key.Columns, scan.Bring)}
}

func (r *reader) key(b *catalog.Batch, row int) (key keys.Key, ok bool) {
	if r.kinds == "" {
		key.Integer, ok = b.Carry[r.at[0]].Integer(row)
		return key, ok
	}
	return r.kinds.Key(func(i int) []byte { return b.Carry[r.at[i]].At(row) })
}

// following tells of rows of a scan whether they follow rows that stay behind.
type following struct {
	edges []*edge
	at    []*reader
	whens []int // in Carry
	keys  []*leftKeys
	told  []map[keys.Key]keys.Key // by what they name, if that is another key, the keys of rows that stay
}

// following adds what it has to know to a scan.
func (w *world) following(ctx context.Context, edges []*edge, scan *catalog.Scan) (*following, error) {
	f := &following{edges: edges}
	for _, e := range edges {
		told, err := w.told(ctx, e)
		if err != nil {
			return nil, err
		}
		f.at, f.keys, f.told = append(f.at, reading(e.key, scan)), append(f.keys, w.keys[e.To]), append(f.told, told)
		when := -1
		if e.When != nil {
			when = scan.Bring(e.When.Column)
		}
		f.whens = append(f.whens, when)
	}
	return f, nil
}

// told reads another key of the rows that stay so far; nil if a reference names that by which they are told.
func (w *world) told(ctx context.Context, e *edge) (map[keys.Key]keys.Key, error) {
	if e.ToKey == nil || w.db.Tables[e.To] == nil {
		return nil, nil
	}
	all, keys, scan := make(map[keys.Key]keys.Key), w.keys[e.To], catalog.Scan{Table: e.To}
	key, other := reading(rules.RowKey{Columns: e.Told, Kinds: keys.kinds}, &scan), reading(e.to, &scan)
	if keys.n == 0 {
		return all, nil
	}
	return all, w.scan(ctx, scan, func(b *catalog.Batch, row int) {
		if n, ok := key.key(b, row); ok && keys.has(n) {
			if named, ok := other.key(b, row); ok {
				all[named] = n
			}
		}
	})
}

// stays is the key of a row that stays, by what a reference names.
func (f *following) stays(i int, named keys.Key) (key keys.Key, stays bool) {
	if f.edges[i].ToKey != nil {
		key, stays = f.told[i][named]
		return key, stays
	}
	return named, f.keys[i].has(named)
}

// names is the key that a row names by a reference, if it names one.
func (f *following) names(i int, b *catalog.Batch, row int) (n keys.Key, ok bool) {
	e := f.edges[i]
	if n, ok = f.at[i].key(b, row); !ok || n.Among([]keys.Values{e.none}) {
		return n, false
	}
	return n, f.whens[i] < 0 || e.When.Holds(b.Carry[f.whens[i]].At(row))
}

// edge is the number of the first by which a row names one that stays behind; -1 if none does.
func (f *following) edge(b *catalog.Batch, row int) int {
	for i := range f.edges {
		if n, ok := f.names(i, b, row); ok {
			if _, stays := f.stays(i, n); stays {
				return i
			}
		}
	}
	return -1
}

// drop adds references to rows that stay behind, until nothing is added. Tables without a key add
// nothing: their rows are told by what they refer to, and nothing refers to them.
func (r *run) drop(ctx context.Context, w *world) error {
	for {
		next := slices.IndexFunc(r.order, func(name string) bool {
			dirty := func(e *edge) bool { return w.dirty[to(e.To, name)] || w.dirty[e.To] }
			return r.tables[name].keyed() && w.db.Tables[name] != nil && slices.ContainsFunc(r.drops(name), dirty)
		})
		if next < 0 {
			return nil
		}
		if err := r.dropIn(ctx, w, r.tables[r.order[next]]); err != nil {
			return err
		}
	}
}

// to is a table whose keys became more, for one that refers to it.
func to(table, from string) string { return table + "\x00" + from }

// dropIn reads a table once.
func (r *run) dropIn(ctx context.Context, w *world, t *table) error {
	// What became dirty is so for each table that refers to it, until that is read.
	for name := range r.tables {
		if !w.dirty[name] {
			continue
		}
		delete(w.dirty, name)
		for _, e := range r.edges {
			if e.To == name && e.says == rules.GoneDrop {
				w.dirty[to(name, e.Table)] = true
			}
		}
	}
	edges := r.drops(t.name)
	for _, e := range edges {
		delete(w.dirty, to(e.To, t.name))
	}
	scan := catalog.Scan{Table: t.name}
	key := reading(t.RowKey, &scan)
	follows, err := w.following(ctx, edges, &scan)
	if err != nil {
		return err
	}
	return w.scan(ctx, scan, func(b *catalog.Batch, row int) {
		if i := follows.edge(b, row); i >= 0 {
			if n, ok := key.key(b, row); ok {
				w.add(t, n, edges[i].why())
			}
		}
	})
}

// stays tells of the rows of a scan whether they stay behind.
func (r *run) stays(ctx context.Context, w *world, name string, scan *catalog.Scan) (func(b *catalog.Batch, row int) bool, error) {
	t := r.tables[name]
	if t == nil {
		return func(*catalog.Batch, int) bool { return false }, nil
	}
	if !t.keyed() {
		follows, err := w.following(ctx, r.drops(name), scan)
		return func(b *catalog.Batch, row int) bool { return follows.edge(b, row) >= 0 }, err
	}
	key := reading(t.RowKey, scan)
	return func(b *catalog.Batch, row int) bool {
		n, ok := key.key(b, row)
		return ok && w.keys[name].has(n)
	}, nil
}

// sorting are columns of a scan in the form that the first world compares, with the values that they will have.
func (r *run) sorting(w *world, table string, columns ...string) ([]catalog.Order, error) {
	_, model := r.f.ModelOf(table)
	all := catalog.OrderBy(columns, model)
	for i, column := range columns {
		shift, err := r.shift(w.db, table, column)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", table, column, err)
		}
		if shift.Moves() {
			all[i].Shift = shift
		}
	}
	return all, nil
}

// ordered is the value that a row has in all columns of an order.
func ordered(b *catalog.Batch, row int) string {
	if len(b.Order) == 1 {
		return string(b.Order[0].At(row))
	}
	var all []byte
	for i := range b.Order {
		v := b.Order[i].At(row)
		all = append(binary.AppendUvarint(all, uint64(len(v))), v...)
	}
	return string(all)
}

// judgeFewer finds the groups that became too small, all at once.
func (r *run) judgeFewer(ctx context.Context) error {
	type small struct {
		w   *world
		t   *table
		key keys.Key
		why string
	}
	var all []small
	for _, s := range r.says {
		if s.fewer == nil {
			continue
		}
		e, t, counts := s.fewer, r.tables[s.Table], make(map[string]int)
		for _, w := range r.worlds {
			if w.db.Tables[e.Table] == nil {
				continue
			}
			order, err := r.sorting(w, e.Table, e.key.Columns...)
			if err != nil {
				return err
			}
			scan := catalog.Scan{Table: e.Table, Order: order}
			member, err := w.following(ctx, []*edge{e}, &scan)
			if err != nil {
				return err
			}
			stays, err := r.stays(ctx, w, e.Table, &scan)
			if err != nil {
				return err
			}
			err = w.scan(ctx, scan, func(b *catalog.Batch, row int) {
				if _, ok := member.names(0, b, row); ok && !stays(b, row) {
					counts[ordered(b, row)]++
				}
			})
			if err != nil {
				return err
			}
		}
		for _, w := range r.worlds {
			if w.db.Tables[t.name] == nil {
				continue
			}
			order, err := r.sorting(w, t.name, t.Columns...)
			if err != nil {
				return err
			}
			scan := catalog.Scan{Table: t.name, Order: order}
			key := reading(t.RowKey, &scan)
			err = w.scan(ctx, scan, func(b *catalog.Batch, row int) {
				n, ok := key.key(b, row)
				if ok && !w.keys[t.name].has(n) && counts[ordered(b, row)] < s.Fewer.Than {
					all = append(all, small{w, t, n, s.Fewer.String()})
				}
			})
			if err != nil {
				return err
			}
		}
	}
	for _, s := range all {
		s.w.add(s.t, s.key, s.why)
	}
	return nil
}

// conclude says what stays behind, what is cleared, and what blocks.
func (r *run) conclude(ctx context.Context, found *Found) error {
	of := make(map[*world]map[string]*rules.Stays)
	for _, w := range r.worlds {
		of[w] = make(map[string]*rules.Stays)
		for _, name := range r.order {
			if w.db.Tables[name] == nil {
				continue
			}
			t, s := r.tables[name], &rules.Stays{World: w.db.Name, Table: name, Why: []rules.Reason{}}
			if s.Columns, s.Kinds = t.Columns, t.Kinds; t.keyed() && t.Kinds == "" {
				s.Key, s.Columns = t.Columns[0], nil
			}
			of[w][name] = s
			found.Stays = append(found.Stays, s)
			if s.Keyed() {
				for why, keys := range w.why[name] {
					s.Why = append(s.Why, rules.Reason{Why: why, Rows: keys.n, Keys: keys.set()})
				}
				slices.SortFunc(s.Why, func(a, b rules.Reason) int { return strings.Compare(a.Why, b.Why) })
			}
			for _, e := range r.drops(name) {
				by := e.Severed
				s.By = append(s.By, &by)
			}
		}
	}
	if err := rules.Link(found.Stays); err != nil {
		return err
	}
	for _, w := range r.worlds {
		for _, name := range r.order {
			if s := of[w][name]; s != nil && !s.Keyed() {
				if err := r.countBy(ctx, w, s); err != nil {
					return err
				}
			}
		}
	}
	for _, e := range r.edges {
		var all []Blocked
		for _, w := range r.worlds {
			if err := r.spelled(ctx, w, e); err != nil {
				return err
			}
			if e.says == rules.GoneDrop {
				continue
			}
			n, largest, to := int64(0), []rules.Heavy(nil), of[w][e.To]
			if to != nil && w.db.Tables[e.Table] != nil && to.Keys.Len() > 0 {
				condition := e.Naming(to.Keys).SQL(catalog.SQLName)
				if own := of[w][e.Table]; own != nil {
					condition += " AND NOT " + own.SQL(catalog.SQLName)
				}
				var err error
				if n, err = w.count(ctx, e.Table, condition); err == nil && n > 0 && e.says == "" {
					largest, err = w.db.Opened.(rules.Selector).Heaviest(ctx, e.Table, e.key, condition, shownKeys)
					err = w.referring(e.Table, err)
				}
				if err != nil {
					return err
				}
			}
			e.Counts = append(e.Counts, n)
			if n > 0 {
				all = append(all, Blocked{w.db.Name, n, largest})
			}
		}
		if e.says == rules.GoneNone {
			found.Cleared = append(found.Cleared, e.SeveredReference)
		} else if len(all) > 0 {
			found.Blocking = append(found.Blocking, Blocking{e.SeveredReference, all, false})
		}
	}
	return r.apart(ctx, of, found)
}

// count counts rows that refer to rows that may stay behind.
func (w *world) count(ctx context.Context, table, condition string) (int64, error) {
	n, err := w.db.Opened.(rules.Selector).CountWhere(ctx, table, condition)
	return n, w.referring(table, err)
}

// referring says of an error, if there is one, that it came of reading them.
func (w *world) referring(table string, err error) error {
	if err == nil {
		return nil
	}
	return &catalog.ReadError{World: w.db.Name, Table: table, Doing: "the rows that refer to rows that stay behind", Err: err}
}

// apart finds rows of the first world in tables that come as they are, if they refer to rows that stay.
func (r *run) apart(ctx context.Context, of map[*world]map[string]*rules.Stays, found *Found) error {
	for _, w := range r.worlds {
		for to, s := range of[w] {
			if w.db != r.f.Model() || !s.Keyed() || s.Rows() == 0 {
				continue
			}
			for _, ref := range r.referringTo(to, slices.Sorted(maps.Keys(w.db.Apart))) {
				key := slices.IndexFunc(r.tables[to].keys, ref.leadsTo)
				if r.f.Reset[ref.Table] || ref.Cells != nil || len(ref.Columns) != 1 || key < 0 {
					continue
				}
				severed := rules.Severed{Table: ref.Table, Column: ref.Columns[0], To: to, Partly: true,
					None: ref.Declared.None, When: ref.When, Staying: s.Keys, Told: s.RowKey().Columns}
				if !ref.leadsTo(severed.Told) {
					severed.ToKey = r.tables[to].keys[key]
					severed.ToKinds = r.f.KindsOf(to, severed.ToKey)
				}
				n, err := w.count(ctx, ref.Table, severed.SQL(catalog.SQLName))
				if err != nil {
					return err
				}
				if n > 0 {
					found.Blocking = append(found.Blocking, Blocking{&rules.SeveredReference{Severed: severed, Ref: ref.Ref},
						[]Blocked{{w.db.Name, n, nil}}, true})
				}
			}
		}
	}
	return nil
}

// spelled makes sure that no reference of texts names a row otherwise than letter by letter, as a collation would let it.
func (r *run) spelled(ctx context.Context, w *world, e *edge) error {
	at := e.to.Columns
	texts := strings.IndexByte(string(e.key.Kinds), keys.KeyText) >= 0
	if !texts || w.db.Tables[e.Table] == nil || w.db.Tables[e.To] == nil {
		return nil
	}
	var same, differ []string
	for i, column := range e.key.Columns {
		from, to := catalog.SQLName(e.Table)+"."+catalog.SQLName(column), "named."+catalog.SQLName(at[i])
		same, differ = append(same, from+" = "+to), append(differ, "HEX("+from+") <> HEX("+to+")")
	}
	n, err := w.count(ctx, e.Table, "EXISTS (SELECT 1 FROM "+catalog.SQLName(e.To)+" AS named WHERE "+
		strings.Join(same, " AND ")+" AND ("+strings.Join(differ, " OR ")+"))")
	if err == nil && n > 0 {
		err = rules.Unsuitable("%s of %s: %s by texts that differ in case, accents or spaces from those that they refer to: write both alike first",
			e.place(), w.db.Name, printable.Count(n, "row refers", "rows refer"))
	}
	return err
}

// countBy counts the rows of a table without a key of which the keys are known, by the first reference that they follow.
func (r *run) countBy(ctx context.Context, w *world, s *rules.Stays) error {
	edges := r.drops(s.Table)
	counts, scan := make([]int64, len(edges)), catalog.Scan{Table: s.Table}
	follows, err := w.following(ctx, edges, &scan)
	if err != nil {
		return err
	}
	err = w.scan(ctx, scan, func(b *catalog.Batch, row int) {
		if i := follows.edge(b, row); i >= 0 {
			counts[i]++
		}
	})
	for i, e := range edges {
		s.Why = append(s.Why, rules.Reason{Why: e.why(), Rows: counts[i]})
	}
	return err
}

// ranked is a row of a group of [rules.Best].
type ranked struct {
	by  [][]byte // nil for NULL
	w   *world
	of  int // the number of the world
	key keys.Key
}

// compare is below 0 if a comes before b.
func (s *said) compare(a, b *ranked) int {
	for i, by := range s.by {
		x, y := a.by[i], b.by[i]
		switch {
		case x == nil && y == nil:
			continue
		case x == nil:
			return 1
		case y == nil:
			return -1
		}
		c := bytes.Compare(x, y)
		if by.Descending {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Or(a.of-b.of, a.key.Compare(b.key))
}
