//go:build !race

package gameid_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"mergesafe/gameid"
)

const someText = "02a1d5c3f7b0000c01f4"

// The bytes are those of bsonspec.org: a length of 21 with the zero at the end.
func TestBSON(t *testing.T) {
	id := gameid.As[player](gameid.MustParse(someText))
	typ, data, err := id.MarshalBSONValue()
	if want := "\x15\x00\x00\x00" + someText + "\x00"; err != nil || typ != 0x02 || string(data) != want {
		t.Errorf("MarshalBSONValue = %#x, %q, %v, want a string, %q", typ, data, err, want)
	}
	raw := id.Bytes()
	for name, v := range map[string]struct {
		typ  byte
		data []byte
	}{"string": {typ, data}, "binary": {0x05, append([]byte("\x0a\x00\x00\x00\x00"), raw[:]...)}} {
		var got gameid.Of[player]
		if err := got.UnmarshalBSONValue(v.typ, v.data); err != nil || got != id {
			t.Errorf("%s was read as %s, %v", name, got, err)
		}
	}
	for _, bad := range []struct {
		typ  byte
		data string
	}{
		{0x0a, ""},                     // null
		{0x02, ""},                     //
		{0x02, "\x01\x00\x00\x00\x00"}, // ""
		{0x02, "\x15\x00\x00\x00" + strings.Repeat("z", 20) + "\x00"},
		{0x02, "\x15\x00\x00\x00" + strings.Repeat("0", 20) + "\x00"}, // server 0
		{0x05, "\x0a\x00\x00\x00\x04" + string(raw[:])},               // a UUID's subtype
		{0x05, "\x09\x00\x00\x00\x00" + string(raw[:9])},
		{0x02, "\x14\x00\x00\x00" + someText + "\x00"}, // a length of 20
		{0x02, "\x15\x01\x00\x00" + someText + "\x00"},
		{0x02, "\x15\x00\x00\x00" + someText + "\x01"}, // no zero at the end
		{0x05, "\x0b\x00\x00\x00\x00" + string(raw[:])},
		{0x05, "\x00\x00\x00\x00\x00" + string(raw[:])},
		{0x07, "123456789012"}, // an ObjectID
		{0x03, "\x05\x00\x00\x00\x00"},
		{0x12, "\x01\x00\x00\x00\x00\x00\x00\x00"},
	} {
		got := id
		if err := got.UnmarshalBSONValue(bad.typ, []byte(bad.data)); err == nil || got.IsValid() {
			t.Errorf("type %#x of %q was read as %s, %v", bad.typ, bad.data, got, err)
		}
	}
	if _, _, err := (gameid.Of[player]{}).MarshalBSONValue(); !errors.Is(err, gameid.ErrZeroID) {
		t.Errorf("the zero ID: %v", err)
	}
	o := mustCipher(t, standardKey, "player").Seal(id)
	if typ, data, err := o.MarshalBSONValue(); err == nil {
		t.Errorf("a sealed ID became %#x, %q", typ, data)
	}
	if err := o.UnmarshalBSONValue(typ, data); err == nil || o.IsValid() {
		t.Errorf("a sealed ID was read as %s, %v", o, err)
	}
}

// gin and echo take the text of an ID and of a public ID, go-redis text and bytes,
// and none of them leaves an old value.
func TestParams(t *testing.T) {
	id := gameid.As[player](gameid.MustParse(someText))
	raw := id.Bytes()
	opaque := mustCipher(t, standardKey, "player").Seal(id)
	for _, c := range []struct {
		text         string
		param, redis bool
	}{{someText, true, true}, {strings.ToUpper(someText), true, true}, {string(raw[:]), false, true}, {"", false, false}, {"1", false, false}} {
		var got gameid.Of[player]
		if err := got.UnmarshalParam(c.text); (err == nil) != c.param || (got == id) != c.param {
			t.Errorf("UnmarshalParam(%q) = %s, %v", c.text, got, err)
		}
		got = id
		if err := got.UnmarshalBinary([]byte(c.text)); (err == nil) != c.redis || got.IsValid() != c.redis {
			t.Errorf("UnmarshalBinary(%q) = %s, %v", c.text, got, err)
		}
		got = id
		if err := got.ScanRedis(c.text); (err == nil) != c.redis || got.IsValid() != c.redis {
			t.Errorf("ScanRedis(%q) = %s, %v", c.text, got, err)
		}
	}
	var got gameid.Opaque[player]
	if err := got.UnmarshalParam(opaque.String()); err != nil || got != opaque {
		t.Errorf("UnmarshalParam(%s) = %s, %v", opaque, got, err)
	}
	if err := got.UnmarshalParam("1"); err == nil || got.IsValid() {
		t.Errorf("UnmarshalParam of bad text left %s, %v", got, err)
	}
}

