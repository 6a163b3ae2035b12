package keys

import (
	"slices"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	run(t, []example{
		{format: "list sep=' ' pos=0", cell: "4711 0 0 17 x ", keys: "4711", shifted: "20004711 0 0 17 x "},
		{format: "list sep=' ' pos=2", cell: "a b 7", keys: "7", shifted: "a b 20000007"},
		{format: "list sep=':' pos=1", cell: "2:-5:", keys: "-5", shifted: "2:19999995:"},
		{format: "list sep=',' every", cell: "5,7,9", keys: "5 7 9", shifted: "20000005,20000007,20000009"},
		{format: "list sep=',' every", cell: "5,7,,", keys: "5 7", shifted: "20000005,20000007,,"},
		{format: "list sep=',' every", cell: ",,", shifted: ",,"},
		{format: "list sep=', ' every", cell: "5, 7", keys: "5 7", shifted: "20000005, 20000007"},
		{format: "list sep='''' every", cell: "5'7", keys: "5 7", shifted: "20000005'20000007"},
		{format: "list sep=' ' every=2+1", cell: "a 5 b 7 ", keys: "5 7", shifted: "a 20000005 b 20000007 "},
		{format: "list sep=' ' every=3+0", cell: "5 a b 7 c d", keys: "5 7", shifted: "20000005 a b 20000007 c d"},

		{format: "list sep=' ' pos=3", cell: "1 2 3 ", fault: `byte 0: "1 2 3 ": want element 3, counted from 0, but the list has 3`},
		{format: "list sep=' ' every=2+0", cell: "1 2 3", fault: "want groups of 2, but the list has 3 elements"},
		{format: "list sep=' ' every", cell: "1  2", fault: `byte 2: "": want a whole number`},
		{format: "list sep=' ' every", cell: " 1", fault: `byte 0: "": want`},
		{format: "list sep=' ' every", cell: "1 x", fault: `byte 2: "x": want`},
		{format: "list sep=' ' every", cell: "1 007", fault: `byte 2: "007": want`},
		{format: "list sep=' ' every", cell: "-0", fault: `"-0": want`},
		{format: "list sep=' ' every", cell: "+1", fault: `"+1": want`},
		{format: "list sep=' ' every", cell: "1 18446744073709551616", fault: `byte 2: "18446744073709551616": want`},
		{format: "list sep=' ' every", cell: "1 18446744073709551615", keys: "1 18446744073709551615", fault: "18446744073709551615 + 20000000 is too large"},
	})
	refused(t, map[string]string{
		"list":                         "at character 1: want sep='...'",
		"list sep='' every":            "want sep='...'",
		"list sep='0' every":           "no digits",
		"list sep=x every":             "at character 6: want sep='...'",
		"list sep=' '":                 "want pos= or every",
		"list sep=' ' pos=0 every":     "exclude each other",
		"list sep=' ' pos=x":           "at character 14: want pos= and a number from 0 to 32767",
		"list sep=' ' pos=-1":          "want pos= and a number",
		"list sep=' ' every=2":         "at character 14: want every=2+1",
		"list sep=' ' every=2+2":       "want every=2+1",
		"list sep=' ' every=0+0":       "want every=2+1",
		"list sep=' ' every base=16":   "base=16 does not belong here",
		"list sep=' ' every evry=2+1":  "at character 20: evry=2+1 does not belong here",
		"list sep=' ' pos=0 'nothing'": "'nothing' does not belong here",
	})
}

// The oracle takes the list apart by strings.Split.
func FuzzList(f *testing.F) {
	for _, seed := range []string{"", "1 2 3 ", "4711 0 0 x ", "5 7  ", " 1", "1 18446744073709551615", "-9223372036854775808", "1 -0", "a b"} {
		f.Add(seed, uint8(0), uint8(1), uint64(20_000_000))
	}
	f.Fuzz(func(t *testing.T, cell string, pos, group uint8, offset uint64) {
		group %= 5
		text := "list sep=' ' pos=" + string('0'+rune(pos%10))
		if pos %= 10; group > 0 {
			pos %= group
			text = "list sep=' ' every=" + string('0'+rune(group)) + "+" + string('0'+rune(pos))
		}
		keys, err := must(t, text).Keys([]byte(cell))
		roundTrip(t, must(t, text), []byte(cell), offset)
		if err != nil {
			return
		}
		var want []string
		if trimmed := strings.TrimRight(cell, " "); trimmed != "" {
			for i, element := range strings.Split(trimmed, " ") {
				if i == int(pos) || group > 0 && i%int(group) == int(pos) {
					want = append(want, element)
				}
			}
		}
		if !slices.Equal(numbers(keys), want) {
			t.Fatalf("%s: %q: keys %v, want %q", text, cell, keys, want)
		}
	})
}
