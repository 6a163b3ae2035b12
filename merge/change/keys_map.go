package change

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// MapFromPlan reads from the plan of another merge the new keys of a space there, for
// [rules.Space.Map]: worlds of several databases, of which one has the accounts, say. The space
// is the one of that name, or that with a key of that name, as "accounts.id".
func MapFromPlan(file, space string) (*rules.MapFrom, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p, err := plan.ReadPlan(bytes.NewReader(text))
	switch {
	case err != nil:
		return nil, err
	case len(p.Refusals) > 0:
		return nil, fmt.Errorf("that plan is refused (%s): first make one that can be carried out", p.Refusals[0])
	case p.Rekey == nil:
		return nil, errors.New("that plan gives no keys new values")
	}
	at := slices.IndexFunc(p.Rekey.Spaces, func(s verdict.RekeyedSpace) bool { return s.Name == space })
	if at < 0 {
		at = slices.IndexFunc(p.Rekey.Spaces, func(s verdict.RekeyedSpace) bool { return slices.Contains(s.Keys, space) })
	}
	if at < 0 {
		var names []string
		for _, s := range p.Rekey.Spaces {
			names = append(names, s.Name)
		}
		return nil, fmt.Errorf("no space of that plan is named %q or has such a key; it has %s: give this space the same name", space, strings.Join(names, ", "))
	}
	s, digest := &p.Rekey.Spaces[at], sha256.Sum256(text)
	if s.Keep != "" {
		return nil, fmt.Errorf("the space %q of that plan keeps some keys (keep = %q), which a map does not support", s.Name, s.Keep)
	}
	m := &rules.MapFrom{File: file, Digest: hex.EncodeToString(digest[:]), Space: s.Name, Offsets: make(map[string]uint64), Matched: make(map[string]*keys.Pairs)}
	for _, of := range s.Worlds {
		if m.Offsets[of.World] = of.Offset; of.Matched.Len() > 0 {
			m.Matched[of.World] = of.Matched
		}
	}
	return m, nil
}
