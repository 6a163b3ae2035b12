package gameid

import (
	"errors"
	"fmt"
)

// Cipher encrypts IDs of kind E into an [Opaque] form that reveals nothing about them, and
// decrypts it, without a table. Show the public only this form: in URLs, share
// links and client protocols. An [ID] itself rises with time: it says when a player
// joined and on which server. A few IDs say how many items that server makes a minute,
// and the neighbours of an ID are easy to guess.
//
// A sealed ID is an [Opaque]: 80 bits again, which look random. It has the
// text form of an ID and none of its meaning.
//
// A Cipher is a value; any number of goroutines may use it. Seal and Open take
// less than a microsecond and do not allocate. The zero Cipher has no secret, and
// panics.
//
// # What it is for, and what it is not
//
// Without the secret, a sealed ID does not tell time, server or sequence, nor
// whether two of them are close to each other; a neighbour cannot be found
// from it; and the same ID sealed for two kinds cannot be linked.
//
// Equality shows: an ID always seals to the same text, so a client that sees it twice
// knows that it is the same thing. With the secret, every sealed ID can be opened.
//
// It is not access control. A sealed ID can be passed on, and opening one says
// nothing about who sent it: check that the caller may see what it names.
//
// It is not authentication either. Every text of 20 digits opens to something. [Cipher.Open]
// can refuse only 1 in 2^20, those that open to no valid ID. A made-up text
// opens to an ID of one given server and of one given year with a probability of 1 in
// 585 million, and to the ID of one of N existing rows with a probability of N in
// 2^80: with 10^9 rows and 10^6 guesses a second, the first hit takes 38 years on
// average. So the lookup is the check, as for any other ID that a client sends. If a
// lookup is too expensive for every guess, check Server and Time of the opened ID
// first.
//
// # The secret
//
// Draw it at random ("openssl rand -hex 16", and decode that), and keep it
// with your other secrets, not beside the data. If it is lost, no link works any more,
// but no data is lost: rows hold real IDs only. Give all worlds of a fleet the
// same secret, so that links outlast a server merge as the IDs do.
//
// A sealed ID does not say with which secret it was sealed, and opening it
// with the wrong secret gives a wrong ID rather than an error. To change the
// secret, put a version beside the sealed ID, as in /v2/players/{id}, make one
// Cipher for each version, and drop the old one when its links may die.
//
// # The construction
//
// It is FF1 of NIST SP 800-38G (March 2016) over AES, with radix 2, 80
// numerals, 10 rounds and the kind as the tweak. The attacks on FF1 that we
// know of are on small domains, for which the second draft of the standard's
// revision 1 (February 2025) asks for at least 10^6; this one has 10^24. FF3,
// which that draft drops, is not used. An ID that was sealed once can always be
// opened: the construction will not change.
type Cipher[E any] struct {
	_   [0]*E // keeps Cipher[A](b) from compiling for a b of type Cipher[B]
	ff1 *ff1
}

// NewCipher returns the cipher for IDs of kind E. The secret has 16, 24 or 32
// bytes (AES-128, AES-192, AES-256); the cipher does not keep the slice.
//
// The kind is the name of E, such as "player". It must not be empty. It
// decides, together with the secret, what a sealed ID means: one that was sealed for
// players opens to something unrelated for items. So it never changes, even
// if the Go type is renamed. It need not be secret.
//
// For IDs without a kind E is any: As[any](id) goes in, and Of[any].ID comes
// out.
func NewCipher[E any](secret []byte, kind string) (Cipher[E], error) {
	switch len(secret) {
	case 16, 24, 32:
	default:
		return Cipher[E]{}, fmt.Errorf("gameid: the secret of a cipher has %d bytes, want 16, 24 or 32", len(secret))
	}
	if kind == "" {
		return Cipher[E]{}, errors.New(`gameid: the kind of a cipher is empty, want the name of what its IDs identify, such as "player"`)
	}
	f, err := newFF1(secret, kind)
	if err != nil {
		return Cipher[E]{}, fmt.Errorf("gameid: cipher: %w", err)
	}
	return Cipher[E]{ff1: f}, nil
}

// Seal returns the opaque form of id, always the same for the same id. The
// zero ID seals to the zero Opaque, which cannot be marshalled either.
func (c Cipher[E]) Seal(id Of[E]) Opaque[E] {
	if !id.IsValid() {
		return Opaque[E]{}
	}
	return sealed[E](whole(c.ff1.encrypt(halves(id.id.hi, id.id.lo))))
}

// Open returns the ID that was sealed as o. If o opens to no valid ID, the error
// is a [*ParseError]: it was made up, or sealed with another secret or for
// another kind. But nearly all such values do open, to an ID that names
// nothing: see [Cipher]. The zero Opaque is [ErrZeroID].
func (c Cipher[E]) Open(o Opaque[E]) (Of[E], error) {
	if !o.IsValid() {
		return Of[E]{}, ErrZeroID
	}
	var id ID
	id.hi, id.lo = whole(c.ff1.decrypt(halves(o.hi, o.lo)))
	if !id.IsValid() {
		return Of[E]{}, &ParseError{Input: o.String(), Reason: "it cannot be opened, so it was not sealed with this secret for this kind"}
	}
	return As[E](id), nil
}

// String and GoString keep the secret from being printed.
func (c Cipher[E]) String() string   { return "gameid.Cipher(secret)" }
func (c Cipher[E]) GoString() string { return c.String() }
