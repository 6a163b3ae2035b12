package gameid

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"sync"
)

// ff1 is FF1 of NIST SP 800-38G (algorithms 7 and 8) for radix 2 and 80
// numerals, under one key and tweak. Names are those of the standard where it
// has them.
//
// With these parameters the standard's numbers are: u = v = 40, the two halves;
// b = 5, the bytes of a half; d = 12, of which the last 5 bytes survive the
// reduction modulo 2^40. The input of the PRF, a CBC-MAC, is P || Q, and only
// the last 6 bytes of Q, round and half, differ from call to call: the MAC up
// to there is computed once, and a round is one block of AES.
type ff1 struct {
	// aes encrypts one block. It is a func rather than a cipher.Block because
	// printers that follow pointers do not look into a func: the key is in
	// there.
	aes func(dst, src []byte)

	// mac is what the last block of the MAC starts from: the state before it,
	// and those of its bytes that never change.
	mac [2]uint64

	// blocks is room for one block each. On the stack it would escape through
	// aes.
	blocks sync.Pool
}

const (
	rounds   = 10
	halfBits = 8 * Size / 2
	halfMask = 1<<halfBits - 1
)

func newFF1(key []byte, tweak string) (*ff1, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	const lastBytes = 1 + halfBits/8 // round and half, at the end of Q

	// P, then Q without its last bytes.
	const radix = 2
	input := []byte{1, 2, 1, 0, 0, radix, rounds, halfBits}
	input = binary.BigEndian.AppendUint32(input, 2*halfBits)
	input = binary.BigEndian.AppendUint32(input, uint32(len(tweak)))
	input = append(input, tweak...)
	for len(input)%aes.BlockSize != aes.BlockSize-lastBytes {
		input = append(input, 0)
	}

	done := len(input) - len(input)%aes.BlockSize
	cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(input[:done], input[:done])
	last := input[done-aes.BlockSize : done]
	subtle.XORBytes(last, last, input[done:])

	f := &ff1{aes: block.Encrypt}
	f.mac[0] = binary.BigEndian.Uint64(last)
	f.mac[1] = binary.BigEndian.Uint64(last[8:])
	f.blocks.New = func() any { return new([aes.BlockSize]byte) }
	return f, nil
}

func (f *ff1) encrypt(a, b uint64) (uint64, uint64) {
	block := f.blocks.Get().(*[aes.BlockSize]byte)
	for i := range uint64(rounds) {
		a, b = b, (a+f.round(block, i, b))&halfMask
	}
	f.blocks.Put(block)
	return a, b
}

func (f *ff1) decrypt(a, b uint64) (uint64, uint64) {
	block := f.blocks.Get().(*[aes.BlockSize]byte)
	for i := range uint64(rounds) {
		a, b = (b-f.round(block, rounds-1-i, a))&halfMask, a
	}
	f.blocks.Put(block)
	return a, b
}

// round returns y of round i, modulo 2^40.
func (f *ff1) round(block *[aes.BlockSize]byte, i, half uint64) uint64 {
	binary.BigEndian.PutUint64(block[:8], f.mac[0])
	binary.BigEndian.PutUint64(block[8:], f.mac[1]^i<<halfBits^half)
	f.aes(block[:], block[:])
	return uint64(block[7])<<32 | uint64(binary.BigEndian.Uint32(block[8:12]))
}

// halves cuts 80 bits, given as the fields of an ID, into two of 40, and whole
// puts them together.
func halves(hi uint64, lo uint16) (a, b uint64) {
	return hi >> (64 - halfBits), hi<<16&halfMask | uint64(lo)
}

func whole(a, b uint64) (hi uint64, lo uint16) {
	return a<<(64-halfBits) | b>>16, uint16(b)
}
