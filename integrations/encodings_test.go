package integrations

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"gopkg.in/yaml.v3"

	"mergesafe/gameid"
)

// document has IDs in all places that encodings have.
type document struct {
	ID    gameid.Of[Hero]         `json:"id" yaml:"id" msgpack:"id"`
	Guild gameid.Of[Clan]         `json:"guild,omitzero" yaml:"guild,omitempty" msgpack:"guild,omitempty"`
	Boss  *gameid.Of[Hero]        `json:"boss" yaml:"boss" msgpack:"boss"`
	Items []gameid.ID             `json:"items" yaml:"items" msgpack:"items"`
	Gold  map[gameid.Of[Hero]]int `json:"gold" yaml:"gold" msgpack:"-"`
}

func someDocument() document {
	boss := hero(3)
	return document{hero(1), clan(2), &boss, []gameid.ID{made(4), made(5)}, map[gameid.Of[Hero]]int{hero(6): 7}}
}

// comes checks that what decode reads is the document, and that the zero ID is
// missing where it may be, and an error elsewhere.
func comes(t *testing.T, marshal func(any) ([]byte, error), unmarshal func([]byte, any) error, withMap bool) (text string) {
	t.Helper()
	d := someDocument()
	data, err := marshal(d)
	must(t, err)
	var got document
	must(t, unmarshal(data, &got))
	if got.ID != d.ID || got.Guild != d.Guild || *got.Boss != *d.Boss || len(got.Items) != 2 || got.Items[1] != d.Items[1] || withMap && got.Gold[hero(6)] != 7 {
		t.Errorf("%+v came back as %+v", d, got)
	}
	less, err := marshal(document{ID: hero(1)})
	must(t, err)
	got = document{}
	must(t, unmarshal(less, &got))
	if got.ID != hero(1) || got.Guild.IsValid() || got.Boss != nil {
		t.Errorf("with one ID: %+v", got)
	}
	if data, err := marshal(document{}); err == nil {
		t.Errorf("the zero ID became %q", data)
	}
	return string(data)
}

func TestJSON(t *testing.T) {
	text := comes(t, json.Marshal, json.Unmarshal, true)
	if !strings.HasPrefix(text, `{"id":"`+hero(1).String()+`","guild":"`) {
		t.Errorf("JSON is %s", text)
	}
	less, err := json.Marshal(document{ID: hero(1)})
	if want := `{"id":"` + hero(1).String() + `","boss":null,"items":null,"gold":null}`; err != nil || string(less) != want {
		t.Errorf("JSON is %s, %v, want %s", less, err, want)
	}
}

func TestYAML(t *testing.T) {
	text := comes(t, yaml.Marshal, yaml.Unmarshal, true)
	// Digits alone are quoted, or a reader would take them for a number.
	if !strings.Contains(text, hero(1).String()) {
		t.Errorf("YAML is %s", text)
	}
	var public gameid.Opaque[Hero]
	must(t, public.UnmarshalText([]byte(hero(1).String())))
	sealed, err := yaml.Marshal(struct {
		ID, Other gameid.Opaque[Hero] `yaml:",omitempty"`
	}{ID: public})
	if want := "id: " + public.String() + "\n"; err != nil || string(sealed) != want {
		t.Errorf("a public ID and none became %q, %v, want %q", sealed, err, want)
	}
	digits := gameid.MustParse("00000000000000070001")
	data, err := yaml.Marshal(digits)
	must(t, err)
	var got gameid.ID
	var untyped any
	must(t, yaml.Unmarshal(data, &got))
	must(t, yaml.Unmarshal(data, &untyped))
	if got != digits || untyped != digits.String() {
		t.Errorf("%q was read as %s and as %v", data, got, untyped)
	}
}

func TestMsgpack(t *testing.T) {
	data := comes(t, msgpack.Marshal, msgpack.Unmarshal, false)
	raw := hero(1).Bytes()
	if !strings.Contains(data, string(raw[:])) {
		t.Errorf("msgpack is %q", data)
	}
}

