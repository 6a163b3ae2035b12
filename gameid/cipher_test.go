package gameid_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mergesafe/gameid"
)

// mustCipher is a cipher for players, whatever the kind.
func mustCipher(t testing.TB, secret []byte, kind string) gameid.Cipher[player] {
	t.Helper()
	c, err := gameid.NewCipher[player](secret, kind)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustOpaque[E any](t testing.TB, text string) gameid.Opaque[E] {
	t.Helper()
	o, err := gameid.ParseOpaque[E](text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// These sealed IDs are in links that people keep. If this test fails, the cipher
// is broken, not the test. They were made by the reference implementation, which
// gives the published samples.
func TestCipherVectors(t *testing.T) {
	for _, c := range []struct {
		key              int
		kind, id, opaque string
	}{
		{16, "player", "02a1d5c3f7b0000c01f4", "12c26cf5582f88076b31"},
		{16, "player", "02a1d5c3f7b0000c01f5", "83577837f56708154cd3"},
		{16, "item", "02a1d5c3f7b0000c01f4", "373e970c364ee0889ba0"},
		{24, "player", "02a1d5c3f7b0000c01f4", "bff340cc24c690fc7d12"},
		{32, "player", "02a1d5c3f7b0000c01f4", "c2d24033c9c0d553a044"},
		{32, "player", "00000000000000010000", "6fcd757eb2b7dbcf7e43"},
		{32, "player", "ffffffffffffffffffff", "93686f23950bd87fe18c"},
		{16, "p", "02a1d5c3f7b0000c01f4", "722ce59407faee5fe4d8"},
		{16, "ten letter", "02a1d5c3f7b0000c01f4", "4cb7187a2f0d883503f8"},
		{16, "11  letters", "02a1d5c3f7b0000c01f4", "ca2a9a294644e1f97d1b"},
		{16, "sixteen letters.", "02a1d5c3f7b0000c01f4", "7c4e2aa03c2c5a0234e6"},
		{32, "twenty-seven letters in all", "02a1d5c3f7b0000c01f4", "f68544e807b26b2c4192"},
		{16, "公会", "02a1d5c3f7b0000c01f4", "6986c3843f786fbf2141"},
	} {
		cipher := mustCipher(t, standardKey[:c.key], c.kind)
		id := gameid.As[player](gameid.MustParse(c.id))
		if got := cipher.Seal(id).String(); got != c.opaque {
			t.Errorf("key of %d bytes, kind %q: %s is sealed as %s, want %s", c.key, c.kind, id, got, c.opaque)
		}
		if got, err := cipher.Open(mustOpaque[player](t, c.opaque)); got != id || err != nil {
			t.Errorf("key of %d bytes, kind %q: %s opens to %s, %v, want %s", c.key, c.kind, c.opaque, got, err, id)
		}
	}
}

func TestNewCipherRefuses(t *testing.T) {
	secret := []byte("correct horse battery staple correct horse battery staple!!! 64b")
	for _, n := range []int{0, 1, 15, 17, 23, 25, 31, 33, 64} {
		c, err := gameid.NewCipher[player](secret[:n], "player")
		if c != (gameid.Cipher[player]{}) || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("has %d bytes, want 16, 24 or 32", n)) {
			t.Errorf("a secret of %d bytes: %v, %v", n, c, err)
		} else if n > 1 && strings.Contains(err.Error(), string(secret[:n])) {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
	if c, err := gameid.NewCipher[player](secret[:16], ""); c != (gameid.Cipher[player]{}) || err == nil || !strings.Contains(err.Error(), "kind of a cipher is empty") {
		t.Errorf("an empty kind: %v, %v", c, err)
	}
}

// The caller may wipe the secret.
func TestCipherCopiesTheSecret(t *testing.T) {
	secret := bytes.Clone(standardKey)
	c := mustCipher(t, secret, "player")
	id := gameid.As[player](gameid.MustParse("02a1d5c3f7b0000c01f4"))
	before := c.Seal(id)
	clear(secret)
	if after := c.Seal(id); after != before {
		t.Errorf("%s was sealed as %s, and as %s after the secret was wiped", id, before, after)
	}
}

func TestSealRoundTrips(t *testing.T) {
	n := 1_000_000
	if underRace {
		n = 50_000
	}
	c := mustCipher(t, standardKey[:16], "player")
	for _, raw := range randomIDs(n) {
		id := gameid.As[player](raw)
		o := c.Seal(id)
		if got, err := c.Open(o); got != id || err != nil || !o.IsValid() {
			t.Fatalf("%s was sealed as %s, which opens to %s, %v", id, o, got, err)
		}
	}
	// Any kind will do, also none.
	plain, err := gameid.NewCipher[any](standardKey, "player")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range edges() {
		got, err := plain.Open(plain.Seal(gameid.As[any](id)))
		if got.ID() != id || err != nil {
			t.Fatalf("%s came back as %s, %v", id, got, err)
		}
	}
}

// What is zero stays zero and goes nowhere.
func TestCipherZero(t *testing.T) {
	c := mustCipher(t, standardKey, "player")
	if o := c.Seal(gameid.Of[player]{}); o.IsValid() || o != (gameid.Opaque[player]{}) {
		t.Errorf("the zero ID was sealed as %s", o)
	}
	if id, err := c.Open(gameid.Opaque[player]{}); id.IsValid() || !errors.Is(err, gameid.ErrZeroID) {
		t.Errorf("the zero Opaque opens to %s, %v", id, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("the zero Cipher seals")
		}
	}()
	var none gameid.Cipher[player]
	none.Seal(gameid.As[player](gameid.MustParse("02a1d5c3f7b0000c01f4")))
}

// Open refuses what is not an ID, and says no more than it was given.
func TestOpenRefusesServerZero(t *testing.T) {
	c := mustCipher(t, standardKey, "player")
	for _, invalid := range []string{"00000000000000000000", "02a1d5c3f7b0000001f4", "fffffffffff00000ffff"} {
		number := reference(standardKey, "player", invalid, false)
		id, err := c.Open(mustOpaque[player](t, number))
		e, ok := errors.AsType[*gameid.ParseError](err)
		if !ok || id.IsValid() || e.Input != number || !strings.Contains(err.Error(), "cannot be opened") || strings.Contains(err.Error(), invalid) {
			t.Errorf("%s, which stands for %s, opens to %s, %v", number, invalid, id, err)
		}
	}
}

// What the documentation says of guessing is a matter of counting: numbers made up open to IDs all over the layout.
func TestGuessing(t *testing.T) {
	const year = 365 * 24 * time.Hour
	layout := float64(gameid.MaxMillis+1) * float64(gameid.MaxServer+1)
	if got := math.Round(layout / float64(year.Milliseconds()) / 1e6); got != 585 {
		t.Errorf("one server and one year are 1 in %v million", got)
	}
	all := math.Exp2(8 * gameid.Size)
	if got := math.Round(all / 1e9 / 1e6 / year.Seconds()); got != 38 {
		t.Errorf("the first hit takes %v years", got)
	}
}

// Many goroutines may use one cipher.
func TestCipherConcurrently(t *testing.T) {
	c := mustCipher(t, standardKey, "player")
	ids := randomIDs(1000)
	want := make([]gameid.Opaque[player], len(ids))
	for i, id := range ids {
		want[i] = c.Seal(gameid.As[player](id))
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i, raw := range ids {
				id := gameid.As[player](raw)
				if got := c.Seal(id); got != want[i] {
					t.Errorf("%s is sealed as %s, want %s", id, got, want[i])
				}
				if got, err := c.Open(want[i]); got != id || err != nil {
					t.Errorf("%s opens to %s, %v, want %s", want[i], got, err, id)
				}
			}
		})
	}
	all.Wait()
}

// However a cipher is printed, alone or inside something, the secret is not
// shown, and what prints it well says what it is.
func TestCipherIsNeverPrinted(t *testing.T) {
	secret := []byte("0pen-sesame-0pen")
	c := mustCipher(t, secret, "player")
	for _, format := range []string{"%v", "%+v", "%s", "%#v"} {
		if got := fmt.Sprintf(format, c); got != "gameid.Cipher(secret)" {
			t.Errorf("%s prints %s", format, got)
		}
	}

	// What the secret looks like: as bytes and as the words of a key schedule.
	forms := []string{string(secret), hex.EncodeToString(secret)}
	forms = append(forms, strings.Trim(fmt.Sprint(secret), "[]"))
	for i := 0; i < len(secret); i += 4 {
		for _, order := range []binary.ByteOrder{binary.BigEndian, binary.LittleEndian} {
			word := order.Uint32(secret[i:])
			forms = append(forms, fmt.Sprint(word), fmt.Sprintf("%x", word))
		}
	}
	shows := func(s string) bool {
		s = strings.ToLower(strings.NewReplacer("0x", "", ",", "").Replace(s))
		return slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(s, form) })
	}
	if !shows(fmt.Sprintf("%#v", secret)) && !shows(fmt.Sprint(secret)) || !shows(fmt.Sprint(binary.LittleEndian.Uint32(secret))) {
		t.Fatal("the test does not see a secret that is shown")
	}

	type config struct {
		Exported gameid.Cipher[player]
		hidden   gameid.Cipher[player]
		pointer  *gameid.Cipher[player]
	}
	for _, v := range []any{c, &c, config{c, c, &c}, &config{c, c, &c}, []gameid.Cipher[player]{c}, map[string]any{"c": c}, struct{ any }{c}} {
		for _, verb := range "vsqxXdobtcUeEfFgGpT" {
			for _, flag := range []string{"", "+", "#", "#+", " "} {
				if got := fmt.Sprintf("%"+flag+string(verb), v); shows(got) {
					t.Errorf("%%%s%c of %T prints %s", flag, verb, v, got)
				}
			}
		}
		if got, err := json.Marshal(v); shows(string(got)) {
			t.Errorf("JSON of %T is %s, %v", v, got, err)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("", "c", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("", "c", v)
		if shows(log.String()) {
			t.Errorf("the log of %T is %s", v, &log)
		}
	}

	// Printers that follow pointers into unexported fields find no key either.
	if got := reachable(reflect.ValueOf(c)); len(got) == 0 || shows(got) || strings.Contains(got, "aes.") {
		t.Errorf("reflection shows %s", got)
	}
}

// reachable prints all that reflection can see from v.
func reachable(v reflect.Value) (s string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			s = reachable(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s += reachable(v.Field(i))
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			s += reachable(v.Index(i))
		}
	default:
		s = fmt.Sprint(v)
	}
	return v.Type().String() + " " + s + " "
}

func TestCipherNoAllocations(t *testing.T) {
	if underRace {
		t.Skip("a sync.Pool forgets on purpose under the race detector")
	}
	c := mustCipher(t, standardKey, "player")
	id := gameid.As[player](gameid.MustParse("02a1d5c3f7b0000c01f4"))
	o := c.Seal(id)
	text := o.String()
	buf := make([]byte, 0, 64)
	for name, f := range map[string]func(){
		"Seal":          func() { o = c.Seal(id) },
		"Open":          func() { id, _ = c.Open(o) },
		"ParseOpaque":   func() { o, _ = gameid.ParseOpaque[player](text) },
		"AppendText":    func() { buf, _ = o.AppendText(buf[:0]) },
		"UnmarshalText": func() { buf, _ = o.AppendText(buf[:0]); _ = o.UnmarshalText(buf) },
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkCipher(b *testing.B) {
	id := gameid.As[player](gameid.MustParse("02a1d5c3f7b0000c01f4"))
	for _, size := range []int{16, 24, 32} {
		c := mustCipher(b, standardKey[:size], "player")
		o := c.Seal(id)
		b.Run(fmt.Sprintf("op=Seal/key=%d", 8*size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o = c.Seal(id)
			}
		})
		b.Run(fmt.Sprintf("op=Open/key=%d", 8*size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				id, _ = c.Open(o)
			}
		})
	}
	c := mustCipher(b, standardKey[:16], "player")
	b.Run("op=SealParallel/key=128", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				c.Seal(id)
			}
		})
	})
}
