package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/config"
)

// publicIDs seal the IDs that go out, and open those that come in.
type publicIDs struct {
	version int // of the key that seals
	players sealer[entity.Player]
	items   sealer[entity.Item]
	guilds  sealer[entity.Guild]
}

// newPublicIDs returns nil if there is no key.
func newPublicIDs(keys []config.PublicKey) (*publicIDs, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	p := &publicIDs{version: keys[0].Version}
	// A kind never changes: what was sealed under it would not open any more.
	err := errors.Join(
		p.players.init("player", keys),
		p.items.init("item", keys),
		p.guilds.init("guild", keys))
	return p, err
}

// publicID is an ID of kind E as the public sees it: the version of a key, and
// the ID sealed with it, as in "1-c3beb2965346a74a65fa". The version stands in
// the text rather than in the path of the URL, so that it is there wherever an
// ID is copied to, and no real ID can be taken for a public one.
type publicID[E any] string

// sealer makes public IDs of kind E, and opens them.
type sealer[E any] struct {
	kind string
	keys []sealingKey[E] // the first seals, all open
}

type sealingKey[E any] struct {
	version string
	cipher  gameid.Cipher[E]
}

func (s *sealer[E]) init(kind string, keys []config.PublicKey) error {
	s.kind = kind
	for _, k := range keys {
		cipher, err := gameid.NewCipher[E]([]byte(k.Key.Reveal()), kind)
		if err != nil {
			return err
		}
		s.keys = append(s.keys, sealingKey[E]{strconv.Itoa(k.Version), cipher})
	}
	return nil
}

func (s *sealer[E]) seal(id gameid.Of[E]) publicID[E] {
	k := s.keys[0]
	return publicID[E](k.version + "-" + k.cipher.Seal(id).String())
}

// open returns the ID that a client gave in the named field. That it opens
// says neither that there is such a thing nor who may see it.
func (s *sealer[E]) open(field, text string) (gameid.Of[E], error) {
	var none gameid.Of[E]
	if text == "" {
		return none, newProblem(http.StatusBadRequest, field, "%s is missing", field)
	}
	version, digits, _ := strings.Cut(text, "-")
	sealed, err := gameid.ParseOpaque[E](digits)
	if n, _ := strconv.Atoi(version); err != nil || n < 1 || n > config.MaxPublicVersion || strconv.Itoa(n) != version {
		return none, newProblem(http.StatusBadRequest, field,
			`%s: %.40q is not a public ID: want a version, "-" and %d hexadecimal digits`, field, text, gameid.TextSize)
	}
	i := slices.IndexFunc(s.keys, func(k sealingKey[E]) bool { return k.version == version })
	if i < 0 {
		return none, newProblem(http.StatusNotFound, field, "%s: the key of version %s is not in use here", field, version)
	}
	id, err := s.keys[i].cipher.Open(sealed)
	if err != nil {
		return none, s.notFound(field, text) // sealed by somebody else, or made up
	}
	return id, nil
}

// notFound is the answer where a public ID, given in the named field, leads
// nowhere.
func (s *sealer[E]) notFound(field, text string) error {
	return newProblem(http.StatusNotFound, field, "there is no %s %s", s.kind, text)
}

// errNoKey is the answer to players while there is no key. Trying again is of
// no use.
var errNoKey = &problem{
	Status: http.StatusServiceUnavailable,
	Title:  http.StatusText(http.StatusServiceUnavailable),
	Detail: fmt.Sprintf("this server has no key for public IDs, and shows none without: see [[public_id]] in its config.toml, or set %s", config.PublicKeyEnv),
}
