package record

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/keys"
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
			if known, err := k.Has(ctx, on, key); err != nil || !known {
				if err != nil {
					return nil, err
				}
				continue
			}
			var here []Origin
			for at := k; at != nil; {
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

// EachKey calls use with every key of a table of a world that came to a merged database by a merge,
// in the order of the old keys.
func EachKey(ctx context.Context, merged world.Database, source, table string, use func(Origin) error) error {
	var all []KeySet
	_, err := trace(ctx, merged, source, table, func(on *world.Connection, _ []KeySet) (_ []Origin, err error) {
		if all, err = LoadKeys(ctx, on, "tab = ?", []any{table}); err == nil {
			err = LoadMatches(ctx, on, all)
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
		for old := range k.Keys.All() {
			image, ok, matched := old, true, false
			for at := k; at != nil && ok; at = Outer(all, at) {
				var here bool
				image, here, ok = at.LoadedImage(image)
				matched = matched || here
			}
			if !ok {
				continue
			}
			if err := use(k.step(old, image, matched)); err != nil {
				return err
			}
		}
	}
	return nil
}

// trace reads what a database remembers of a table, without the keys.
// source, if not "", is a world that keys must have come from.
func trace(ctx context.Context, merged world.Database, source, table string, way func(*world.Connection, []KeySet) ([]Origin, error)) ([]Origin, error) {
	on := &world.Connection{Database: merged}
	defer on.Close()
	all, err := ReadKeys(ctx, on, false, "tab = ?", []any{table})
	if err == nil && len(all) > 0 {
		err = noteMatches(ctx, on, all)
	}
	if err != nil {
		return nil, fmt.Errorf("transfer: database %q: %w", merged.Name, err)
	}
	if len(all) == 0 {
		known, err := HasKeys(ctx, on)
		if err != nil {
			return nil, fmt.Errorf("transfer: database %q: %w", merged.Name, err)
		}
		if !known {
			return nil, forgotten("%q has no record of keys: no merge that gave keys new values came into it; name the new database of such a merge", merged.Name)
		}
		tables, err := on.Texts(ctx, "SELECT DISTINCT tab FROM "+KeysTable+" ORDER BY tab")
		if err != nil {
			return nil, fmt.Errorf("transfer: database %q: %w", merged.Name, err)
		}
		return nil, forgotten("%q has no record of keys of a table %q, only of %s: name one of these", merged.Name, table, strings.Join(tables, ", "))
	}
	known := source == "" || source == merged.Name
	var worlds []string
	for _, k := range all {
		if known = known || k.Source == source; !slices.Contains(worlds, k.Source) {
			worlds = append(worlds, k.Source)
		}
	}
	if !known {
		return nil, forgotten("%q has no record of keys of %q in the table %q, only of %s: name one of these as the SOURCE; "+
			"the first world of an earlier merge kept its keys: name the database that it became",
			merged.Name, source, table, strings.Join(worlds, ", "))
	}
	found, err := way(on, all)
	if err != nil {
		return nil, fmt.Errorf("transfer: %w", err)
	}
	return found, nil
}

// forgotten is an [ErrNoMerge] that says what a database remembers instead.
func forgotten(format string, args ...any) error {
	return &forgottenError{fmt.Sprintf("transfer: "+format, args...)}
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
	merge, _, _ := strings.Cut(k.Path[strings.LastIndex(k.Path, " ")+1:], ".")
	return Origin{Source: k.Source, Table: k.Table, Column: k.Column, Old: old, New: image, Merge: merge, Matched: matched}
}
