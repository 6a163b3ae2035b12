package record

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// Origin is a key on its way from one world into another.
type Origin struct {
	Source string       `json:"source"` // the world that had the old key
	Table  string       `json:"table"`
	Column string       `json:"column"`
	Old    keys.Integer `json:"old"`
	New    keys.Integer `json:"new"`
	Merge  string       `json:"merge"` // by which it came

	// Matched says that the key became that of the same thing in another world, which had
	// it before; see [rules.Space.Match].
	Matched bool `json:"matched,omitempty"`
}

// Whois traces a key of a table of a merged database back to the worlds that it came from: the last
// merge first. For a key that was matched these are the origins in all worlds that have the same thing,
// one after the other. It is empty if the key came by no merge: the game made it later, in a gap
// between keys that came. It is an error if no merge brought keys of such a table. Only that database is
// read.
func Whois(ctx context.Context, merged world.Database, table string, key keys.Integer) ([]Origin, error) {
	return trace(ctx, merged, "", table, func(on *world.Connection, all []KeySet) (way []Origin, err error) {
		var back func(path string, key keys.Integer) error
		back = func(path string, key keys.Integer) error {
			for i := range all {
				k := &all[i]
				if parentOf(k.Path) != path {
					continue
				}
				old, matched, known, err := k.old(ctx, on, key)
				if err != nil {
					return err
				}
				if !known {
					continue
				}
				way = append(way, k.step(old, key, matched))
				if err := back(k.Path, old); err != nil {
					return err
				}
			}
			return nil
		}
		err = back("", key)
		return way, err
	})
}

// Whereis traces a key that a table of a world had to its key in the merged database, the first
// merge first. It is empty if the world did not have the key when it was merged. It is an
// error if no merge brought keys of such a table from a world of that name.
func Whereis(ctx context.Context, merged world.Database, source, table string, key keys.Integer) ([]Origin, error) {
	return trace(ctx, merged, source, table, func(on *world.Connection, all []KeySet) ([]Origin, error) {
		for i := range all {
			k := &all[i]
			if k.Source != source {
				continue
			}
			known, err := k.Has(ctx, on, key)
			if err != nil {
				return nil, err
			}
			if !known {
				continue
			}
			var here []Origin
			for at := k; at != nil; {
				known, err := at.Has(ctx, on, key)
				if err != nil || !known { // it stayed behind by a later merge
					return here, err
				}
				image, matched, ok, err := at.image(ctx, on, key)
				if err != nil {
					return nil, err
				}
				if !ok {
					break
				}
				here = append(here, at.step(key, image, matched))
				key, at = image, Outer(all, at)
			}
			return here, nil
		}
		return nil, nil
	})
}

// EachKey calls use with every key of a table of a world that came to a merged database by a merge, and by those that came
// after, in the order of the old keys.
func EachKey(ctx context.Context, merged world.Database, source, table string, use func(Origin) error) error {
	var all []KeySet
	var later [][]link // of each
	_, err := trace(ctx, merged, source, table, func(on *world.Connection, _ []KeySet) (_ []Origin, err error) {
		if all, err = LoadKeys(ctx, on, ofTable(on), []any{table}); err == nil {
			err = LoadMatches(ctx, on, all)
		}
		m := &Manifest{On: on}
		for i := range all {
			var links []link
			if err == nil && all[i].Source == source {
				links, err = m.links(ctx, all[i].merge())
			}
			later = append(later, links)
		}
		return nil, err
	})
	if err != nil {
		return err
	}
	for i := range all {
		k := &all[i]
		if k.Source != source {
			continue
		}
		for _, l := range later[i] {
			if s := l.plan.StaysOf(l.plan.Worlds[l.world].Name, k.Table); l.world == 0 && s != nil && s.Rows() > 0 && !s.Keyed() {
				return fmt.Errorf("merge: table %q of %q: the keys of the rows that stayed behind in the merge %s are not on record", k.Table, s.World, l.plan.ID)
			}
		}
		for old := range k.Keys.All() {
			image, here, matched := k.hereNow(all, later[i], old)
			if !here {
				continue
			}
			if err := use(k.step(old, image, matched)); err != nil {
				return err
			}
		}
	}
	return nil
}

