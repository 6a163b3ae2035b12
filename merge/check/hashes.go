package check

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"mergesafe/gameid"
)

// hashes is a set of keys that are bytes or texts, each as a hash of 64 bits: that
// two are taken for one is a matter of one in many millions of runs. A set that finds
// no more room knows only which servers the IDs in it are of: it is sparse.
type hashes struct {
	Values  []uint64 // ascending, once it is finished
	N       int64
	sparse  bool
	servers map[gameid.ServerID]bool // nil if one of the values is no ID
	room    *int64                   // values that all sets together may have
}

// maxHashes is how many keys that are bytes or texts all sets together may have.
const maxHashes = 8 << 20

// seed is the same for all sets, so that they can be compared.
var seed = maphash.MakeSeed()

func hashOf(key []byte) uint64 { return maphash.Bytes(seed, key) }

func newHashes(room *int64) *hashes {
	return &hashes{servers: make(map[gameid.ServerID]bool), room: room}
}

func (h *hashes) Add(key []byte) {
	h.N++
	if h.servers != nil {
		if s, ok := serverOf(key); ok {
			h.servers[s] = true
		} else {
			h.servers = nil
		}
	}
	if h.sparse {
		return
	}
	if *h.room == 0 {
		*h.room += int64(len(h.Values))
		h.Values, h.sparse = nil, true
		return
	}
	if len(h.Values) == cap(h.Values) && len(h.Values) > 1<<12 { // references repeat their values
		h.sort()
		h.Values = slices.Grow(h.Values, len(h.Values)/2)
	}
	*h.room--
	h.Values = append(h.Values, hashOf(key))
}

func (h *hashes) Finish() {
	h.sort()
	h.Values = slices.Clip(h.Values)
}

// sort puts the values in order, each once.
func (h *hashes) sort() {
	before := len(h.Values)
	slices.Sort(h.Values)
	h.Values = slices.Compact(h.Values)
	*h.room += int64(before - len(h.Values))
}

// within reports whether another set is known to have all keys of the set.
func (h *hashes) within(other *hashes) bool {
	if h.sparse || other.sparse {
		return false
	}
	for i, j := 0, 0; i < len(h.Values); i++ {
		for j < len(other.Values) && other.Values[j] < h.Values[i] {
			j++
		}
		if j == len(other.Values) || other.Values[j] != h.Values[i] {
			return false
		}
	}
	return true
}

// Has reports whether the key is in the set; sure is false if a sparse set cannot
// tell.
func (h *hashes) Has(key []byte) (has, sure bool) {
	if h.sparse {
		if h.servers == nil {
			return false, false
		}
		s, ok := serverOf(key)
		return false, !ok || !h.servers[s]
	}
	_, has = slices.BinarySearch(h.Values, hashOf(key))
	return has, true
}

// serverOf returns the server of what may be an ID.
func serverOf(key []byte) (gameid.ServerID, bool) {
	if len(key) != gameid.Size {
		return 0, false
	}
	return gameid.ServerID(binary.BigEndian.Uint64(key)) & gameid.MaxServer, true
}
