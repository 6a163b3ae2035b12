package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/merge/rekey"
)

// MatchesTable is the target's record of keys that became those of the same things in other
// worlds, beside [KeysTable]. For each key of a world that came here, if adding the numbers does
// not give the right key, it has the new key, and the key in this database.
const MatchesTable = sqldb.MatchesTable

func createMatches(d dialect) string {
	if d.mysql() {
		return "CREATE TABLE IF NOT EXISTS " + MatchesTable + ` (
			path VARCHAR(500) CHARACTER SET ascii NOT NULL, source VARCHAR(200) NOT NULL, tab VARCHAR(64) NOT NULL, col VARCHAR(64) NOT NULL, space VARCHAR(200) NOT NULL,
			old_key DECIMAL(20) NOT NULL, new_key DECIMAL(20) NOT NULL, key_here DECIMAL(20) NOT NULL, undone INT NOT NULL,
			PRIMARY KEY (path, tab, col, old_key), KEY came (path, tab, col, new_key)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`
	}
	return "CREATE TABLE IF NOT EXISTS " + MatchesTable + ` (
		path TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL, col TEXT NOT NULL, space TEXT NOT NULL,
		old_key INTEGER NOT NULL, new_key INTEGER NOT NULL, key_here INTEGER NOT NULL, undone INTEGER NOT NULL,
		PRIMARY KEY (path, tab, col, old_key), UNIQUE (path, tab, col, new_key)) WITHOUT ROWID`
}

// hasMatches reports whether a database has the table: one that an older program merged into
// does not.
func hasMatches(ctx context.Context, on *connection) (bool, error) {
	tables, err := (&manifest{on: on}).tables(ctx)
	return slices.Contains(tables, MatchesTable), err
}

// match is one row of the table.
type match struct {
	path, source, table, column, space string
	old, image, here                   rekey.Integer
	undone                             bool
}

// withoutMatches are the new keys of a plan without those that are matched.
func withoutMatches(r *merge.Rekeying) *merge.Rekeying {
	if r == nil {
		return nil
	}
	small := *r
	small.Spaces = slices.Clone(r.Spaces)
	for i := range small.Spaces {
		s := &small.Spaces[i]
		s.Sources = slices.Clone(s.Sources)
		for k := range s.Sources {
			s.Sources[k].Matched = nil
		}
	}
	return &small
}

// matchColumns are the key columns of a space; that without keys here has one without a table.
func (p *Plan) matchColumns(space string) (all []columnAt) {
	for _, c := range p.Rekey.Columns {
		if c.Key && c.Cases[0].Space == space {
			all = append(all, columnAt{c.Table, c.Column})
		}
	}
	if len(all) == 0 {
		all = append(all, columnAt{"", space})
	}
	return all
}

// ownMatches are the matched keys of a source.
func (r *run) ownMatches(source int) (all []match) {
	for i := range r.plan.Rekey.Spaces {
		s := &r.plan.Rekey.Spaces[i]
		for _, at := range r.plan.matchColumns(s.Name) {
			for old, image := range s.Sources[source].Matched.All() {
				all = append(all, match{path: r.path(source), source: r.plan.Sources[source].Name, table: at.table, column: at.column, space: s.Name, old: old, image: image, here: image})
			}
		}
	}
	return all
}

// broughtMatches are those that a source remembers itself, and keys that came to it and are
// matched now.
func (r *run) broughtMatches(ctx context.Context, source int, theirs []keySet) (all []match, err error) {
	src := r.sources[source]
	if err := loadMatches(ctx, src, theirs); err != nil {
		return nil, err
	}
	for i := range theirs {
		k := &theirs[i]
		known := make(map[rekey.Integer]bool)
		add := func(old rekey.Integer) {
			if known[old] {
				return
			}
			known[old] = true
			image, _, ok := k.loadedImage(old)
			here := image
			for at := outer(theirs, k); at != nil && ok; at = outer(theirs, at) {
				here, _, ok = at.loadedImage(here)
			}
			if ok {
				here, ok = r.imageOf(source, k, here)
			}
			if ok {
				all = append(all, match{r.path(source) + " " + k.Path, k.Source, k.Table, k.Column, k.Space, old, image, here, k.Undone})
			}
		}
		for old := range k.matches.All() {
			add(old)
		}
		for key := range r.pairsOf(source, k.Table, k.Column).All() {
			if old, ok := oldest(theirs, k, key); ok {
				add(old)
			}
		}
	}
	return all, nil
}

// pairsOf are the keys of a column of a source that this merge matches.
func (r *run) pairsOf(source int, table, column string) *rekey.Pairs {
	for _, c := range r.plan.Rekey.Columns {
		if c.Key && c.Table == table && c.Column == column {
			return r.plan.Rekey.Matched(c.Cases[0].Space, r.plan.Sources[source].Name)
		}
	}
	return nil
}

