package keys

import (
	"fmt"
	"math/big"
	"testing"
)

func TestBits(t *testing.T) {
	player, creature := fmt.Sprint(uint64(5)), fmt.Sprint(uint64(0x4000)<<48|77)
	run(t, []example{
		{format: "bits 0..31", cell: player, keys: "5", shifted: "20000005"},
		{format: "bits 0..31 tag 48..63=0x4000", cell: creature, keys: "77", shifted: fmt.Sprint(uint64(0x4000)<<48 | 20_000_077)},
		{format: "bits 0..31 tag 48..63=0x4000", cell: player, shifted: player},
		{format: "bits 0..31 tag 48..63=0", cell: player, keys: "5", shifted: "20000005"},
		{format: "bits 32..63", cell: fmt.Sprint(int64(7<<32 | 9)), keys: "7", shifted: fmt.Sprint(int64(20_000_007<<32 | 9))},
		{format: "bits 32..63", cell: fmt.Sprint(uint64(0xF0000000)<<32 | 9), keys: "4026531840", shifted: fmt.Sprint(uint64(0xF0000000+20_000_000)<<32 | 9)},
		{format: "bits 0..31", cell: "-1", keys: "4294967295", fault: "new value 4314967295: does not fit into the bits 0..31"},
		{format: "bits 0..31", cell: "-4294967296", keys: "0", shifted: "-4274967296"},
		{format: "bits 0..63", cell: "-20000000", keys: "18446744073689551616", fault: "too large"},
		{format: "bits 0..23", cell: "16777215", keys: "16777215", fault: `byte 0: "16777215": new value 36777215: does not fit into the bits 0..23`},
		{format: "bits 0..31", cell: "x", fault: "want a whole number"},
		{format: "list sep=' ' every then bits 0..31 tag 40..41=1", cell: fmt.Sprint(int64(1<<40|5), int64(2<<40|6), int64(1<<40|7)), keys: "5 7", shifted: fmt.Sprint(int64(1<<40|20_000_005), int64(2<<40|6), int64(1<<40|20_000_007))},
		{format: "regex '^([0-9A-F]{16}):' base=16 upper width=16 then bits 0..31 tag 48..63=0x4000", cell: "400000000000004D:9", keys: "77", shifted: "4000000001312D4D:9"},
	})
	refused(t, map[string]string{
		"bits":                                 "want two bits from 0 to 63",
		"bits 31..0":                           "want two bits",
		"bits 0..64":                           "want two bits",
		"bits 0-31":                            "want two bits",
		"bits 0..31=4":                         "want two bits",
		"bits 0..31 tag":                       "right is: bits 0..31, or bits 0..31 tag 48..63=0x4000",
		"bits 0..31 tag 48..63":                "right is",
		"bits 0..31 tag 48..63='5'":            "right is",
		"bits 0..31 tag 48..63=0x10000":        "at character 16: the tag 0x10000 does not fit into the bits 48..63",
		"bits 0..31 tag 31..63=1":              "a bit cannot belong to both the key and the tag",
		"bits 0..31 tag 48..63=1 tag 40..41=1": "right is",
	})
}

func TestOthers(t *testing.T) {
	f := must(t, "list sep=' ' every then bits 0..31 tag 40..47=1")
	cell := fmt.Appendf(nil, "%d %d", int64(1<<40|5), int64(2<<40|6))
	others, err := f.Others(cell)
	if err != nil || len(others) != 1 || others[0].Value.Bits != 6 || others[0].Tag != 2 || others[0].Start != 14 {
		t.Error(others, err)
	}
	if keys, err := f.Keys(cell); err != nil || len(keys) != 1 || keys[0].Tag != 1 {
		t.Error(keys, err)
	}
}

// The oracle counts with big numbers.
func FuzzBits(f *testing.F) {
	f.Add("5", uint8(0), uint8(31), uint8(48), uint8(15), uint16(0), uint64(20_000_000))
	f.Add("-9223372036854775808", uint8(32), uint8(63), uint8(0), uint8(3), uint16(0), uint64(1))
	f.Add("4611686018427387981", uint8(0), uint8(31), uint8(48), uint8(63), uint16(0x4000), uint64(20_000_000))
	f.Fuzz(func(t *testing.T, cell string, low, high, tagLow, tagHigh uint8, want uint16, offset uint64) {
		text := fmt.Sprintf("bits %d..%d tag %d..%d=%d", low, high, tagLow, tagHigh, want)
		format, err := Parse(text)
		if err != nil {
			text = fmt.Sprintf("bits %d..%d", low%64, max(low%64, high%64))
			format = must(t, text)
			low, high, tagLow, tagHigh, want = low%64, max(low%64, high%64), 0, 0, 0
		}
		keys, err := format.Keys([]byte(cell))
		shifted, shiftErr := roundTrip(t, format, []byte(cell), offset)
		if err != nil || cell == "" {
			return
		}
		slice := func(n *big.Int, low, high uint8) *big.Int {
			two64 := new(big.Int).Lsh(big.NewInt(1), 64)
			n = new(big.Int).Mod(n, two64)
			return n.Rsh(n, uint(low)).Mod(n, new(big.Int).Lsh(big.NewInt(1), uint(high-low)+1))
		}
		n, ok := new(big.Int).SetString(cell, 10)
		if !ok {
			t.Fatalf("%s: %q is no number", text, cell)
		}
		if format.bits.tagged && slice(n, tagLow, tagHigh).Uint64() != uint64(want) {
			if len(keys) > 0 || shiftErr != nil || string(shifted) != cell {
				t.Fatalf("%s: %q: keys %v, shifted %q, %v, and the tag is another", text, cell, keys, shifted, shiftErr)
			}
			return
		}
		if len(keys) != 1 || keys[0].Value.Whole().Cmp(slice(n, low, high)) != 0 {
			t.Fatalf("%s: %q: keys %v", text, cell, keys)
		}
		if shiftErr == nil { // the other bits add nothing and lose nothing
			n.Add(n, new(big.Int).Lsh(new(big.Int).SetUint64(offset), uint(low)))
			if n.String() != string(shifted) {
				t.Fatalf("%s: %q: shifted %s, want %s", text, cell, shifted, n)
			}
		}
	})
}
