package check

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// readNames reads the names of a renamed column that several rows have, in all
// databases that are read together.
func (r OpenReader) readNames(ctx context.Context, c Candidate) error {
	if r.UndeclaredKeys().Sets[c] != nil {
		return nil
	}
	var streams []*stream.Stream
	for _, db := range r.Facts.DBs {
		if t := db.Tables[c.Table]; t == nil || t.Column(c.Column) == nil {
			continue
		}
		streams = append(streams, r.Stream(db, r.Code, 1, catalog.Scan{
			Table: c.Table, Order: []catalog.Order{{Column: c.Column, Collation: c.collation}}, Carry: []string{c.Column}, SkipNull: true,
		}))
	}
	take, found := r.commonNames(c, streams)
	gap, err := unreadable((&stream.Collisions{Each: take}).Count(ctx, streams))
	if gap != "" {
		gap = "the names to change are not known: " + gap
	}
	if err == nil {
		found(gap)
	}
	return err
}

// commonNames takes the names of a renamed column that several rows have, as streams come upon them in their order. found
// says that these were all, or why they are not known.
func (r OpenReader) commonNames(c Candidate, streams []*stream.Stream) (take func(p stream.Position, begins bool), found func(gap string)) {
	sets, room := make(map[*rules.Database]*KeySet), new(int64)
	*room = maxHashes
	for _, db := range r.Facts.DBs {
		sets[db] = &KeySet{Integers: new(keys.Set), hashes: newHashes(room), words: newHashes(room), twice: newHashes(room), twiceWords: newHashes(room)}
	}
	none, value := r.Facts.Declared.NoNames(c.Table, c.Column), valueOf(c.Column, streams)
	seen := make(map[*rules.Database]int) // rows of the current name
	take = func(p stream.Position, begins bool) {
		if begins {
			clear(seen)
		}
		v := value(p)
		if none.Has(v) {
			return
		}
		set, form, word := sets[p.Stream.DB], p.Stream.Order(0, p.Row), folded(v)
		set.hashes.Add(form)
		set.words.Add(word)
		if seen[p.Stream.DB]++; seen[p.Stream.DB] > 1 {
			set.twice.Add(form)
			set.twiceWords.Add(word)
		}
	}
	return take, func(gap string) { r.UndeclaredKeys().Sets[c] = finishNames(sets, gap) }
}

// finishNames finishes the sets of names of all databases. gap is why they are not known, if they are not.
func finishNames(sets map[*rules.Database]*KeySet, gap string) map[*rules.Database]*KeySet {
	for _, set := range sets {
		for _, h := range []*hashes{set.hashes, set.words, set.twice, set.twiceWords} {
			if h.Finish(); h.sparse {
				gap = "there are too many changed names to look up"
			}
		}
	}
	for _, set := range sets {
		set.Gap = gap
	}
	return sets
}

// renamedCandidate returns a renamed column as what undeclared columns may name; nil if it has no texts.
func renamedCandidate(f *Facts, to rules.RenamedColumn) *Candidate {
	_, model := f.ModelOf(to.Table)
	if model == nil || model.Column(to.Column) == nil || model.Column(to.Column).Collation == "" {
		return nil
	}
	return &Candidate{Table: to.Table, Column: to.Column, Class: textClass, collation: model.Column(to.Column).Collation, renamed: true, first: to.First}
}

// renamedUnread returns a column as one that is renamed; nil if it is not, or if its names were read.
func (r OpenReader) renamedUnread(table, column string) *Candidate {
	for _, to := range r.Facts.Opts.Renames {
		if to.Table == table && to.Column == column {
			if c := renamedCandidate(r.Facts, to); c != nil && r.UndeclaredKeys().Sets[*c] == nil {
				return c
			}
		}
	}
	return nil
}

