// Package spec holds the readers in other languages against gameid and number.
// SPEC.md says what they read.
package spec

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/number"
)

var update = flag.Bool("update", false, "write vectors.json from what the packages do now")

// vectors is vectors.json.
type vectors struct {
	About         string       `json:"about"`
	IDs           []idVector   `json:"ids"`
	Order         []string     `json:"order"`
	InvalidText   []invalid    `json:"invalid_text"`
	InvalidBytes  []invalid    `json:"invalid_bytes"`
	InvalidFields []fields     `json:"invalid_fields"`
	Public        []public     `json:"public"`
	InvalidPublic []public     `json:"invalid_public"`
	Numbers       []shortcut   `json:"numbers"`
	InvalidNumber []invalid    `json:"invalid_numbers"`
	CheckDigits   []checkDigit `json:"check_digits"`
	Mistyped      []string     `json:"mistyped_numbers"`
}

// idVector is one ID in all its forms. Input is a text that is read as it.
type idVector struct {
	Input    string `json:"input"`
	Text     string `json:"text"`
	Millis   int64  `json:"millis"`
	Server   int64  `json:"server"`
	Sequence int64  `json:"sequence"`
	Time     string `json:"time"`
}

type invalid struct {
	Input string `json:"input"` // bytes in hexadecimal
	Error string `json:"error"`
}

type fields struct {
	Millis   int64  `json:"millis"`
	Server   int64  `json:"server"`
	Sequence int64  `json:"sequence"`
	Error    string `json:"error"`
}

type public struct {
	Key    string `json:"key"` // in hexadecimal
	Kind   string `json:"kind"`
	ID     string `json:"id,omitempty"`
	Public string `json:"public"`
	Error  string `json:"error,omitempty"`
}

type shortcut struct {
	Input   string `json:"input"`
	Number  int64  `json:"number"`
	Spaced  string `json:"spaced"`
	Checked bool   `json:"checked"` // its last digit is its check digit
}

type checkDigit struct {
	Number    int64 `json:"number"`
	WithCheck int64 `json:"with_check"`
}

