package keys

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRegex(t *testing.T) {
	run(t, []example{
		{format: "regex 'item:([0-9]+)'", cell: "item:5 a item:7!", keys: "5 7", shifted: "item:20000005 a item:20000007!"},
		{format: "regex '(a|b)=(-?[0-9]+)' group=2", cell: "a=5,b=-7", keys: "5 -7", shifted: "a=20000005,b=19999993"},
		{format: "regex 'from ([0-9]+) to ([0-9]+)' group=1", cell: "from 1 to 2", keys: "1", shifted: "from 20000001 to 2"},
		{format: "regex 'from ([0-9]+) to ([0-9]+)' group=2", cell: "from 1 to 2", keys: "2", shifted: "from 1 to 20000002"},
		{format: "regex '[0-9]+' group=0", cell: "guild-5", keys: "5", shifted: "guild-20000005"},
		{format: "regex 'id=([0-9]+)|none'", cell: "none id=1", keys: "1", shifted: "none id=20000001"},
		{format: "regex 'item:([0-9]+)|^'", cell: "hello", keys: "", shifted: "hello"},
		{format: "regex 'item:([0-9]+)|^'", cell: "hello item:5", keys: "5", shifted: "hello item:20000005"},
		{format: "regex 'item:([0-9]+)|^'", cell: "item:5", keys: "5", shifted: "item:20000005"},
		{format: "regex '^([0-9a-f]+):' base=16", cell: "ff:0", keys: "255", shifted: "1312dff:0"},
		{format: "regex '^([0-9A-F]+):' base=16 upper", cell: "FF:0", keys: "255", shifted: "1312DFF:0"},
		{format: "regex '^ *([0-9A-F]{8})' base=16 upper width=8", cell: " 000000FF", keys: "255", shifted: " 01312DFF"},
		{format: "regex '^(.{9});' width=9 pad=' '", cell: "       42;", keys: "42", shifted: " 20000042;"},
		{format: "regex '^([0-9]{8})([0-9]{8})' group=2 width=8", cell: "1234567800000042", keys: "42", shifted: "1234567820000042"},
		{format: "regex '^(.{8})' width=8", cell: "00000000", keys: "0", shifted: "20000000"},
		{format: "regex '^([0-9]{8})[0-9]{8}$' width=8", cell: "0000004212345678", keys: "42", shifted: "2000004212345678"},
		{format: "regex 'it''s ([0-9]+)'", cell: "it's 5", keys: "5", shifted: "it's 20000005"},

		{format: "regex '([0-9]{8})' width=8", cell: "id=123456789", fault: `byte 2: "=123456789": this is longer than the number`},
		{format: "regex '[0-9]{8}$' group=0 width=8", cell: "id=123456789", fault: `byte 3: "123456789": this is longer than the number`},
		{format: "regex '=([0-9]{8})' width=8", cell: "id=123456789", fault: `this is longer than the number`},
		{format: "regex 'id=([0-9]+)'", cell: "none", fault: `byte 0: "none": the expression "id=([0-9]+)" does not match`},
		{format: "regex '([0-9]{1,3})'", cell: "x 4711", fault: `byte 1: " 4711": this is longer than the number that was found, "471"`},
		{format: "regex '.([0-9])$'", cell: "x=47", fault: `byte 2: "47": this is longer than the number`},
		{format: "regex '([0-9]+)'", cell: "x=-1", fault: `byte 2: "-1": this is longer than the number`},
		{format: "regex '([0-9]*)$'", cell: "x=", fault: `byte 2: "": want a whole number`},
		{format: "regex '([0-9]+)'", cell: "05", fault: `byte 0: "05": want a whole number`},
		{format: "regex '([0-9]+)' base=16", cell: "7af", fault: "this is longer than the number"},
		{format: "regex '^([0-9A-F]+):' base=16", cell: "FF:0", fault: `byte 0: "FF": want hexadecimal digits 0-9 and a-f`},
		{format: "regex '^([0-9A-Fa-f]+):' base=16 upper", cell: "Ff:0", fault: `0-9 and A-F`},
		{format: "regex '^([0-9a-f]+):' base=16", cell: "11111111111111111:0", fault: `at most 16`},
		{format: "regex '^(.{4})' width=4", cell: "0042", keys: "42", fault: `byte 0: "0042": new value 20000042: needs 8 characters, but the format has 4`},
		{format: "regex '^(.+)' width=4", cell: "00042", fault: "want 4 characters"},
		{format: "regex '^(.{4})' width=4 pad=' '", cell: "0042", fault: `without leading zeros, padded with " " to 4 characters`},
		{format: "regex '^(.{4})' width=4 pad=' '", cell: "  -1", fault: "want a whole number"},
		{format: "regex '^(.{4})' width=4 pad=' '", cell: "    ", fault: "want a whole number"},
	})
	refused(t, map[string]string{
		"regex":                                  "want an expression in quotes",
		"regex id=([0-9]+)":                      "want an expression in quotes",
		"regex [0-9]+":                           "want a space",
		"regex '('":                              "missing closing )",
		"regex '[0-9]+'":                         "the expression has no group: put the key in parentheses, or write group=0",
		"regex '(a)' group=2":                    "want a group from 0 to 1",
		"regex 'from ([0-9]+) to ([0-9]+)'":      "at character 1: the expression has 2 groups: say which one is the key, such as group=1",
		"regex '(a)(b)' then list sep=' ' every": "the expression has 2 groups",
		"regex '(a)' base=8":                     "at character 13: want base=10 or base=16",
		"regex '(a)' upper":                      "upper is for base=16",
		"regex '(a)' width=0":                    "want width= and a number from 1",
		"regex '(a)' pad=' '":                    "pad= needs width=",
		"regex '(a)' width=2 pad='7'":            "want pad= and one character",
		"regex '(a)' width=2 pad='xy'":           "want pad= and one character",
		"regex '(a)' width=2 pad=x":              "want pad='...'",
		"regex '(a)' base=16 upper=yes":          "upper has no value",
	})
}

// The oracle replaces what a simpler expression finds.
func FuzzRegex(f *testing.F) {
	for _, seed := range []string{"item:1, item:22", "item:x", "item:007", "no", "item:18446744073709551615", "item:5a", "item:\xff1", "item:0000ffff"} {
		f.Add(seed, uint64(20_000_000))
	}
	free := regexp.MustCompile(`item:([0-9]+)`)
	f.Fuzz(func(t *testing.T, cell string, offset uint64) {
		roundTrip(t, must(t, "regex 'item:([0-9a-f]{8})|.' base=16 width=8"), []byte(cell), offset)
		roundTrip(t, must(t, "regex '([0-9A-F]{1,3})' base=16 upper"), []byte(cell), offset)
		roundTrip(t, must(t, "regex 'item:(.{6})' width=6 pad=' '"), []byte(cell), offset)
		format := must(t, "regex 'item:([0-9]+)'")
		roundTrip(t, format, []byte(cell), offset)
		keys, err := format.Keys([]byte(cell))
		if err != nil {
			return
		}
		var want []string
		for _, m := range free.FindAllString(cell, -1) {
			want = append(want, strings.TrimPrefix(m, "item:"))
		}
		if !slices.Equal(numbers(keys), want) {
			t.Fatalf("%q: keys %v, want %q", cell, keys, want)
		}
	})
}