// toldApart returns what tells by which names a row will be another one than rows of other worlds that have equal values
// now: a bit for each column with names that are changed. It is nil if there is none. A column that compares otherwise than
// the names that it follows tells nothing apart, nor do names that several worlds may have of one row.
func (r *Reader) toldApart(ctx context.Context, q Question, streams []*stream.Stream) (func(at stream.Position) uint64, error) {
	type names struct {
		in string // which column, and which names
		of func(at stream.Position) bool
	}
	var all []names
	for _, to := range r.Facts.Opts.Renames {
		if len(q.Columns) > 1 && to.Table == q.Table && slices.Contains(q.Columns, to.Column) && r.Facts.Combined[q.Table] == nil { // alone it is settled as a whole
			none, value := r.Facts.Declared.NoNames(to.Table, to.Column), valueOf(to.Column, streams)
			all = append(all, names{to.Column, func(at stream.Position) bool { return !none.Has(value(at)) }})
		}
	}
	_, model := r.Facts.ModelOf(q.Table)
	for _, n := range r.Facts.NameReferences() {
		_, to := r.Facts.ModelOf(n.To.Table)
		i := slices.Index(q.Columns, n.Column)
		if n.Table != q.Table || i < 0 || n.Why != "" || to == nil || to.Column(n.To.Column) == nil {
			continue
		}
		own, name := model.Column(n.Column), to.Column(n.To.Column)
		if r.Facts.Combined[n.To.Table] != nil || own == nil || own.Kind != name.Kind || own.Collation != name.Collation {
			continue
		}
		c := Candidate{Table: n.To.Table, Column: n.To.Column, Class: textClass, collation: name.Collation, renamed: true, first: n.To.First}
		open := OpenReader{Reader: r, Code: q.Code}
		if err := open.readNames(ctx, c); err != nil {
			return nil, err
		}
		sets, carried := open.UndeclaredKeys().Sets[c], slice.Map(n.Carry(), func(column string) func(stream.Position) []byte { return valueOf(column, streams) })
		all = append(all, names{n.Column + " " + c.String(), func(at stream.Position) bool {
			has, _ := sets[at.Stream.DB].hashes.Has(at.Stream.Order(i, at.Row))
			return has && n.Names(slice.Map(carried, func(value func(stream.Position) []byte) []byte { return value(at) }))
		}})
	}
	if all == nil {
		return nil, nil
	}
	return func(at stream.Position) (told uint64) {
		for _, n := range all {
			if n.of(at) {
				told |= 1 << slices.IndexFunc(all, func(first names) bool { return first.in == n.in })
			}
		}
		return told
	}, nil
}

// Squeeze takes out what is written in different ways.
func Squeeze(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "") }

// Singulars returns what the name of a table may call one of its rows.
func Singulars(table string) []string {
	name := Squeeze(table)
	all := []string{name}
	if s, ok := strings.CutSuffix(name, "ies"); ok {
		all = append(all, s+"y")
	}
	if s, ok := strings.CutSuffix(name, "es"); ok {
		all = append(all, s)
	}
	if s, ok := strings.CutSuffix(name, "s"); ok {
		all = append(all, s)
	}
	return all
}

// PointsTo reports whether a column is called like one that holds the key of
// another table: guild_id or guild for guilds.id, role_id for role.role_id,
// owner for characters.guid.
func PointsTo(column, table, key string) bool {
	name := Squeeze(column)
	generic := slices.Contains([]string{"id", "guid", "uid", "uuid", "name", "key"}, Squeeze(key))
	if !generic && name == Squeeze(key) {
		return true
	}
	base := name
	for _, suffix := range []string{"guid", "uuid", "uid", "id"} {
		if s, ok := strings.CutSuffix(name, suffix); ok {
			base = s
			break
		}
	}
	one := Singulars(table)
	if base != "" && slices.ContainsFunc(one, func(s string) bool { return strings.HasSuffix(base, s) }) {
		return true
	}
	people := slices.ContainsFunc(one, func(s string) bool {
		return slices.Contains([]string{"character", "char", "player", "role", "user", "hero", "avatar"}, s)
	})
	return people && (slices.Contains([]string{
		"owner", "leader", "master", "creator", "sender", "receiver", "recipient", "killer", "victim", "seller", "buyer", "bidder", "member", "friend", "chr",
	}, base) || name == "guid" && Squeeze(key) == "guid")
}

// likelyFirst writes columns as table.column, those first whose names speak most for a reference.
func likelyFirst(f *Facts, columns []rules.ColumnName) []string {
	unlike := func(c rules.ColumnName) int {
		for _, table := range rules.KeyTables(f.Resolved) {
			_, model := rules.KeyModel(f.Resolved, table)
			if key := model.Key(); table != c.Table && len(key) == 1 && PointsTo(c.Column, table, key[0]) {
				return 0
			}
		}
		name := Squeeze(c.Column)
		if strings.HasSuffix(name, "id") || strings.HasSuffix(name, "owner") {
			return 1
		}
		return 2
	}
	rank := make(map[rules.ColumnName]int)
	for _, c := range columns {
		rank[c] = unlike(c)
	}
	sorted := slices.SortedFunc(slices.Values(columns), func(a, b rules.ColumnName) int {
		return cmp.Or(rank[a]-rank[b], strings.Compare(a.String(), b.String()))
	})
	return slice.Map(sorted, rules.ColumnName.String)
}