// imageOf is what this merge makes of a key that a source has.
func (r *run) imageOf(source int, k *keySet, key rekey.Integer) (rekey.Integer, bool) {
	for i := range r.plan.Rekey.Columns {
		if c := &r.plan.Rekey.Columns[i]; c.Key && c.Table == k.Table && c.Column == k.Column {
			shift, err := r.plan.Rekey.Shift(&c.Cases[0], r.plan.Sources[source].Name)
			if err != nil {
				return key, false
			}
			return shift.Image(key)
		}
	}
	return key, true
}

// oldest returns what a key of a database was in the world of an entry, if it came from there.
func oldest(all []keySet, k *keySet, key rekey.Integer) (rekey.Integer, bool) {
	if at := outer(all, k); at != nil {
		var ok bool
		if key, ok = oldest(all, at, key); !ok {
			return key, false
		}
	} else if parentOf(k.Path) != "" {
		return key, false
	}
	old, _, ok := k.loadedOld(key)
	return old, ok && k.Keys.Has(old) && !k.Undone
}

// saveMatches writes the matched keys of a source, and those that it brings along, in the place
// of older ones.
func (r *run) saveMatches(ctx context.Context, source int, all []match) error {
	known, err := hasMatches(ctx, r.target)
	if err != nil || !known && len(all) == 0 {
		return err
	}
	if _, err := r.target.exec(ctx, "create", createMatches(r.target.dialect()), false); err != nil {
		return err
	}
	return r.target.tx(ctx, func() error {
		if _, err := r.target.exec(ctx, "clear", "DELETE FROM "+MatchesTable+" WHERE path = ? OR path LIKE ?", false, r.path(source), r.path(source)+" %"); err != nil {
			return err
		}
		const columns = 9
		row := "(" + sqldb.Marks(columns) + ")"
		most := r.target.dialect().most(columns)
		for some := range slices.Chunk(all, most) {
			var args []any
			for _, m := range some {
				args = append(args, m.path, m.source, m.table, m.column, m.space, m.old.String(), m.image.String(), m.here.String(), map[bool]int{true: 1}[m.undone])
			}
			query := "INSERT INTO " + MatchesTable + " (path, source, tab, col, space, old_key, new_key, key_here, undone) VALUES " + strings.Repeat(row+", ", len(some)-1) + row
			if _, err := r.target.exec(ctx, "matches", query, len(some) == most, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// noteMatches notes of which entries there may be matched keys.
func noteMatches(ctx context.Context, on *connection, all []keySet) error {
	known, err := hasMatches(ctx, on)
	if err != nil || !known {
		return err
	}
	for i := range all {
		all[i].matching = true
	}
	return nil
}

// loadMatches reads the matched keys of some entries.
func loadMatches(ctx context.Context, on *connection, all []keySet) error {
	known, err := hasMatches(ctx, on)
	if err != nil || !known {
		return err
	}
	for i := range all {
		k := &all[i]
		if k.matches, err = readMatches(ctx, on, k.Path, k.Table, k.Column); err != nil {
			return err
		}
	}
	return nil
}

func readMatches(ctx context.Context, on *connection, path, table, column string) (*rekey.Pairs, error) {
	return readPairs(ctx, on, "new_key", path, table, column)
}

// readPairs reads the old keys of an entry, each with the key in another column.
func readPairs(ctx context.Context, on *connection, other, path, table, column string) (*rekey.Pairs, error) {
	written, err := writtenPairs(ctx, on, other, path, table, column)
	if err != nil {
		return nil, err
	}
	return written.parse()
}

// pairsAsWritten are the rows of a record of matched keys: what they say may be damaged.
type pairsAsWritten [][2]string

// writtenPairs reads such rows. Its error is one of the database, and that of parse is one of the
// record: a proof takes only the second for a finding.
func writtenPairs(ctx context.Context, on *connection, other, path, table, column string) (all pairsAsWritten, err error) {
	query := "SELECT old_key, " + other + " FROM " + MatchesTable + " WHERE path = ? AND tab = ? AND col = ?"
	err = on.rows(ctx, query, false, []any{path, table, column}, func(row []any) (bool, error) {
		all = append(all, [2]string{text(row[0]), text(row[1])})
		return true, nil
	})
	return all, err
}

func (all pairsAsWritten) parse() (*rekey.Pairs, error) {
	var pairs []rekey.Pair
	for _, row := range all {
		old, ok := rekey.ParseInteger([]byte(row[0]))
		image, also := rekey.ParseInteger([]byte(row[1]))
		if !ok || !also {
			return nil, fmt.Errorf("%s has a key that is not an integer", MatchesTable)
		}
		pairs = append(pairs, rekey.Pair{Old: old, New: image})
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	return rekey.NewPairs(pairs)
}

// loadedImage is what an old key became, and whether it was matched; the matched keys are loaded.
func (k *keySet) loadedImage(old rekey.Integer) (image rekey.Integer, matched, ok bool) {
	if image, ok = k.matches.Image(old); ok {
		plain, sum := old.Add(k.Offset)
		return image, !sum || plain != image, true
	}
	image, ok = old.Add(k.Offset)
	return image, false, ok
}

// loadedOld is what a key was, and whether it was matched.
func (k *keySet) loadedOld(image rekey.Integer) (old rekey.Integer, matched, ok bool) {
	if old, ok = k.matches.Old(image); ok {
		plain, sum := old.Add(k.Offset)
		return old, !sum || plain != image, true
	}
	if old, ok = image.Sub(k.Offset); ok {
		_, elsewhere := k.matches.Image(old)
		ok = !elsewhere
	}
	return old, false, ok
}

// image is what an old key became.
func (k *keySet) image(ctx context.Context, on *connection, old rekey.Integer) (image rekey.Integer, matched, ok bool, err error) {
	one := *k
	if err := one.loadSome(ctx, on, "old_key", old); err != nil {
		return image, false, false, err
	}
	image, matched, ok = one.loadedImage(old)
	return image, matched, ok, nil
}

// old is what a key was, if it came by the entry.
func (k *keySet) old(ctx context.Context, on *connection, image rekey.Integer) (old rekey.Integer, matched, known bool, err error) {
	one := *k
	if err := one.loadSome(ctx, on, "new_key", image); err != nil {
		return old, false, false, err
	}
	if one.matches.Len() == 0 {
		if plain, ok := image.Sub(k.Offset); ok { // which may have become another one
			if err := one.loadSome(ctx, on, "old_key", plain); err != nil {
				return old, false, false, err
			}
		}
	}
	old, matched, ok := one.loadedOld(image)
	if !ok {
		return old, false, false, nil
	}
	known, err = k.has(ctx, on, old)
	return old, matched, known, err
}

// loadSome reads the pair of one key.
func (k *keySet) loadSome(ctx context.Context, on *connection, by string, key rekey.Integer) error {
	if !k.matching {
		return nil
	}
	var pairs []rekey.Pair
	err := on.rows(ctx, "SELECT old_key, new_key FROM "+MatchesTable+" WHERE path = ? AND tab = ? AND col = ? AND "+by+" = ?", true, []any{k.Path, k.Table, k.Column, key.String()}, func(row []any) (bool, error) {
		old, err := keyIn(row[0], MatchesTable+".old_key")
		if err != nil {
			return false, err
		}
		image, err := keyIn(row[1], MatchesTable+".new_key")
		pairs = append(pairs, rekey.Pair{Old: old, New: image})
		return true, err
	})
	if err == nil && len(pairs) > 0 {
		k.matches, err = rekey.NewPairs(pairs)
	}
	return err
}

// matches refuses databases in which other rows are the same thing than when the plan was made.
func (f *flight) matches(ctx context.Context) error {
	if f.begun || f.hooks.blind || f.plan.Rekey == nil || !slices.ContainsFunc(f.plan.Rekey.Spaces, func(s merge.RekeyedSpace) bool { return s.By != nil }) {
		return nil
	}
	var all []merge.Source
	for i, c := range append([]*connection{f.target}, f.sources...) {
		s, err := openSource(ctx, c.Database)
		if err != nil {
			return err
		}
		defer s.Close()
		if i > 0 {
			s.Withhold(f.plan.rowsWithheld())
		}
		all = append(all, s)
	}
	now, err := merge.Matches(ctx, all, f.plan.Rekey)
	if err != nil {
		return err
	}
	for i := range f.plan.Rekey.Spaces {
		s := &f.plan.Rekey.Spaces[i]
		if s.By == nil {
			continue
		}
		if twice := now[s.Name].Twice; len(twice) > 0 {
			f.refuse(f.target.Name, s.By.Table, "values of %s occur more than once now, as the target compares: %s: plan again", s.By, strings.Join(twice, "; "))
		}
		for _, of := range s.Sources {
			if found := now[s.Name].Pairs[of.Source]; !found.Equal(of.Matched) {
				f.refuse(of.Source, s.By.Table, "%s of the space %s by %s, and %s when the plan was made, or others: %s: plan again", printable.Count(int64(found.Len()), "key is matched", "keys are matched"),
					s.Name, s.By, printable.Count(int64(of.Matched.Len()), "was", "were"), firstDifference(of.Matched, found))
			}
		}
	}
	return nil
}

// firstDifference names a key that is matched in another way.
func firstDifference(want, have *rekey.Pairs) string {
	say := func(p *rekey.Pairs, old rekey.Integer) string {
		if image, ok := p.Image(old); ok {
			return "with " + image.String()
		}
		return "with none"
	}
	for _, p := range []*rekey.Pairs{want, have} {
		for old := range p.All() {
			if a, b := say(want, old), say(have, old); a != b {
				return fmt.Sprintf("key %s %s, want %s", old, b, a)
			}
		}
	}
	return "none"
}