// slog prints a zero ID as "zero", and the rest of the line.
func TestSlog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("hello", "id", hero(1), "guild", gameid.Of[Clan]{}, "player", document{ID: hero(1)})
	var line struct {
		ID, Guild string
		Player    document
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.ID != hero(1).String() || line.Guild != "zero" || line.Player.ID != hero(1) {
		t.Errorf("logged %s: %v", out.Bytes(), err)
	}
	// Go panics for a nil pointer before a method of the ID is called, and slog prints that.
	var none *gameid.Of[Clan]
	some := clan(2)
	for want, guild := range map[string]*gameid.Of[Clan]{
		`"guild":"LogValue panicked`:       none,
		`"guild":"zero"}`:                  cmp.Or(none, new(gameid.Of[Clan])),
		`"guild":"` + some.String() + `"}`: cmp.Or(&some, new(gameid.Of[Clan])),
	} {
		out.Reset()
		if log.Info("hello", "guild", guild); !strings.Contains(out.String(), want) {
			t.Errorf("logged %s, want %s", out.Bytes(), want)
		}
	}
}

// In protobuf a string is what a JSON API wants, and bytes are for storage.
func TestProtobuf(t *testing.T) {
	id := hero(1)
	text := wrapperspb.String(id.String())
	stored, err := id.MarshalBinary()
	must(t, err)
	raw := wrapperspb.Bytes(stored)

	data, err := proto.Marshal(text)
	must(t, err)
	text.Reset()
	must(t, proto.Unmarshal(data, text))
	if got, err := gameid.ParseOf[Hero](text.GetValue()); err != nil || got != id {
		t.Errorf("the string came back as %s, %v", got, err)
	}
	data, err = proto.Marshal(raw)
	must(t, err)
	if len(data) != 2+gameid.Size {
		t.Errorf("bytes took %d bytes", len(data))
	}
	raw.Reset()
	must(t, proto.Unmarshal(data, raw))
	if got, err := gameid.FromBytes(raw.GetValue()); err != nil || gameid.As[Hero](got) != id {
		t.Errorf("the bytes came back as %s, %v", got, err)
	}

	shown, err := protojson.Marshal(text)
	if want := `"` + id.String() + `"`; err != nil || string(shown) != want {
		t.Errorf("protojson prints the string as %s, %v", shown, err)
	}
	shown, err = protojson.Marshal(raw) // which nobody can look up
	if want := `"` + base64.StdEncoding.EncodeToString(stored) + `"`; err != nil || string(shown) != want {
		t.Errorf("protojson prints the bytes as %s, %v", shown, err)
	}

	value, err := structpb.NewStruct(map[string]any{"id": id.String()})
	must(t, err)
	shown, err = protojson.Marshal(value)
	must(t, err)
	var back document
	if err := json.Unmarshal(shown, &back); err != nil || back.ID != id {
		t.Errorf("structpb prints %s: %v", shown, err)
	}
	if _, err := structpb.NewValue(id); err == nil {
		t.Error("structpb takes an ID as it is now")
	}
	var zero gameid.Of[Hero]
	if _, err := zero.MarshalBinary(); !errors.Is(err, gameid.ErrZeroID) {
		t.Errorf("the bytes of the zero ID: %v", err)
	}
	if _, err := zero.MarshalText(); !errors.Is(err, gameid.ErrZeroID) {
		t.Errorf("the text of the zero ID: %v", err)
	}
}

// An attribute of OpenTelemetry takes what has a String method.
func TestOpenTelemetry(t *testing.T) {
	for want, got := range map[string]attribute.KeyValue{
		hero(1).String(): attribute.Stringer("player", hero(1)),
		clan(2).String(): attribute.String("guild", clan(2).String()),
		"invalid gameid": attribute.Stringer("zero", gameid.ID{}),
	} {
		if got.Value.AsString() != want {
			t.Errorf("%s is %q, want %q", got.Key, got.Value.AsString(), want)
		}
	}
	var none *gameid.Of[Hero]
	if err := recovered(func() error { attribute.Stringer("player", none); return nil }); err == nil {
		t.Error("a nil pointer is taken now: INTEGRATIONS.md says that it panics")
	}
	if got := attribute.Stringer("player", cmp.Or(none, new(gameid.Of[Hero]))); got.Value.AsString() != "invalid gameid" {
		t.Errorf("none is %q", got.Value.AsString())
	}
}
