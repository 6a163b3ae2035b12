package gameid_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
)

// The picture in the documentation, and the one in every database that was
// written so far. If this test fails, the layout is broken, not the test.
func TestLayout(t *testing.T) {
	const text = "02a1d5c3f7b0000c01f4"
	id := gameid.MustParse(text)
	if got := id.Millis(); got != 0x02a1d5c3f7b {
		t.Errorf("Millis is %#x", got)
	}
	if got, want := id.Time(), time.UnixMilli(1735689600000+0x02a1d5c3f7b).UTC(); got != want {
		t.Errorf("Time is %s, want %s", got, want)
	}
	if id.Server() != 12 || id.Sequence() != 0x01f4 {
		t.Errorf("Server %d, Sequence %d", id.Server(), id.Sequence())
	}
	if got, want := id.Bytes(), [10]byte{0x02, 0xa1, 0xd5, 0xc3, 0xf7, 0xb0, 0x00, 0x0c, 0x01, 0xf4}; got != want {
		t.Errorf("Bytes are %x, want %x", got, want)
	}
	if gameid.Size != 10 || gameid.TextSize != 20 || gameid.MaxServer != 1048575 {
		t.Errorf("Size %d, TextSize %d, MaxServer %d", gameid.Size, gameid.TextSize, gameid.MaxServer)
	}
	if got := gameid.Epoch().Format(time.RFC3339Nano); got != "2025-01-01T00:00:00Z" {
		t.Errorf("Epoch is %s", got)
	}
	if got := gameid.Last().Year(); got != 2582 {
		t.Errorf("the layout lasts until %d", got)
	}
}

func TestMake(t *testing.T) {
	last := gameid.Last()
	good := []struct {
		time     time.Time
		server   gameid.ServerID
		sequence uint16
		want     string
	}{
		{gameid.Epoch(), 1, 0, "00000000000000010000"},
		{last, gameid.MaxServer, 65535, "ffffffffffffffffffff"},
		{last.Add(999 * time.Microsecond), 1, 1, "fffffffffff000010001"},
		{gameid.Epoch().Add(1 << 37 * time.Millisecond), 7, 9, "02000000000000070009"},
		{gameid.Epoch().In(time.FixedZone("", 3600)), 1, 0, "00000000000000010000"},
	}
	for _, c := range good {
		id, err := gameid.Make(c.time, c.server, c.sequence)
		if err != nil || id.String() != c.want {
			t.Errorf("Make(%s, %d, %d) = %s, %v, want %s", c.time, c.server, c.sequence, id, err, c.want)
		}
	}
	for _, bad := range []time.Time{gameid.Epoch().Add(-1), last.Add(time.Millisecond), {}, time.Unix(1<<60, 0)} {
		id, err := gameid.Make(bad, 1, 0)
		if e, ok := errors.AsType[*gameid.TimeError](err); !ok || !e.Time.Equal(bad) || id.IsValid() {
			t.Errorf("Make at %s = %s, %v", bad, id, err)
		}
	}
	for _, bad := range []gameid.ServerID{0, gameid.MaxServer + 1, 1<<32 - 1} {
		id, err := gameid.Make(last, bad, 0)
		if e, ok := errors.AsType[*gameid.ServerError](err); !ok || e.Server != bad.String() || id.IsValid() {
			t.Errorf("Make for server %d = %s, %v", bad, id, err)
		}
	}
}

