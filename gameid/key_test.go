package gameid_test

import (
	"testing"

	"mergesafe/gameid"
)

// Split is the inverse of Join, and takes no value that no server has.
func TestKeyForm(t *testing.T) {
	for _, f := range gameid.KeyForms {
		for _, server := range []gameid.ServerID{1, 7, gameid.MaxServer} {
			for _, counter := range []int64{0, 1, 1<<f - 1} {
				key := f.Join(server, counter)
				if s, c, ok := f.Split(key); !ok || s != server || c != counter || key < 0 {
					t.Errorf("%d: %d of server %s is %d: %s, %d, %t", f, counter, server, key, s, c, ok)
				}
			}
		}
		for _, key := range []int64{-1, 0, 1<<f - 1, -f.Join(1, 1)} {
			if s, c, ok := f.Split(key); ok {
				t.Errorf("%d: %d is %d of server %s", f, key, c, s)
			}
		}
		if _, _, ok := (f + 1).Split(f.Join(1, 1)); ok || !f.IsValid() || (f + 1).IsValid() {
			t.Errorf("%d and %d are forms", f, f+1)
		}
	}
	if s, c, ok := gameid.Narrow.Split(int64(gameid.MaxServer+1) << gameid.Narrow); ok {
		t.Errorf("%d of server %s", c, s)
	}
}
