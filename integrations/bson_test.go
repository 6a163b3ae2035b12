package integrations

import (
	"bytes"
	"encoding"
	"errors"
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"mergesafe/gameid"
)

type bsonPlayer struct {
	ID    gameid.Of[Hero]   `bson:"_id"`
	Guild gameid.Of[Clan]   `bson:"guild,omitempty"` // missing if it is zero
	Boss  *gameid.Of[Hero]  `bson:"boss"`            // null if it is nil
	Items []gameid.ID       `bson:"items"`
	Gold  map[string]int64  `bson:"gold"`
	Clans map[int]gameid.ID `bson:"clans"`
}

// A document with IDs goes to BSON and back, and has the text of the ID in it.
func TestBSON(t *testing.T) {
	boss := hero(3)
	for name, p := range map[string]bsonPlayer{
		"all":  {hero(1), clan(2), &boss, []gameid.ID{made(4), made(5)}, map[string]int64{hero(1).String(): 7}, map[int]gameid.ID{1: made(6)}},
		"less": {ID: hero(1)},
	} {
		doc, err := bson.Marshal(p)
		must(t, err)
		var back bsonPlayer
		if err := bson.Unmarshal(doc, &back); err != nil || !reflect.DeepEqual(back, p) {
			t.Errorf("%s came back as %+v, %v", name, back, err)
		}
		raw := bson.Raw(doc)
		if s, ok := raw.Lookup("_id").StringValueOK(); !ok || s != p.ID.String() {
			t.Errorf("%s has _id %s", name, raw.Lookup("_id"))
		}
		if _, err := raw.LookupErr("guild"); (err == nil) != p.Guild.IsValid() {
			t.Errorf("%s has guild %s", name, raw.Lookup("guild"))
		}
	}
	filter, err := bson.Marshal(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: []gameid.Of[Hero]{hero(1), hero(2)}}}}})
	must(t, err)
	if got, want := bson.Raw(filter).String(), `{"_id": {"$in": ["`+hero(1).String()+`","`+hero(2).String()+`"]}}`; got != want {
		t.Errorf("the filter is %s, want %s", got, want)
	}
}

func TestBSONRefuses(t *testing.T) {
	var public gameid.Opaque[Hero]
	for name, doc := range map[string]any{
		"zero":         bson.M{"id": gameid.ID{}},
		"zero of kind": bsonPlayer{},
		"public ID":    bson.M{"id": public},
	} {
		if got, err := bson.Marshal(doc); err == nil {
			t.Errorf("%s became %s", name, bson.Raw(got))
		}
	}
	if _, err := bson.Marshal(bsonPlayer{}); !errors.Is(err, gameid.ErrZeroID) {
		t.Errorf("the zero ID: %v", err)
	}
	for name, v := range map[string]any{"null": nil, "document": bson.M{}, "number": 7, "text": "x", "ObjectID": bson.NewObjectID()} {
		doc, err := bson.Marshal(bson.M{"_id": v})
		must(t, err)
		p := bsonPlayer{ID: hero(1)}
		if err := bson.Unmarshal(doc, &p); err == nil || p.ID.IsValid() {
			t.Errorf("%s was read as %s, %v", name, p.ID, err)
		}
	}
}

// bytesOf writes IDs of kind E as 10 bytes: INTEGRATIONS.md shows it.
func bytesOf[E any](registry *bson.Registry) {
	encode := bson.ValueEncoderFunc(func(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return w.WriteNull()
		}
		raw, err := v.Interface().(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			return err
		}
		return w.WriteBinary(raw)
	})
	registry.RegisterTypeEncoder(reflect.TypeFor[gameid.Of[E]](), encode)
	registry.RegisterTypeEncoder(reflect.TypeFor[*gameid.Of[E]](), encode)
}

// With an encoder for its kind, an ID is 10 bytes in BSON, and is read as well.
func TestBSONBytes(t *testing.T) {
	registry := bson.NewRegistry()
	bytesOf[Hero](registry)
	var out bytes.Buffer
	encoder := bson.NewEncoder(bson.NewDocumentWriter(&out))
	encoder.SetRegistry(registry)
	boss := hero(2)
	must(t, encoder.Encode(bsonPlayer{ID: hero(1), Boss: &boss}))
	for field, id := range map[string]gameid.Of[Hero]{"_id": hero(1), "boss": boss} {
		want := id.Bytes()
		v := bson.Raw(out.Bytes()).Lookup(field)
		if subtype, got, ok := v.BinaryOK(); !ok || subtype != 0 || !bytes.Equal(got, want[:]) {
			t.Errorf("%s is %s", field, v)
		}
	}
	var p bsonPlayer
	if err := bson.Unmarshal(out.Bytes(), &p); err != nil || p.ID != hero(1) || p.Boss == nil || *p.Boss != boss {
		t.Errorf("read as %+v, %v", p, err)
	}
	out.Reset()
	must(t, encoder.Encode(bsonPlayer{ID: hero(1)}))
	if v := bson.Raw(out.Bytes()).Lookup("boss"); v.Type != bson.TypeNull {
		t.Errorf("without a boss: %s", v)
	}
	if err := encoder.Encode(bsonPlayer{}); !errors.Is(err, gameid.ErrZeroID) {
		t.Errorf("the zero ID: %v", err)
	}
}