func TestParseServerID(t *testing.T) {
	for text, want := range map[string]gameid.ServerID{"1": 1, "1048575": 1048575, "007": 7} {
		if got, err := gameid.ParseServerID(text); got != want || err != nil {
			t.Errorf("ParseServerID(%q) = %d, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "0", "-1", "1048576", "99999999999999999999", "0x7", "7 ", "s7"} {
		if got, err := gameid.ParseServerID(bad); got != 0 || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", bad)) {
			t.Errorf("ParseServerID(%q) = %d, %v", bad, got, err)
		}
	}
}

// edges are IDs at the borders of the fields.
func edges() (ids []gameid.ID) {
	for _, ms := range []int64{0, 1, 1<<37 - 1, 1 << 37, gameid.MaxMillis - 1, gameid.MaxMillis} {
		for _, server := range []gameid.ServerID{1, 2, 0xf, 0x10, gameid.MaxServer - 1, gameid.MaxServer} {
			for _, sequence := range []uint16{0, 1, 63, 64, 0x7fff, 0x8000, 0xffff} {
				id, err := gameid.Make(gameid.TimeOf(ms), server, sequence)
				if err != nil {
					panic(err)
				}
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func randomIDs(n int) []gameid.ID {
	ids := edges()
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		id, err := gameid.Make(gameid.TimeOf(rng.Int64N(gameid.MaxMillis+1)), gameid.ServerID(1+rng.IntN(int(gameid.MaxServer))), uint16(rng.Uint32()))
		if err != nil {
			panic(err)
		}
		ids = append(ids, id)
	}
	return ids
}

type codec interface {
	comparable
	encoding.TextMarshaler
	encoding.BinaryMarshaler
	json.Marshaler
	driver.Valuer
	fmt.Stringer
}

type decoder[T any] interface {
	*T
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	json.Unmarshaler
	sql.Scanner
}

// checkRoundTrips sends one value through every form it has.
func checkRoundTrips[T codec, P decoder[T]](t *testing.T, id T) {
	t.Helper()
	text, err := id.MarshalText()
	if err != nil || string(text) != id.String() {
		t.Fatalf("%s: MarshalText = %q, %v", id, text, err)
	}
	binary, err := id.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(id)
	if err != nil || string(quoted) != `"`+id.String()+`"` {
		t.Fatalf("%s: JSON %s, %v", id, quoted, err)
	}
	value, err := id.Value()
	if raw, ok := value.([]byte); err != nil || !ok || !bytes.Equal(raw, binary) {
		t.Fatalf("%s: Value = %v, %v, want % x", id, value, err, binary)
	}
	upper := strings.ToUpper(id.String())
	for name, decode := range map[string]func(P) error{
		"text":            func(p P) error { return p.UnmarshalText(text) },
		"upper-case text": func(p P) error { return p.UnmarshalText([]byte(upper)) },
		"binary":          func(p P) error { return p.UnmarshalBinary(binary) },
		"JSON":            func(p P) error { return json.Unmarshal(quoted, p) },
		"column bytes":    func(p P) error { return p.Scan(binary) },
		"column string":   func(p P) error { return p.Scan(string(binary)) },
		"column text":     func(p P) error { return p.Scan(text) },
		"column HEX()":    func(p P) error { return p.Scan(upper) },
	} {
		var got T
		if err := decode(&got); err != nil || got != id {
			t.Fatalf("%s through %s = %s, %v", id, name, got, err)
		}
	}
}

type player struct{ ID gameid.Of[player] }
type guild struct{}

func TestRoundTrips(t *testing.T) {
	for _, id := range randomIDs(2000) {
		checkRoundTrips(t, id)
		checkRoundTrips(t, gameid.As[player](id))
		again, err := gameid.Make(id.Time(), id.Server(), id.Sequence())
		if err != nil || again != id {
			t.Fatalf("taken apart and put together, %s is %s, %v", id, again, err)
		}
		raw := id.Bytes()
		if again, err := gameid.FromBytes(raw[:]); err != nil || again != id {
			t.Fatalf("FromBytes(Bytes(%s)) = %s, %v", id, again, err)
		}
		of := gameid.As[player](id)
		if of.ID() != id || of.Time() != id.Time() || of.Server() != id.Server() || of.Sequence() != id.Sequence() ||
			of.Millis() != id.Millis() || of.Bytes() != id.Bytes() || of.IsValid() != id.IsValid() {
			t.Fatalf("Of does not mean what ID means for %s", id)
		}
	}
}

// Bytes, text and Compare have one order: time, then server, then sequence.
func TestOrder(t *testing.T) {
	ids := randomIDs(500)
	slices.SortFunc(ids, gameid.ID.Compare)
	for i, b := range ids[1:] {
		a := ids[i]
		ab, bb := a.Bytes(), b.Bytes()
		want := slices.Compare(
			[]int64{a.Millis(), int64(a.Server()), int64(a.Sequence())},
			[]int64{b.Millis(), int64(b.Server()), int64(b.Sequence())})
		if got := []int{a.Compare(b), -b.Compare(a), bytes.Compare(ab[:], bb[:]), strings.Compare(a.String(), b.String())}; !slices.Equal(got, []int{want, want, want, want}) {
			t.Fatalf("%s and %s: Compare, reversed, bytes, text say %d, the fields %d", a, b, got, want)
		}
	}
	if id := ids[0]; id.Compare(id) != 0 {
		t.Error("an ID is not equal to itself")
	}
}

var badTexts = []struct {
	text   string
	offset int
	want   string // in the message
}{
	{"", 0, "it has 0 characters, want 20"},
	{"02a1d5c3f7b0000c01f", 19, "it has 19 characters"},
	{"02a1d5c3f7b0000c01f40", 20, "it has 21 characters"},
	{"02a1d5c3f7b0000c01fg", 19, `"g" at position 20`},
	{"0x2a1d5c3f7b0000c01f", 1, `"x" at position 2`},
	{" 2a1d5c3f7b0000c01f4", 0, `" " at position 1`},
	{"02a1d5c3f7b-0000c01f4", 11, `"-" at position 12`},
	{"02a1d5c3f7b0000c01f\n", 19, `"\n" at position 20`},
	{"02a1d5c3f7b000000000", 11, "server 0"},
	{"00000000000000000000", 11, "server 0"},
	{strings.Repeat("é", 10), 0, `"\xc3" at position 1`},
	{strings.Repeat("0", 1<<20), 20, "it has 1048576 characters"},
	{strings.Repeat("z", 1<<20), 0, `at position 1`},
}

func TestParseErrors(t *testing.T) {
	for _, c := range badTexts {
		id, err := gameid.Parse(c.text)
		e, ok := errors.AsType[*gameid.ParseError](err)
		if !ok || id.IsValid() || e.Input != c.text || e.Offset != c.offset || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%.40q) = %s, %v (%+v), want offset %d and %q", c.text, id, err, e, c.offset, c.want)
		}
		if len(err.Error()) > 200 {
			t.Errorf("the message has %d characters", len(err.Error()))
		}
		// The receiver does not keep an old value that would be taken for the new one.
		of := gameid.As[player](gameid.MustParse("02a1d5c3f7b0000c01f4"))
		if err := of.UnmarshalText([]byte(c.text)); err == nil || of.IsValid() {
			t.Errorf("UnmarshalText(%.40q) left %s, %v", c.text, of, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParse did not panic on bad text")
		}
	}()
	gameid.MustParse("bad")
}

// Every byte at every place is taken exactly if it is a hexadecimal digit.
func TestParseEveryByte(t *testing.T) {
	const valid = "12345678901234567890"
	for place := range len(valid) {
		for c := range 256 {
			text := []byte(valid)
			text[place] = byte(c)
			want, bad := strconv.ParseUint(string(text[place]), 16, 8)
			id, err := gameid.Parse(string(text))
			if (err == nil) != (bad == nil) {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			if err == nil {
				raw := id.Bytes()
				digit := raw[place/2] >> 4
				if place%2 == 1 {
					digit = raw[place/2] & 15
				}
				if uint64(digit) != want || id.String() != strings.ToLower(string(text)) {
					t.Fatalf("Parse(%q) = %s", text, id)
				}
			}
		}
	}
}

func TestDecodersRefuse(t *testing.T) {
	valid := gameid.MustParse("02a1d5c3f7b0000c01f4")
	refuse := func(name string, decode func(*gameid.ID) error, want string) {
		t.Helper()
		id := valid
		if err := decode(&id); err == nil || id.IsValid() || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, %v, want an error with %q and the zero ID", name, id, err, want)
		}
	}
	for _, c := range []struct {
		src  any
		want string
	}{
		{nil, "NULL"},
		{[]byte(nil), "0 bytes"},
		{[]byte{}, "0 bytes"},
		{make([]byte, 9), "9 bytes"},
		{make([]byte, 11), "11 bytes"},
		{make([]byte, 16), "16 bytes"},
		{make([]byte, 10), "server 0"},
		{"", "0 characters"},
		{int64(7), "int64"},
		{7.5, "float64"},
		{time.Now(), "time.Time"},
	} {
		refuse(fmt.Sprintf("Scan(%T %v)", c.src, c.src), func(id *gameid.ID) error { return id.Scan(c.src) }, c.want)
	}
	for _, text := range []string{`null`, `12`, `""`, `"02a1d5c3f7b0000c01f"`, `{}`, `["02a1d5c3f7b0000c01f4"]`, `"02a1d5c3f7b00\u00300c01f4"`} {
		refuse("JSON "+text, func(id *gameid.ID) error { return json.Unmarshal([]byte(text), id) }, "is not an ID")
	}
	refuse("9 bytes", func(id *gameid.ID) error { return id.UnmarshalBinary(make([]byte, 9)) }, "9 bytes")
	refuse("UnmarshalJSON of nothing", func(id *gameid.ID) error { return id.UnmarshalJSON(nil) }, "is not an ID")
}

// The zero ID says that it is invalid and goes nowhere.
func TestZero(t *testing.T) {
	var id gameid.ID
	var of gameid.Of[player]
	if id.IsValid() || of.IsValid() || id.String() != "invalid gameid" || of.String() != "invalid gameid" {
		t.Errorf("the zero ID is valid=%t and prints %q", id.IsValid(), id)
	}
	for name, encode := range map[string]func() error{
		"Value":        func() error { v, err := of.Value(); return mustBe(v == nil, err) },
		"MarshalText":  func() error { _, err := of.MarshalText(); return err },
		"MarshalJSON":  func() error { _, err := json.Marshal(of); return err },
		"Marshal":      func() error { _, err := of.MarshalBinary(); return err },
		"AppendText":   func() error { b, err := id.AppendText([]byte("x")); return mustBe(string(b) == "x", err) },
		"AppendBinary": func() error { b, err := id.AppendBinary([]byte("x")); return mustBe(string(b) == "x", err) },
	} {
		if err := encode(); !errors.Is(err, gameid.ErrZeroID) {
			t.Errorf("%s of the zero ID: %v", name, err)
		}
	}
}

func mustBe(ok bool, err error) error {
	if !ok {
		return errors.New("it also returned something")
	}
	return err
}

// A column or a field that may be empty is a pointer, or sql.Null.
func TestNullable(t *testing.T) {
	id := gameid.As[guild](gameid.MustParse("02a1d5c3f7b0000c01f4"))
	raw := id.Bytes()

	var null sql.Null[gameid.Of[guild]]
	if err := null.Scan(raw[:]); err != nil || !null.Valid || null.V != id {
		t.Errorf("sql.Null scanned %+v, %v", null, err)
	}
	if v, err := driver.DefaultParameterConverter.ConvertValue(null); err != nil || !bytes.Equal(v.([]byte), raw[:]) {
		t.Errorf("sql.Null sends %v, %v", v, err)
	}
	if err := null.Scan(nil); err != nil || null.Valid || null.V.IsValid() {
		t.Errorf("sql.Null scanned NULL as %+v, %v", null, err)
	}
	if v, err := driver.DefaultParameterConverter.ConvertValue(null); err != nil || v != nil {
		t.Errorf("sql.Null sends NULL as %v, %v", v, err)
	}

	type row struct {
		Guild *gameid.Of[guild] `json:"guild"`
	}
	for _, text := range []string{`{"guild":null}`, `{"guild":"02a1d5c3f7b0000c01f4"}`} {
		var r row
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(r); err != nil || string(again) != text {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	}
}

func TestMapKey(t *testing.T) {
	text, err := json.Marshal(map[gameid.ID]int{gameid.MustParse("02a1d5c3f7b0000c01f4"): 1})
	if err != nil || string(text) != `{"02a1d5c3f7b0000c01f4":1}` {
		t.Errorf("as the key of a JSON object: %s, %v", text, err)
	}
}

func TestNoAllocations(t *testing.T) {
	id := gameid.MustParse("02a1d5c3f7b0000c01f4")
	text, raw := id.String(), id.Bytes()
	src := any(raw[:])
	buf := make([]byte, 0, 64)
	for name, f := range map[string]func(){
		"Parse":         func() { id, _ = gameid.Parse(text) },
		"AppendText":    func() { buf, _ = id.AppendText(buf[:0]) },
		"AppendBinary":  func() { buf, _ = id.AppendBinary(buf[:0]) },
		"UnmarshalText": func() { _ = id.UnmarshalText(buf) },
		"FromBytes":     func() { id, _ = gameid.FromBytes(raw[:]) },
		"Scan":          func() { _ = id.Scan(src) },
	} {
		buf, _ = id.AppendText(buf[:0])
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range badTexts[:11] {
		f.Add(c.text)
	}
	f.Add("02a1d5c3f7b0000c01f4")
	f.Add("FFFFFFFFFFFFFFFFFFFF")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := gameid.Parse(text)
		var unmarshalled gameid.ID
		if err2 := unmarshalled.UnmarshalText([]byte(text)); (err == nil) != (err2 == nil) || unmarshalled != id {
			t.Fatalf("Parse gives %s, %v and UnmarshalText %s, %v", id, err, unmarshalled, err2)
		}
		if err != nil {
			if id.IsValid() {
				t.Fatalf("an error comes with %s", id)
			}
			if _, ok := errors.AsType[*gameid.ParseError](err); !ok {
				t.Fatalf("error of type %T", err)
			}
			return
		}
		if id.String() != strings.ToLower(text) {
			t.Fatalf("%q was read as %s", text, id)
		}
		checkRoundTrips(t, id)
	})
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("02a1d5c3f7b0000c01f4"))
	f.Add([]byte{2, 0xa1, 0xd5, 0xc3, 0xf7, 0xb0, 0, 0x0c, 1, 0xf4})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, src []byte) {
		var fromBytes, fromString gameid.ID
		err := fromBytes.Scan(src)
		if err2 := fromString.Scan(string(src)); (err == nil) != (err2 == nil) || fromBytes != fromString {
			t.Fatalf("from bytes %s, %v; from string %s, %v", fromBytes, err, fromString, err2)
		}
		if (err == nil) != fromBytes.IsValid() {
			t.Fatalf("got %s, %v", fromBytes, err)
		}
		if err == nil {
			if raw := fromBytes.Bytes(); !bytes.Equal(raw[:], src) && !strings.EqualFold(fromBytes.String(), string(src)) {
				t.Fatalf("%x was read as %s", src, fromBytes)
			}
			checkRoundTrips(t, fromBytes)
		}
	})
}

// A typed ID is written as the ID in it, and no zero Opaque is valid.
func TestTypedAsID(t *testing.T) {
	id := gameid.MustParse("0123456789abcdef0123")
	o := gameid.As[struct{}](id)
	for name, both := range map[string][2]func([]byte) ([]byte, error){
		"AppendText": {id.AppendText, o.AppendText}, "AppendBinary": {id.AppendBinary, o.AppendBinary},
	} {
		want, err := both[0]([]byte("x"))
		if got, typed := both[1]([]byte("x")); err != nil || typed != nil || string(got) != string(want) {
			t.Errorf("%s: %q, %v, want %q, %v", name, got, typed, want, err)
		}
	}
	if o.GormDataType() != id.GormDataType() || id.GormDataType() == "" {
		t.Errorf("GORM makes %q for a typed ID, and %q for an ID", o.GormDataType(), id.GormDataType())
	}
	if zero := (gameid.Opaque[struct{}]{}); !zero.IsZero() || zero.IsValid() {
		t.Error("the zero Opaque is one")
	}
}
