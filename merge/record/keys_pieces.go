package record

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/world"
)

// A set of keys is kept in pieces, so that who looks for one key reads one piece. Each is a
// set of its own, with the keys between its ends, of at most pieceKeys keys and pieceBytes
// bytes.
const (
	PieceKeys  = 1 << 18
	PieceBytes = 512 << 10
)

// keyPiece is one row of [KeysTable].
type keyPiece struct {
	part  int64
	ends  keys.Range // of its keys; none: it has no keys
	keys  *keys.Set  // nil until it was read
	bytes []byte
}

// eachPiece calls use with the pieces of a set; an empty one has a piece without ends.
func eachPiece(s *keys.Set, use func(keyPiece) error) error {
	part := int64(0)
	var write func(keys []keys.Integer) error
	write = func(keyed []keys.Integer) error {
		set := &keys.Set{Exact: true}
		for _, n := range keyed {
			set.Add(n)
		}
		set.Finish()
		data, err := set.AppendBinary(nil)
		if err != nil {
			return err
		}
		if half := len(keyed) / 2; half > 0 && len(data) > PieceBytes {
			if err := write(keyed[:half]); err != nil {
				return err
			}
			return write(keyed[half:])
		}
		part++
		return use(keyPiece{part: part - 1, ends: set.Range(), bytes: data})
	}
	keys := make([]keys.Integer, 0, min(PieceKeys, s.Len()))
	for n := range s.All() {
		if keys = append(keys, n); len(keys) == PieceKeys {
			if err := write(keys); err != nil {
				return err
			}
			keys = keys[:0]
		}
	}
	if len(keys) > 0 || part == 0 {
		return write(keys)
	}
	return nil
}

// whole puts the pieces of an entry together, which have all been read.
func (k *KeySet) whole() (*keys.Set, error) {
	all := &keys.Set{Exact: true}
	if len(k.pieces) == 1 {
		return all, all.UnmarshalBinary(k.pieces[0].bytes)
	}
	for i := range k.pieces {
		var some keys.Set
		if err := some.UnmarshalBinary(k.pieces[i].bytes); err != nil {
			return nil, err
		}
		for n := range some.All() {
			all.Add(n)
		}
	}
	all.Finish()
	return all, nil
}

// Has reports whether an entry has a key, and reads the piece that could have it.
func (k *KeySet) Has(ctx context.Context, on *world.Connection, n keys.Integer) (bool, error) {
	if k.Keys != nil {
		return k.Keys.Has(n), nil
	}
	i := slices.IndexFunc(k.pieces, func(p keyPiece) bool { return p.ends.Meets(keys.Range{Low: n, High: n, Any: true}) })
	if i < 0 {
		return false, nil
	}
	if k.pieces[i].keys != nil {
		return k.pieces[i].keys.Has(n), nil
	}
	const query = "SELECT data FROM " + KeysTable + " WHERE path = ? AND tab = ? AND col = ? AND part = ?"
	var data []byte
	err := on.Rows(ctx, query, false, []any{k.Path, k.Table, k.Column, k.pieces[i].part}, func(row []any) (bool, error) {
		data = world.Printed(row[0])
		return true, nil
	})
	set := new(keys.Set)
	if err == nil {
		err = set.UnmarshalBinary(data)
	}
	if err != nil {
		return false, k.unread(on, err)
	}
	k.pieces[i].keys = set
	return set.Has(n), nil
}

func (k *KeySet) unread(on *world.Connection, err error) error {
	return fmt.Errorf("database %q: the keys of %s.%s of %q: %w", on.Name, k.Table, k.Column, k.Source, err)
}
