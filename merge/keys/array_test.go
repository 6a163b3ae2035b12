package keys

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
)

func TestArray(t *testing.T) {
	run(t, []example{
		{format: "array count=u32le elem=u64le", cell: "\x02\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00", keys: "5 256", shifted: "\x02\x00\x00\x00\x05\x2d\x31\x01\x00\x00\x00\x00\x00\x2e\x31\x01\x00\x00\x00\x00"},
		{format: "array count=u8 elem=u32be", cell: "\x01\x00\x00\x00\x05", keys: "5", shifted: "\x01\x01\x31\x2d\x05"},
		{format: "array count=u16be elem=u8", cell: "\x00\x02\x05\xff", keys: "5 255", fault: `byte 2: "\x05": new value 20000005: does not fit into 1 bytes`},
		{format: "array count=u32le elem=u64le", cell: "\x00\x00\x00\x00", shifted: "\x00\x00\x00\x00"},
		{format: "array count=u8 elem=u64be then bits 0..31 tag 48..63=0x4000", cell: "\x02\x40\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x05", keys: "5", shifted: "\x02\x40\x00\x00\x00\x01\x31\x2d\x05\x00\x00\x00\x00\x00\x00\x00\x05"},

		{format: "array count=u32le elem=u64le", cell: "\x00\x00", fault: `byte 0: "\x00\x00": want a count of 4 bytes`},
		{format: "array count=u8 elem=u16le", cell: "\x01", fault: "the count is 1, but 0 bytes follow; want 2 for each"},
		{format: "array count=u8 elem=u16le", cell: "\x01ab ", fault: "the count is 1, but 3 bytes follow"},
		{format: "array count=u8 elem=u16le", cell: "\x01abcd", fault: "the count is 1, but 4 bytes follow"},
		{format: "array count=u64le elem=u64le", cell: "\x01\x00\x00\x00\x00\x00\x00\x2012345678", fault: "the count is 2305843009213693953, but 8 bytes follow"},
	})
	refused(t, map[string]string{
		"array":                            "at character 1: want count= with u8, u16le",
		"array count=u32le":                "want elem= with",
		"array count=u32 elem=u64le":       "at character 7: want count=",
		"array count=u32le elem=i64le":     "at character 19: want elem=",
		"array count=u8 elem=u8 len=4":     "len=4 does not belong here",
		"array count=u8 elem=u8 then json": "only bits may follow array",
	})
}

// The oracle is encoding/binary.
func FuzzArray(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"), uint64(20_000_000))
	f.Add([]byte("\x00\x02\x00\x01\x00\x02"), uint64(7))
	f.Fuzz(func(t *testing.T, cell []byte, offset uint64) {
		long, short := must(t, "array count=u32le elem=u64le"), must(t, "array count=u16be elem=u16be")
		tagged := must(t, "array count=u32le elem=u64le then bits 0..31 tag 48..63=0x4000")
		for _, format := range []*Format{long, short, tagged} {
			roundTrip(t, format, cell, offset)
		}
		// A valid array of these bytes, too: a random count is seldom right.
		words := make([]uint64, len(cell)/8)
		binary.Read(bytes.NewReader(cell), binary.LittleEndian, words)
		valid, _ := binary.Append(binary.LittleEndian.AppendUint32(nil, uint32(len(words))), binary.LittleEndian, words)
		roundTrip(t, tagged, valid, offset)
		var want, wantTagged []string
		for _, v := range words {
			want = append(want, fmt.Sprint(v))
			if v>>48 == 0x4000 {
				wantTagged = append(wantTagged, fmt.Sprint(uint32(v)))
			}
		}
		keys, err := long.Keys(valid)
		some, someErr := tagged.Keys(valid)
		if err != nil || someErr != nil || !slices.Equal(numbers(keys), want) || !slices.Equal(numbers(some), wantTagged) {
			t.Fatalf("%q: %v, %v; %v, %v; want %v and %v", valid, keys, err, some, someErr, want, wantTagged)
		}
		keys, err = short.Keys(cell)
		if ok := len(cell) == 0 || len(cell) >= 2 && len(cell) == 2+2*int(binary.BigEndian.Uint16(cell)); ok != (err == nil) {
			t.Fatalf("%q: %v, %v", cell, keys, err)
		}
	})
}