// hereNow is what a key has become by its merge and those that came after; here is false if its row stayed behind.
func (k *KeySet) hereNow(all []KeySet, later []link, old keys.Integer) (image keys.Integer, here, matched bool) {
	at := k
	image, matched, here = at.LoadedImage(old)
	for _, l := range later {
		s := l.plan.StaysOf(l.plan.Worlds[l.world].Name, k.Table)
		if here && s != nil && slices.ContainsFunc(s.Why, func(r rules.Reason) bool { return r.Keys != nil && r.Keys.HasKey(keys.Key{Integer: image}) }) {
			return image, false, false
		}
		if l.world == 0 {
			continue // which keeps its keys
		}
		if at = Outer(all, at); at == nil || !here || !at.Keys.Has(image) {
			return image, false, false
		}
		var one bool
		image, one, here = at.LoadedImage(image)
		matched = matched || one
	}
	return image, here, matched
}

// ofTable is the condition for the keys of a table, by its name as the database finds it.
func ofTable(on *world.Connection) string {
	if on.Dialect().MySQL() {
		return "tab = ?"
	}
	return "tab = ? COLLATE NOCASE"
}

// trace reads what a database remembers of a table, without the keys.
// source, if not "", is a world that keys must have come from.
func trace(ctx context.Context, merged world.Database, source, table string, way func(*world.Connection, []KeySet) ([]Origin, error)) ([]Origin, error) {
	on := &world.Connection{Database: merged}
	defer on.Close()
	if err := on.Connect(ctx); err != nil { // which names the database
		return nil, fmt.Errorf("merge: %w", err)
	}
	all, err := ReadKeys(ctx, on, false, ofTable(on), []any{table})
	if err == nil && len(all) > 0 {
		err = noteMatches(ctx, on, all)
	}
	if err != nil {
		return nil, fmt.Errorf("merge: database %q: %w", merged.Name, err)
	}
	if len(all) == 0 {
		known, err := HasKeys(ctx, on)
		if err != nil {
			return nil, fmt.Errorf("merge: database %q: %w", merged.Name, err)
		}
		if !known {
			return nil, forgotten("%q has no record of keys: no merge into it gave keys new values; give the new database of such a merge", merged.Name)
		}
		tables, err := on.Texts(ctx, "SELECT DISTINCT tab FROM "+KeysTable+" ORDER BY tab")
		if err != nil {
			return nil, fmt.Errorf("merge: database %q: %w", merged.Name, err)
		}
		return nil, forgotten("%q has no record of keys of a table %q, only of %s", merged.Name, table, strings.Join(tables, ", "))
	}
	known := source == ""
	var worlds []string
	for _, k := range all {
		if known = known || k.Source == source; !slices.Contains(worlds, k.Source) {
			worlds = append(worlds, k.Source)
		}
	}
	if !known {
		return nil, forgotten("%q has no record of keys of %q in the table %q, only of %s: use one of these as the WORLD; a first world kept its keys",
			merged.Name, source, table, strings.Join(worlds, ", "))
	}
	found, err := way(on, all)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	return found, nil
}

// forgotten is an [ErrNoMerge] that says what a database remembers instead.
func forgotten(format string, args ...any) error {
	return &forgottenError{fmt.Sprintf("merge: "+format, args...)}
}

type forgottenError struct{ text string }

func (e *forgottenError) Error() string { return e.text }

func (e *forgottenError) Is(merged error) bool { return merged == ErrNoMerge }

// parentOf returns the path of the world into which the keys of a path came; "" is that
// of the database.
func parentOf(path string) string {
	i := strings.LastIndex(path, " ")
	return path[:max(i, 0)]
}

// Outer returns the entry by which a key went on, nil if it stayed there.
func Outer(all []KeySet, k *KeySet) *KeySet {
	path := parentOf(k.Path)
	for i := range all {
		if path != "" && all[i].Path == path && all[i].Table == k.Table && all[i].Column == k.Column {
			return &all[i]
		}
	}
	return nil
}

func (k *KeySet) step(old, image keys.Integer, matched bool) Origin {
	return Origin{Source: k.Source, Table: k.Table, Column: k.Column, Old: old, New: image, Merge: k.merge(), Matched: matched}
}

// merge is the ID of the merge by which the keys came first.
func (k *KeySet) merge() string {
	id, _, _ := strings.Cut(k.Path[strings.LastIndex(k.Path, " ")+1:], ".")
	return id
}
