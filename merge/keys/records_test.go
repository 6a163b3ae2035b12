package keys

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
)

func TestRecords(t *testing.T) {
	run(t, []example{
		{format: "records size=4 at=1 len=2 le", cell: "a\x05\x00bc\x07\x01d", keys: "5 263", fault: `byte 1: "\x05\x00": new value 20000005: does not fit into 2 bytes`},
		{format: "records size=6 at=1 len=4 le", cell: "a\x05\x00\x00\x00b", keys: "5", shifted: "a\x05\x2d\x31\x01b"},
		{format: "records size=6 at=1 len=4 be", cell: "a\x00\x00\x00\x05b", keys: "5", shifted: "a\x01\x31\x2d\x05b"},
		{format: "records size=4 at=0 len=4 le empty=0xFFFFFFFF", cell: "\xff\xff\xff\xff\x00\x00\x00\x00", keys: "0", shifted: "\xff\xff\xff\xff\x00\x2d\x31\x01"},
		{format: "records size=4 at=0 len=4 le empty=20000001", cell: "\x01\x00\x00\x00", keys: "1", fault: "is the number that the format calls empty"},
		{format: "records size=8 at=0 len=8 be", cell: "\xff\xff\xff\xff\xff\xff\xff\xff", keys: "18446744073709551615", fault: "too large"},
		{format: "records size=1 at=0 len=1", cell: "\xff", keys: "255", fault: "does not fit into 1 bytes"},
		{format: "records size=4 at=0 len=4 le", cell: "12345", fault: `byte 0: "12345": want records of 4 bytes, but there are 5 bytes`},
		{format: "records size=10 at=1 len=8 then regex '^([0-9]+) *$'", cell: "x7       1", keys: "7", fault: "needs 8 bytes but has 1"},
		{format: "records size=10 at=0 len=8 then regex '^(.{8})' width=8 pad=' '", cell: "       712", keys: "7", shifted: "2000000712"},
		{format: "records size=9 at=0 len=8 be then bits 0..31 tag 48..63=1", cell: "\x00\x01\x00\x00\x00\x00\x00\x05x", keys: "5", shifted: "\x00\x01\x00\x00\x01\x31\x2d\x05x"},
	})
	refused(t, map[string]string{
		"records":                                      "records needs size=",
		"records size=0 at=0 len=1":                    "want size= and a number from 1",
		"records size=4 len=1":                         "records needs at=",
		"records size=4 at=4 len=1":                    "at character 16: want at= and a number from 0 to 3",
		"records size=4 at=0":                          "records needs len=",
		"records size=4 at=1 len=4 le":                 "want len= and a number from 1 to 3",
		"records size=16 at=0 len=9 le":                "want len= and a number from 1 to 8",
		"records size=4 at=0 len=4":                    "want le (lowest byte first) or be",
		"records size=4 at=0 len=4 le be":              "want le",
		"records size=4 at=0 len=1 le be":              "want le",
		"records size=4 at=0 len=1 empty=256":          "want empty= and a number from 0 to 255",
		"records size=4 at=0 len=4 le then json '$'":   "le does not belong here, as the format after then reads the number",
		"records size=4 at=0 len=4 le empty=x":         "want empty= and a number",
		"records size=4 at=0 len=4 le empty=-1":        "want empty= and a number",
		"records size=4 at=0 len=4 le at=1":            "at=1 does not belong here",
		"records size=99999999999999999999 at=0 len=1": "want size= and a number",
	})
}

// The oracle is encoding/binary.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("abcdefghijklmnop"), uint8(8), uint8(3), uint64(20_000_000))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), uint8(6), uint8(1), uint64(1))
	f.Fuzz(func(t *testing.T, cell []byte, size, at uint8, offset uint64) {
		size = max(size, 4)
		at %= size - 3
		little := must(t, fmt.Sprintf("records size=%d at=%d len=4 le empty=0xFFFFFFFF", size, at))
		big := must(t, fmt.Sprintf("records size=%d at=%d len=4 be", size, at))
		roundTrip(t, little, cell, offset)
		roundTrip(t, big, cell, offset)
		roundTrip(t, must(t, fmt.Sprintf("records size=%d at=%d len=3 then regex '^[0-9 ]{3}' group=0 width=3 pad=' '", size, at)), cell, offset)
		low, err := little.Keys(cell)
		high, bigErr := big.Keys(cell)
		if want := len(cell)%int(size) == 0; (err == nil) != want || (bigErr == nil) != want {
			t.Fatalf("%d bytes, records of %d: %v, %v", len(cell), size, err, bigErr)
		}
		if err != nil {
			return
		}
		var wantLow, wantHigh []string
		for record := range slices.Chunk(cell, int(size)) {
			if v := binary.LittleEndian.Uint32(record[at:]); v != 0xFFFFFFFF {
				wantLow = append(wantLow, fmt.Sprint(v))
			}
			wantHigh = append(wantHigh, fmt.Sprint(binary.BigEndian.Uint32(record[at:])))
		}
		if !slices.Equal(numbers(low), wantLow) || !slices.Equal(numbers(high), wantHigh) {
			t.Fatalf("%q: %v and %v, want %v and %v", cell, low, high, wantLow, wantHigh)
		}
	})
}
