package config

import (
	"encoding/hex"
	"fmt"
	"strings"

	"mergesafe/internal/strict"
)

// PublicKey is a key that seals the IDs which the public sees.
type PublicKey struct {
	// Version tells its IDs from those of other keys: 1 to MaxPublicVersion.
	Version int

	// Key has 16, 24 or 32 bytes, as they are.
	Key Secret
}

// MaxPublicVersion is the highest version of a [PublicKey].
const MaxPublicVersion = 999

// PublicKeyEnv names the environment variable that holds the key of version 1
// where the file has no [[public_id]].
const PublicKeyEnv = "PUBLIC_ID_KEY"

// publicID is one [[public_id]].
type publicID struct {
	version int
	key     held
}

const wantKey = `want 32, 48 or 64 hexadecimal digits, such as "openssl rand -hex 16" prints`

var keyForm = form{"key", wantKey, isKey}

func isKey(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && (len(b) == 16 || len(b) == 24 || len(b) == 32)
}

// publicIDs reads all [[public_id]].
func publicIDs(root *strict.Section) (all []publicID) {
	lines := make(map[int]int)
	root.Sections("public_id", func(s *strict.Section) {
		id := publicID{int(s.Integer("version", 1, MaxPublicVersion)), readHeld(s, "key", keyForm)}
		if !s.Has("version") {
			s.Lacks("version", "want a number from 1 to %d, another one for every key", MaxPublicVersion)
		} else if first, taken := lines[id.version]; taken && id.version != 0 {
			s.Problem("version", "%d is that of the key in line %d already", id.version, first)
		} else {
			lines[id.version] = s.Line("version")
		}
		all = append(all, id)
	})
	return all
}

// PublicKeys returns the keys of public IDs, in the order of the file: the
// first is to seal, all are to open. Where the file has none, it is the one of
// version 1 in the environment variable [PublicKeyEnv], if that is set, or
// none at all.
func (c *Config) PublicKeys(lookup func(name string) (value string, ok bool)) ([]PublicKey, error) {
	if len(c.publicIDs) == 0 {
		if _, ok := lookup(PublicKeyEnv); !ok {
			return nil, nil
		}
		text, problem := fromEnv(PublicKeyEnv, lookup, keyForm)
		if problem != "" {
			return nil, fmt.Errorf("config: the environment variable %s %s", PublicKeyEnv, problem)
		}
		key := PublicKey{1, decodeKey(text)}
		if problem := key.weak(); problem != "" {
			return nil, fmt.Errorf("config: the environment variable %s holds a key that %s", PublicKeyEnv, problem)
		}
		return []PublicKey{key}, nil
	}
	var keys []PublicKey
	for _, id := range c.publicIDs {
		text, err := id.key.find(lookup, keyForm)
		if err != nil {
			return nil, err
		}
		key := PublicKey{id.version, decodeKey(text)}
		if problem := key.weak(); problem != "" {
			return nil, id.key.error(problem)
		}
		for _, other := range keys {
			if other.Key.Reveal() == key.Key.Reveal() {
				return nil, id.key.error(fmt.Sprintf("is the same key as that of version %d: want another one for every version", other.Version))
			}
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// weak returns what is wrong with a key of the right form, or "".
func (k PublicKey) weak() string {
	if strings.Trim(k.Key.Reveal(), "\x00") != "" {
		return ""
	}
	return `is all zeros, which anybody can guess: draw one with "openssl rand -hex 16"`
}

// decodeKey returns the bytes of a key that has its form.
func decodeKey(text Secret) Secret {
	b, _ := hex.DecodeString(text.Reveal())
	return NewSecret(string(b))
}
