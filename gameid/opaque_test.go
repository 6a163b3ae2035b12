package gameid_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mergesafe/gameid"
)

// checkOpaqueRoundTrips sends one number through every form it has.
func checkOpaqueRoundTrips[E any](t *testing.T, o gameid.Opaque[E]) {
	t.Helper()
	text, err := o.MarshalText()
	if err != nil || string(text) != o.String() {
		t.Fatalf("%s: MarshalText = %q, %v", o, text, err)
	}
	if appended, err := o.AppendText([]byte("/")); err != nil || string(appended) != "/"+o.String() {
		t.Fatalf("%s: AppendText = %q, %v", o, appended, err)
	}
	quoted, err := json.Marshal(o)
	if err != nil || string(quoted) != `"`+o.String()+`"` {
		t.Fatalf("%s: JSON %s, %v", o, quoted, err)
	}
	for name, decode := range map[string]func(*gameid.Opaque[E]) error{
		"text":            func(p *gameid.Opaque[E]) error { return p.UnmarshalText(text) },
		"upper-case text": func(p *gameid.Opaque[E]) error { return p.UnmarshalText([]byte(strings.ToUpper(string(text)))) },
		"JSON":            func(p *gameid.Opaque[E]) error { return json.Unmarshal(quoted, p) },
		"parsing":         func(p *gameid.Opaque[E]) (err error) { *p, err = gameid.ParseOpaque[E](o.String()); return err },
	} {
		var got gameid.Opaque[E]
		if err := decode(&got); err != nil || got != o || !got.IsValid() {
			t.Fatalf("%s through %s = %s, %v", o, name, got, err)
		}
	}
}

func TestOpaqueText(t *testing.T) {
	c := mustCipher(t, standardKey, "player")
	for _, id := range randomIDs(2000) {
		checkOpaqueRoundTrips(t, c.Seal(gameid.As[player](id)))
	}
	// All 2^80 numbers are valid, also those that are not valid as IDs.
	for _, text := range []string{"00000000000000000000", "02a1d5c3f7b000000000", "ffffffffffffffffffff"} {
		if o := mustOpaque[player](t, text); !o.IsValid() || o.String() != text {
			t.Errorf("%s became %s", text, o)
		} else {
			checkOpaqueRoundTrips(t, o)
		}
	}
	text, err := json.Marshal(map[gameid.Opaque[player]]int{mustOpaque[player](t, "00000000000000000000"): 1})
	if err != nil || string(text) != `{"00000000000000000000":1}` {
		t.Errorf("as the key of a JSON object: %s, %v", text, err)
	}
}

func TestOpaqueRefusesText(t *testing.T) {
	valid := mustOpaque[player](t, "02a1d5c3f7b0000c01f4")
	for _, c := range badTexts {
		if strings.Contains(c.want, "server 0") {
			continue
		}
		o, err := gameid.ParseOpaque[player](c.text)
		e, ok := errors.AsType[*gameid.ParseError](err)
		if !ok || o.IsValid() || e.Input != c.text || e.Offset != c.offset || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseOpaque(%.40q) = %s, %v (%+v), want offset %d and %q", c.text, o, err, e, c.offset, c.want)
		}
		// The receiver does not keep an old value that would be taken for the new one.
		o = valid
		if err := o.UnmarshalText([]byte(c.text)); err == nil || o.IsValid() {
			t.Errorf("UnmarshalText(%.40q) left %s, %v", c.text, o, err)
		}
	}
	for _, text := range []string{`null`, `12`, `""`, `"02a1d5c3f7b0000c01f"`, `{}`, `["02a1d5c3f7b0000c01f4"]`, `"02a1d5c3f7b00\u00300c01f4"`} {
		o := valid
		if err := json.Unmarshal([]byte(text), &o); err == nil || o.IsValid() || !strings.Contains(err.Error(), "is not an ID") {
			t.Errorf("JSON %s left %s, %v", text, o, err)
		}
	}
	o := valid
	if err := o.UnmarshalJSON(nil); err == nil || o.IsValid() {
		t.Errorf("UnmarshalJSON of nothing left %s, %v", o, err)
	}
}

// The zero Opaque says that it is invalid and goes nowhere. It is not the
// number 0.
func TestOpaqueZero(t *testing.T) {
	var o gameid.Opaque[player]
	if o.IsValid() || o.String() != "invalid opaque gameid" || o == mustOpaque[player](t, "00000000000000000000") {
		t.Errorf("the zero Opaque is valid=%t and prints %q", o.IsValid(), o)
	}
	for name, encode := range map[string]func() error{
		"MarshalText": func() error { _, err := o.MarshalText(); return err },
		"MarshalJSON": func() error { _, err := json.Marshal(o); return err },
		"AppendText":  func() error { b, err := o.AppendText([]byte("x")); return mustBe(string(b) == "x", err) },
	} {
		if err := encode(); !errors.Is(err, gameid.ErrZeroID) {
			t.Errorf("%s of the zero Opaque: %v", name, err)
		}
	}
}