// Version 1 of MongoDB's driver looks for MarshalBSON and UnmarshalBSON, and go-querystring for EncodeValues.
func TestBSONVersion1(t *testing.T) {
	id := gameid.As[player](gameid.MustParse(someText))
	opaque := mustCipher(t, standardKey, "player").Seal(id)
	for name, marshal := range map[string]func() ([]byte, error){
		"ID": id.ID().MarshalBSON, "Of": id.MarshalBSON, "Opaque": opaque.MarshalBSON,
	} {
		if b, err := marshal(); err == nil {
			t.Errorf("%s became %q", name, b)
		}
	}
	if err := errors.Join(id.UnmarshalBSON(nil), opaque.UnmarshalBSON(nil)); err == nil || id.IsValid() || opaque.IsValid() {
		t.Errorf("read as %s and %s, %v", id, opaque, err)
	}
}

func TestEncodeValues(t *testing.T) {
	id := gameid.As[player](gameid.MustParse(someText))
	opaque := mustCipher(t, standardKey, "player").Seal(id)
	got := make(url.Values)
	err := errors.Join(id.ID().EncodeValues("a", &got), id.EncodeValues("a", &got), opaque.EncodeValues("b", &got))
	if want := "a=" + someText + "&a=" + someText + "&b=" + opaque.String(); err != nil || got.Encode() != want {
		t.Errorf("became %s, %v, want %s", got.Encode(), err, want)
	}
	for name, encode := range map[string]func(string, *url.Values) error{
		"ID": gameid.ID{}.EncodeValues, "Of": gameid.Of[player]{}.EncodeValues, "Opaque": gameid.Opaque[player]{}.EncodeValues,
	} {
		if err := encode("c", &got); !errors.Is(err, gameid.ErrZeroID) || got.Has("c") {
			t.Errorf("zero %s: %v, %v", name, err, got)
		}
	}
}

// A log line survives a zero ID.
func TestLog(t *testing.T) {
	id := gameid.As[player](gameid.MustParse(someText))
	opaque := mustCipher(t, standardKey, "player").Seal(id)
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).Info("m", "a", id, "b", gameid.ID{}, "c", gameid.Of[player]{}, "d", opaque, "e", gameid.Opaque[player]{})
		line := strings.NewReplacer(`"`, "", ":", "=", ",", " ", "}", "").Replace(out.String())
		if want := "a=" + someText + " b=zero c=zero d=" + opaque.String() + " e=zero"; !strings.HasSuffix(strings.TrimSpace(line), want) {
			t.Errorf("%s: %s, want %s", name, line, want)
		}
	}
	text, err := json.Marshal(struct {
		ID    gameid.Of[player] `json:"id,omitzero"`
		Guild gameid.ID         `json:"guild,omitzero"`
	}{ID: id})
	if err != nil || string(text) != `{"id":"`+someText+`"}` {
		t.Errorf("with omitzero: %s, %v", text, err)
	}
}

// Without GORM around it, Value is the bytes, and an ID is no row of a table.
func TestValueWithoutGORM(t *testing.T) {
	id := gameid.As[player](gameid.MustParse(someText))
	if v, err := id.Value(); err != nil {
		t.Error(err)
	} else if raw, ok := v.([]byte); !ok || len(raw) != gameid.Size {
		t.Errorf("Value = %T %q", v, v)
	}
	for name, tableName := range map[string]func() string{"ID": id.ID().TableName, "Of": id.TableName, "Opaque": gameid.Opaque[player]{}.TableName} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("TableName of %s did not panic", name)
				}
			}()
			tableName()
		}()
	}
}
