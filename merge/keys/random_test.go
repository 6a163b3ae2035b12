package keys

import (
	"flag"
	"math/rand/v2"
	"testing"

	"mergesafe/internal/servertest"
)

var randomCells = flag.Int("cell.random", servertest.Scale(20_000, 1_000_000), "how many random cells of each format")

// Random cells of every format: those that have it, and mutations of such. The identity
// changes nothing, and a shift only the keys, or there is an error.
func TestRandomCells(t *testing.T) {
	for name, tt := range map[string]struct{ formats, cells []string }{
		"list":    {[]string{"list sep=' ' pos=1", "list sep=' ' every", "list sep=',' every=2+1"}, []string{"1 2 3", "4711", "0 -5 18446744073709551615", "1,2,3,4", " ", "1  2"}},
		"regex":   {[]string{"regex 'item:([0-9]+)'", "regex '^([0-9A-F]+):' base=16 upper width=8 pad='0'", "regex '^([ 0-9a-f]{16}):' base=16 width=16 pad=' '"}, []string{"item:7,item:8", "0000BEEF:1", "            12ab:3:4"}},
		"json":    {[]string{"json '$.a[*].id'", "json '$.owner'", "json '$.mail' then json '$.sender'"}, []string{`{"a":[{"id":1},{"id":2}],"owner":7}`, `{"owner": -3, "x": "\u00e9"}`, `{"mail":"{\"sender\": 12}"}`, `[]`, `{"a": null}`}},
		"bits":    {[]string{"bits 0..31 tag 48..63=0x4000", "bits 0..15", "bits 24..47"}, []string{"4611686018427387906", "65535", "-1", "0"}},
		"records": {[]string{"records size=8 at=2 len=4 le empty=0xFFFFFFFF", "records size=4 at=0 len=4 be"}, []string{"abcdefgh", "\x00\x00\x01\x00\x00\x00\xff\xff", "\xff\xff\xff\xff"}},
		"array":   {[]string{"array count=u32le elem=u64le", "array count=u8 elem=u16be"}, []string{"\x01\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00", "\x02\x00\x01\x00\x02", "\x00\x00\x00\x00"}},
		"then":    {[]string{"list sep=';' every then list sep=':' pos=0", "array count=u32le elem=u64le then bits 0..31 tag 48..63=0x4000"}, []string{"7:1;8:2", "\x01\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x40"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var formats []*Format
			for _, text := range tt.formats {
				formats = append(formats, must(t, text))
			}
			rnd := rand.New(rand.NewPCG(1, uint64(len(name))))
			keys := 0
			for range *randomCells {
				c := []byte(tt.cells[rnd.IntN(len(tt.cells))])
				for range rnd.IntN(4) {
					c = mutate(rnd, c)
				}
				if shifted, err := roundTrip(t, formats[rnd.IntN(len(formats))], c, rnd.Uint64()>>rnd.IntN(64)); err == nil && len(shifted) > 0 {
					keys++
				}
			}
			if keys < *randomCells/20 {
				t.Errorf("only %d of %d cells had their format", keys, *randomCells)
			}
		})
	}
	t.Run("words", func(t *testing.T) {
		t.Parallel()
		rnd := rand.New(rand.NewPCG(1, 2))
		for range *randomCells {
			cells := [][]byte{nil, nil}
			for i := range cells {
				cells[i] = []byte([]string{"0", "7", "65535", "65536", "-1", ""}[rnd.IntN(6)])
				if rnd.IntN(3) == 0 {
					cells[i] = mutate(rnd, cells[i])
				}
			}
			wordsRoundTrip(t, string(cells[0]), string(cells[1]), rnd.Uint64()>>(32+rnd.IntN(32)), rnd.IntN(2) == 0)
		}
	})
}

// mutate changes a cell at one place.
func mutate(rnd *rand.Rand, c []byte) []byte {
	interesting := []byte("0123456789 ,;:-\"\\{}[]\x00\xffe.x")
	at, b := rnd.IntN(len(c)+1), interesting[rnd.IntN(len(interesting))]
	switch {
	case at == len(c) || rnd.IntN(3) == 0:
		return append(c[:at:at], append([]byte{b}, c[at:]...)...)
	case rnd.IntN(2) == 0:
		return append(c[:at:at], c[at+1:]...)
	default:
		c[at] = b
		return c
	}
}