// An Opaque offers nothing that a database could use, nor an order, nor
// fields.
func TestOpaqueLacks(t *testing.T) {
	o := mustOpaque[player](t, "02a1d5c3f7b0000c01f4")
	for _, v := range []any{o, &o} {
		if _, ok := v.(driver.Valuer); ok {
			t.Errorf("%T is a driver.Valuer", v)
		}
		if _, ok := v.(sql.Scanner); ok {
			t.Errorf("%T is a sql.Scanner", v)
		}
		if _, ok := v.(encoding.BinaryMarshaler); ok {
			t.Errorf("%T is an encoding.BinaryMarshaler", v)
		}
		if sent, err := driver.DefaultParameterConverter.ConvertValue(v); err == nil {
			t.Errorf("%T is sent to a database as %v", v, sent)
		}
	}
}

// Sealed and real IDs do not mix, nor do two kinds of sealed ones, whichever
// way one tries. Each line is one attempt.
func TestOpaqueDoesNotMix(t *testing.T) {
	const head = `package main

import "mergesafe/gameid"

type player struct{}
type item struct{}

func lookup(gameid.Of[player])     {}
func publish(gameid.Opaque[player]) {}

func main() {
	var id gameid.ID
	var of gameid.Of[player]
	var sealed gameid.Opaque[player]
	var other gameid.Opaque[item]
	var players gameid.Cipher[player]
	var items gameid.Cipher[item]
	_, _, _, _, _, _ = id, of, sealed, other, players, items
`
	good := []string{
		"publish(players.Seal(of))",
		"of, _ = players.Open(sealed)",
		"_ = sealed == players.Seal(of)",
	}
	bad := []string{
		"publish(of)", "publish(id)", "publish(other)",
		"publish(gameid.Opaque[player](of))", "publish(gameid.Opaque[player](id))", "publish(gameid.Opaque[player](other))",
		"lookup(sealed)", "lookup(gameid.Of[player](sealed))", "lookup(gameid.As[player](sealed))", "lookup(gameid.As[player](gameid.ID(sealed)))",
		"_ = sealed == of", "_ = sealed == other", "_ = id == sealed",
		"players.Seal(sealed)", "players.Open(of)", "items.Seal(of)", "items.Open(sealed)", "items = players", "items = gameid.Cipher[item](players)",
		"sealed.Time()", "sealed.Server()", "sealed.Compare(sealed)", "sealed.Bytes()", "sealed.Value()", "sealed.Scan(nil)",
	}
	source := head + strings.Join(good, "\n") + "\n" + strings.Join(bad, "\n") + "\n}\n"

	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command("go", "build", "-gcflags=-e", "-o", os.DevNull, file).CombinedOutput() // -e: all errors, not ten
	refused := make(map[int]string)
	for _, m := range regexp.MustCompile(`main\.go:(\d+):\d+: (.*)`).FindAllStringSubmatch(string(out), -1) {
		line, _ := strconv.Atoi(m[1])
		refused[line] = m[2]
	}
	first := strings.Count(head, "\n") + 1
	for i := range good {
		if err := refused[first+i]; err != "" {
			t.Errorf("%q does not compile: %s", good[i], err)
		}
		delete(refused, first+i)
	}
	for i := range bad {
		line := first + len(good) + i
		if refused[line] == "" {
			t.Errorf("%q compiles: %s", bad[i], out)
		}
		delete(refused, line)
	}
	if len(refused) > 0 {
		t.Errorf("the rest does not compile: %v", refused)
	}
}

func FuzzOpaque(f *testing.F) {
	for _, c := range badTexts[:11] {
		f.Add(c.text)
	}
	f.Add("02a1d5c3f7b0000c01f4")
	f.Add("FFFFFFFFFFFFFFFFFFFF")
	f.Add(reference(standardKey, "player", "02a1d5c3f7b0000001f4", false)) // opens to server 0
	c := mustCipher(f, standardKey, "player")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := gameid.ParseOpaque[player](text)
		var unmarshalled gameid.Opaque[player]
		if err2 := unmarshalled.UnmarshalText([]byte(text)); (err == nil) != (err2 == nil) || unmarshalled != o {
			t.Fatalf("ParseOpaque gives %s, %v and UnmarshalText %s, %v", o, err, unmarshalled, err2)
		}
		if err != nil {
			if _, ok := errors.AsType[*gameid.ParseError](err); !ok || o.IsValid() {
				t.Fatalf("%s with an error of type %T", o, err)
			}
			return
		}
		if o.String() != strings.ToLower(text) {
			t.Fatalf("%q was read as %s", text, o)
		}
		checkOpaqueRoundTrips(t, o)

		id, err := c.Open(o)
		if _, ok := errors.AsType[*gameid.ParseError](err); ok != !id.IsValid() || (err == nil) != id.IsValid() {
			t.Fatalf("%s opens to %s, %v", o, id, err)
		}
		if err == nil && c.Seal(id) != o {
			t.Fatalf("%s opens to %s, which is sealed as %s", o, id, c.Seal(id))
		}
		if again := reference(standardKey, "player", o.String(), true); err == nil && id.String() != again {
			t.Fatalf("%s opens to %s, the reference says %s", o, id, again)
		}
	})
}