// The file is what the packages do. If this test fails after a change of
// theirs, readers in other programs are wrong from now on: the forms never change.
func TestVectors(t *testing.T) {
	want := encode(t, makeVectors(t))
	if *update {
		if err := os.WriteFile("vectors.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("vectors.json is not what the packages do now. If it is the file that lacks something: go test ./spec -update")
	}
}

// A few values were worked out by other means, so that a layout which is
// wrong everywhere is found: an ID by hand, and public IDs by the reference
// implementation of FF1.
func TestVectorsAreRight(t *testing.T) {
	v := load(t)
	if !slices.Contains(v.IDs, idVector{"00ddceac5bd00007003f", "00ddceac5bd00007003f", 0x00ddceac5bd, 7, 0x3f, "2026-11-21T03:09:08.413Z"}) {
		t.Error("the ID of the page is not among the vectors")
	}
	for _, want := range []public{
		{Key: "2b7e151628aed2a6abf7158809cf4f3c", Kind: "hero", ID: "02a1d5c3f7b0000c01f4", Public: "c3beb2965346a74a65fa"},
		{Key: "2b7e151628aed2a6abf7158809cf4f3c", Kind: "公会", ID: "02a1d5c3f7b0000c01f4", Public: "6986c3843f786fbf2141"},
	} {
		if !slices.Contains(v.Public, want) {
			t.Errorf("%+v is not among the vectors", want)
		}
	}
	if !slices.Contains(v.CheckDigits, checkDigit{572, 5724}) {
		t.Error("the check digit of 572 is not among the vectors")
	}
}

func load(t *testing.T) (v vectors) {
	t.Helper()
	text, err := os.ReadFile("vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// encode writes one vector on a line.
func encode(t *testing.T, v vectors) []byte {
	t.Helper()
	var flat bytes.Buffer
	e := json.NewEncoder(&flat)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(flat.Bytes(), &sections); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	out.WriteString("{")
	for i, name := range []string{"about", "ids", "order", "invalid_text", "invalid_bytes", "invalid_fields", "public", "invalid_public", "numbers", "invalid_numbers", "check_digits", "mistyped_numbers"} {
		if i > 0 {
			out.WriteString(",")
		}
		var entries []json.RawMessage
		if json.Unmarshal(sections[name], &entries) != nil {
			fmt.Fprintf(&out, "\n  %q: %s", name, sections[name])
			continue
		}
		fmt.Fprintf(&out, "\n  %q: [", name)
		for j, entry := range entries {
			if j > 0 {
				out.WriteString(",")
			}
			fmt.Fprintf(&out, "\n    %s", entry)
		}
		out.WriteString("\n  ]")
	}
	out.WriteString("\n}\n")
	var ascii []byte // what looks like a space shall be seen
	for _, r := range out.String() {
		if r < 0x7f {
			ascii = append(ascii, byte(r))
		} else {
			ascii = fmt.Appendf(ascii, "\\u%04x", r)
		}
	}
	return ascii
}

// Keys of the standard's samples, of all three lengths.
const (
	key16 = "2b7e151628aed2a6abf7158809cf4f3c"
	key24 = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f"
	key32 = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94"
)

func makeVectors(t *testing.T) vectors {
	v := vectors{About: "Values to test a reader of SPEC.md with. Made by the test of this folder. Bytes are in hexadecimal; the bytes of an ID are its text."}
	for _, input := range idTexts() {
		id, err := gameid.Parse(input)
		if err != nil {
			t.Fatal(err)
		}
		v.IDs = append(v.IDs, idVector{input, id.String(), id.Millis(), int64(id.Server()), int64(id.Sequence()), timeText(id)})
		v.Order = append(v.Order, id.String())
	}
	slices.SortFunc(v.Order, func(a, b string) int { return gameid.MustParse(a).Compare(gameid.MustParse(b)) })
	v.Order = slices.Compact(v.Order)
	for _, input := range []string{
		"", "0", "00ddceac5bd00007003", "00ddceac5bd00007003f0", "00000000000000000000", "00ddceac5bd00000003f", "fffffffffff00000ffff",
		"00ddceac5bd00007003g", "g0ddceac5bd00007003f", "00ddceac5b/00007003f", "00ddceac5b:00007003f", "00ddceac5b@00007003f", "00ddceac5bG00007003f",
		"00ddceac5b`00007003f", " 00ddceac5bd00007003f", "00ddceac5bd00007003f ", "00ddceac5bd00007003f\n", "0x00ddceac5bd0000700", "-0ddceac5bd00007003f",
		"00ddceac5bd-00007-003f", "00ddceac5bd 0000 003f", "００ddceac5bd00007003f", "00ddceac5bd00007003\u0131", "00ddceac5bd00007003f\x00", "\x0000ddceac5bd00007003f",
		"invalid gameid", "null", strings.Repeat("f", 40), strings.Repeat("z", 1000),
	} {
		v.InvalidText = append(v.InvalidText, invalid{input, errorOf(expectText(input))})
	}
	for _, input := range []string{"", "00", "00ddceac5bd0000700", "00ddceac5bd00007003f00", "00000000000000000000", "00ddceac5bd00000003f", "fffffffffff00000ffff", strings.Repeat("00", 16), strings.Repeat("ff", 20)} {
		v.InvalidBytes = append(v.InvalidBytes, invalid{input, errorOf(expectBytes(unhex(input)))})
	}
	for _, f := range []fields{
		{Millis: -1, Server: 1}, {Millis: gameid.MaxMillis + 1, Server: 1}, {Millis: 1 << 53, Server: 1}, {Server: 0}, {Server: -1}, {Server: 1 << 20}, {Server: 1 << 32}, {Server: 1<<32 + 1},
		{Server: 1, Sequence: -1}, {Server: 1, Sequence: 1 << 16}, {Server: 1, Sequence: 1 << 32}, {Millis: -1, Server: 0, Sequence: -1}, {Server: 0, Sequence: -1},
	} {
		f.Error = errorOf(expectFields(f.Millis, f.Server, f.Sequence))
		v.InvalidFields = append(v.InvalidFields, f)
	}
	for _, kind := range []string{"hero", "player", "item", "p", "nine long", "ten letter", "11  letters", "sixteen letters.", "twenty-seven letters in all", "公会", "Player"} {
		for _, key := range []string{key16, key24, key32} {
			if kind != "player" && key == key24 {
				continue
			}
			for _, id := range []string{"02a1d5c3f7b0000c01f4", "00000000000000010000", "ffffffffffffffffffff"} {
				if kind == "player" || id == "02a1d5c3f7b0000c01f4" {
					v.Public = append(v.Public, public{Key: key, Kind: kind, ID: id, Public: strings.TrimPrefix(expectSeal(unhex(key), kind, id), "ok\t")})
				}
			}
		}
	}
	for _, p := range []public{
		{Key: key16, Kind: "player", Public: opensToServerZero},
		{Key: key16, Kind: "player", Public: "c3beb2965346a74a65f"},
		{Key: key16, Kind: "player", Public: "c3beb2965346a74a65fg"},
		{Key: key16, Kind: "player", Public: "1-c3beb2965346a74a65fa"},
		{Key: key16, Kind: "", Public: "c3beb2965346a74a65fa"},
		{Key: key16[:30], Kind: "player", Public: "c3beb2965346a74a65fa"},
		{Key: "", Kind: "player", Public: "c3beb2965346a74a65fa"},
		{Key: key32 + "00", Kind: "", Public: ""},
	} {
		p.Error = errorOf(expectOpen(unhex(p.Key), p.Kind, p.Public))
		v.InvalidPublic = append(v.InvalidPublic, p)
	}
	for _, input := range []string{"1", "9", "10", "13", "5724", "57 24", "10084213", "10 084 215", "10-084-215", "1 2-3", "10\u00a0084\u00a0215", "10\u202f084\u2009215", "10\u2011084215", "999999999999999", "9 9 9 9 9 9 9 9 9 9 9 9 9 9 9", "100000000000000", "4294967296", "9007199254740"} {
		n, err := number.Parse(input)
		if err != nil {
			t.Fatal(err)
		}
		v.Numbers = append(v.Numbers, shortcut{input, int64(n), n.Spaced(), n.Checked()})
	}
	for _, input := range []string{"", " ", "-", "0", "00", "0123", "0x10", " 1", "1 ", "1-", "-1", "+1", "1  2", "1--2", "1.5", "1,000", "1e3", "1\n", "1\t2", "١٢", "１２", "1\u30002", "1\u200b2", "12a", "1234567890123456", "1234567890123456 x", "1234567890123456x", "123456789012345 6", strings.Repeat("9", 100)} {
		v.InvalidNumber = append(v.InvalidNumber, invalid{input, errorOf(expectNumber(input))})
	}
	for _, n := range []number.Number{1, 9, 10, 572, 1_008_421, 9_000_000, 99_999_999_999_999} {
		v.CheckDigits = append(v.CheckDigits, checkDigit{int64(n), int64(n.WithCheck())})
	}
	for _, input := range []string{"5", "10", "5742", "7524", "5725", "10 084 315", "10 048 215", "999999999999998"} {
		if _, err := number.ParseChecked(input); err == nil {
			t.Fatalf("%s is not mistyped", input)
		}
		v.Mistyped = append(v.Mistyped, input)
	}
	return v
}

// idTexts are IDs at the borders of the fields, and how they may be written.
func idTexts() []string {
	texts := []string{"00ddceac5bd00007003f", "02a1d5c3f7b0000c01f4", "02A1D5C3F7B0000C01F4", "00DDceac5bD00007003F", "0123456789abcdef0123", "fedcba98765432101234"}
	for _, millis := range []int64{0, 1, 1<<32 - 1, 1 << 32, 1<<37 - 1, 1 << 37, gameid.MaxMillis} {
		for _, server := range []gameid.ServerID{1, 1 << 16, gameid.MaxServer} {
			for _, sequence := range []uint16{0, 1 << 15, 1<<16 - 1} {
				id, err := gameid.Make(gameid.TimeOf(millis), server, sequence)
				if err != nil {
					panic(err)
				}
				texts = append(texts, id.String())
			}
		}
	}
	return texts
}

func timeText(id gameid.ID) string { return id.Time().Format("2006-01-02T15:04:05.000Z") }

// opensToServerZero is a number that opens to server 0 with key16 for players: one in a
// million does.
const opensToServerZero = "000000000000001c6132"

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// at is the time of a millisecond that the layout can tell.
func at(millis int64) (time.Time, bool) {
	return gameid.TimeOf(millis), 0 <= millis && millis <= gameid.MaxMillis
}
