package check

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var formNames = map[tokenForm]string{tokenWord: "word", TokenDecimal: "decimal", tokenHex: "hex", tokenHexWord: "hexword", tokenID: "id", tokenUUID: "uuid", tokenAddress: "address"}

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		" ,;|":                                 "",
		"Aria":                                 "word Aria",
		"face":                                 "hexword face",
		"1a":                                   "hex 1a",
		"0x1A":                                 "hex 0x1A",
		"0x":                                   "word 0x",
		"0xg":                                  "word 0xg",
		"x12":                                  "word x12",
		"a_1":                                  "word a_1",
		"12":                                   "decimal 12",
		"-12":                                  "decimal 12",
		"007":                                  "decimal 007",
		"1000001 0 1000002 0":                  "decimal 1000001, decimal 0, decimal 1000002, decimal 0",
		"1.5":                                  "decimal 1, decimal 5",
		"10.0.0.1":                             "address 10.0.0.1",
		"at 10.0.0.1:80":                       "word at, address 10.0.0.1, decimal 80",
		"10.0.0.1.5":                           "decimal 10, decimal 0, decimal 0, decimal 1, decimal 5",
		"10.0.0.1.":                            "address 10.0.0.1",
		"10.0.0":                               "decimal 10, decimal 0, decimal 0",
		"10.0.0.1a":                            "decimal 10, decimal 0, decimal 0, hex 1a",
		`{"id":[5,77],"x":true}`:               "word id, decimal 5, decimal 77, word x, word true",
		"0123456789abcdef":                     "hex 0123456789abcdef",
		"0123456789abcdef0":                    "word 0123456789abcdef0",
		"0123456789abcdef0123":                 "id 0123456789abcdef0123",
		"0x0123456789abcdef0123":               "id 0x0123456789abcdef0123",
		"12345678901234567890":                 "id 12345678901234567890",
		"123456789012345678901":                "decimal 123456789012345678901",
		"11111111-2222-3333-4444-5555555555AA": "uuid 11111111-2222-3333-4444-5555555555AA",
		"{11111111-2222-3333-4444-5555555555AA}x": "uuid 11111111-2222-3333-4444-5555555555AA, word x",
		"11111111-2222-3333-4444-5555555555AAx":   "decimal 11111111, decimal 2222, decimal 3333, decimal 4444, word 5555555555AAx",
		"a11111111-2222-3333-4444-5555555555AA":   "hex a11111111, decimal 2222, decimal 3333, decimal 4444, hex 5555555555AA",
		"Élan 火_1":                                "word Élan, word 火_1",
		"\xff\xfe1":                               "word \xff\xfe1",
		"a\x00b":                                  "hexword a, hexword b",
	} {
		var got []string
		for tok := range Tokens([]byte(text)) {
			got = append(got, formNames[tok.Form]+" "+string(tok.text))
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestTokensAsKeys(t *testing.T) {
	for text, want := range map[string][2]string{
		"0":                                      {"0", "0"},
		"007":                                    {"7", "7"},
		"255":                                    {"255", "597"},
		"ff":                                     {"", "255"},
		"0xFF":                                   {"", "255"},
		"ffffffffffffffff":                       {"", "18446744073709551615"},
		"18446744073709551615":                   {"18446744073709551615", ""},
		"00000000000000000000000000000000000001": {"1", ""},
	} {
		for tok := range Tokens([]byte(text)) {
			got := [2]string{}
			if n, ok := tok.Decimal(); ok {
				got[0] = n.String()
			}
			if n, ok := tok.hex(); ok && tok.Form != tokenWord {
				got[1] = n.String()
			}
			if got != want {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
	for text, want := range map[string]string{
		"0123456789abcdef0123":                 "0123456789abcdef0123",
		"0X0123456789ABCDEF0123":               "0123456789abcdef0123",
		"11111111-2222-3333-4444-5555555555AA": "111111112222333344445555555555aa",
	} {
		for tok := range Tokens([]byte(text)) {
			if got := fmt.Sprintf("%x", tok.bytes(nil)); got != want {
				t.Errorf("%q: %s, want %s", text, got, want)
			}
		}
	}
}

// The first token can be left early.
func TestTokensEnd(t *testing.T) {
	for _, text := range []string{"a b", "11111111-2222-3333-4444-5555555555AA b", "1.2.3.4 b"} {
		n := 0
		for range Tokens([]byte(text)) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%q: %d", text, n)
		}
	}
}

// Tokens lie one after the other within the text, are whole runs of it, leave nothing
// out, and mean what they say.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"", "1 2", "10.0.0.1", "1.2.3.4.5", "11111111-2222-3333-4444-5555555555AA", "0x12 face 1a", "é\xff", "0123456789abcdef0123-1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		kept := bytes.Clone(text)
		covered := make([]bool, len(text))
		at := 0
		for tok := range Tokens(text) {
			if len(tok.text) == 0 {
				t.Fatal("a token is empty")
			}
			i := bytes.Index(text[at:], tok.text)
			if i < 0 {
				t.Fatalf("%q does not follow in %q", tok.text, text)
			}
			// It lies in the text itself, behind the one before.
			start := cap(text) - cap(tok.text)
			if &text[start] != &tok.text[0] || start < at {
				t.Fatalf("%q lies at %d, behind %d, of %q", tok.text, start, at, text)
			}
			at = start + len(tok.text)
			if start > 0 && tokenByte(text[start-1]) || at < len(text) && tokenByte(text[at]) {
				t.Fatalf("%q is a part of a run of %q", tok.text, text)
			}
			for j := start; j < at; j++ {
				covered[j] = true
			}
			digits := strings.TrimPrefix(strings.TrimPrefix(string(tok.text), "0x"), "0X")
			if n, ok := tok.Decimal(); ok {
				want, _ := new(big.Int).SetString(string(tok.text), 10)
				if want == nil || want.String() != n.String() {
					t.Fatalf("%q is %v", tok.text, n)
				}
			}
			switch tok.Form {
			case tokenHex, tokenHexWord:
				n, ok := tok.hex()
				want, _ := new(big.Int).SetString(digits, 16)
				if !ok || want.String() != n.String() {
					t.Fatalf("%q is %v, %v, want %v", tok.text, n, ok, want)
				}
			case tokenID, tokenUUID:
				want := strings.ToLower(strings.ReplaceAll(digits, "-", ""))
				if got := fmt.Sprintf("%x", tok.bytes(nil)); got != want {
					t.Fatalf("%q is %s", tok.text, got)
				}
			case TokenDecimal:
				if strings.Trim(string(tok.text), "0123456789") != "" {
					t.Fatalf("%q is no decimal number", tok.text)
				}
			}
		}
		for i, c := range text {
			if tokenByte(c) && !covered[i] {
				t.Fatalf("%q: the byte at %d is in no token", text, i)
			}
		}
		if !bytes.Equal(text, kept) {
			t.Fatal("the text was changed")
		}
	})
}
