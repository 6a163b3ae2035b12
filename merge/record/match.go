package record

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/keys"
	"mergesafe/merge/world"
)

// MatchesTable is the record of keys that became those of the same things in other
// worlds, beside [KeysTable]. For each key of a world that came here, if adding the numbers does
// not give the right key, it has the new key, and the key in this database.
const MatchesTable = sqldb.MatchesTable

func CreateMatches(d world.Dialect) string {
	if d.MySQL() {
		return "CREATE TABLE IF NOT EXISTS " + MatchesTable + ` (
			path VARCHAR(500) CHARACTER SET ascii NOT NULL, source VARCHAR(200) NOT NULL, tab VARCHAR(64) NOT NULL, col VARCHAR(64) NOT NULL, space VARCHAR(200) NOT NULL,
			old_key DECIMAL(20) NOT NULL, new_key DECIMAL(20) NOT NULL, key_here DECIMAL(20) NOT NULL,
			PRIMARY KEY (path, tab, col, old_key), KEY came (path, tab, col, new_key)` + mysqlEnd
	}
	return "CREATE TABLE IF NOT EXISTS " + MatchesTable + ` (
		path TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL, col TEXT NOT NULL, space TEXT NOT NULL,
		old_key INTEGER NOT NULL, new_key INTEGER NOT NULL, key_here INTEGER NOT NULL,
		PRIMARY KEY (path, tab, col, old_key), UNIQUE (path, tab, col, new_key)) WITHOUT ROWID`
}

// HasMatches reports whether a database has the table.
func HasMatches(ctx context.Context, on *world.Connection) (bool, error) {
	tables, err := (&Manifest{On: on}).Tables(ctx)
	return slices.Contains(tables, MatchesTable), err
}

// Oldest returns what a key of a database was in the world of an entry, if it came from there.
func Oldest(all []KeySet, k *KeySet, key keys.Integer) (keys.Integer, bool) {
	if at := Outer(all, k); at != nil {
		var ok bool
		if key, ok = Oldest(all, at, key); !ok {
			return key, false
		}
	} else if parentOf(k.Path) != "" {
		return key, false
	}
	old, _, ok := k.loadedOld(key)
	return old, ok && k.Keys.Has(old)
}

// noteMatches notes of which entries there may be matched keys.
func noteMatches(ctx context.Context, on *world.Connection, all []KeySet) error {
	known, err := HasMatches(ctx, on)
	if err != nil || !known {
		return err
	}
	for i := range all {
		all[i].matching = true
	}
	return nil
}

// LoadMatches reads the matched keys of some entries.
func LoadMatches(ctx context.Context, on *world.Connection, all []KeySet) error {
	known, err := HasMatches(ctx, on)
	if err != nil || !known {
		return err
	}
	for i := range all {
		k := &all[i]
		written, err := WrittenPairs(ctx, on, "new_key", k.Path, k.Table, k.Column)
		if err == nil {
			k.Matches, err = written.Parse()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pairsAsWritten are the rows of a record of matched keys: what they say may be damaged.
type pairsAsWritten [][2]string

// WrittenPairs reads the old keys of an entry, each with the key in another column. Its error is one of
// the database, and that of Parse is one of the record: a proof takes only the second for a finding.
func WrittenPairs(ctx context.Context, on *world.Connection, other, path, table, column string) (all pairsAsWritten, err error) {
	query := "SELECT old_key, " + other + " FROM " + MatchesTable + " WHERE path = ? AND tab = ? AND col = ?"
	err = on.Rows(ctx, query, false, []any{path, table, column}, func(row []any) (bool, error) {
		all = append(all, [2]string{world.Text(row[0]), world.Text(row[1])})
		return true, nil
	})
	return all, err
}

func (all pairsAsWritten) Parse() (*keys.Pairs, error) {
	var pairs []keys.Pair
	for _, row := range all {
		old, ok := keys.ParseInteger([]byte(row[0]))
		image, also := keys.ParseInteger([]byte(row[1]))
		if !ok || !also {
			return nil, fmt.Errorf("%s has a key that is not an integer", MatchesTable)
		}
		pairs = append(pairs, keys.Pair{Old: old, New: image})
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	return keys.NewPairs(pairs)
}

// LoadedImage is what an old key became, and whether it was matched; the matched keys are loaded.
func (k *KeySet) LoadedImage(old keys.Integer) (image keys.Integer, matched, ok bool) {
	if image, ok = k.Matches.Image(old); ok {
		plain, sum := old.Add(k.Offset)
		return image, !sum || plain != image, true
	}
	image, ok = old.Add(k.Offset)
	return image, false, ok
}

// loadedOld is what a key was, and whether it was matched.
func (k *KeySet) loadedOld(image keys.Integer) (old keys.Integer, matched, ok bool) {
	if old, ok = k.Matches.Old(image); ok {
		plain, sum := old.Add(k.Offset)
		return old, !sum || plain != image, true
	}
	if old, ok = image.Sub(k.Offset); ok {
		_, elsewhere := k.Matches.Image(old)
		ok = !elsewhere
	}
	return old, false, ok
}

// image is what an old key became.
func (k *KeySet) image(ctx context.Context, on *world.Connection, old keys.Integer) (image keys.Integer, matched, ok bool, err error) {
	one := *k
	if err := one.loadSome(ctx, on, "old_key", old); err != nil {
		return image, false, false, err
	}
	image, matched, ok = one.LoadedImage(old)
	return image, matched, ok, nil
}

// old is what a key was, if it came by the entry.
func (k *KeySet) old(ctx context.Context, on *world.Connection, image keys.Integer) (old keys.Integer, matched, known bool, err error) {
	one := *k
	if err := one.loadSome(ctx, on, "new_key", image); err != nil {
		return old, false, false, err
	}
	if one.Matches.Len() == 0 {
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
	known, err = k.Has(ctx, on, old)
	return old, matched, known, err
}

// loadSome reads the pair of one key.
func (k *KeySet) loadSome(ctx context.Context, on *world.Connection, by string, key keys.Integer) error {
	if !k.matching {
		return nil
	}
	var pairs []keys.Pair
	err := on.Rows(ctx, "SELECT old_key, new_key FROM "+MatchesTable+" WHERE path = ? AND tab = ? AND col = ? AND "+by+" = ?", true, []any{k.Path, k.Table, k.Column, key.String()}, func(row []any) (bool, error) {
		old, err := world.KeyIn(row[0], MatchesTable+".old_key")
		if err != nil {
			return false, err
		}
		image, err := world.KeyIn(row[1], MatchesTable+".new_key")
		pairs = append(pairs, keys.Pair{Old: old, New: image})
		return true, err
	})
	if err == nil && len(pairs) > 0 {
		k.Matches, err = keys.NewPairs(pairs)
	}
	return err
}
