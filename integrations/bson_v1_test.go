package integrations

import (
	"strings"
	"testing"

	bsonv1 "go.mongodb.org/mongo-driver/bson"

	"mergesafe/gameid"
)

// Version 1 of the driver, which does not know the methods that version 2 asks for, refuses an ID in
// each place of a document, both ways. It used to store {} and to read it as the zero ID.
func TestBSONVersion1(t *testing.T) {
	id, public := hero(1), gameid.Opaque[Hero]{}
	must(t, public.UnmarshalText([]byte(id.String())))
	for name, v := range map[string]any{
		"ID":              id,
		"ID of no kind":   id.ID(),
		"pointer":         &id,
		"slice":           []gameid.Of[Hero]{id},
		"array":           [1]gameid.ID{id.ID()},
		"map":             map[string]gameid.ID{"a": id.ID()},
		"struct":          struct{ ID gameid.Of[Hero] }{id},
		"struct, pointer": struct{ ID *gameid.Of[Hero] }{&id},
		"struct, inline":  bsonPlayer{ID: id},
		"public ID":       public,
		"zero":            gameid.ID{},
	} {
		why := "mongo-driver/v2"
		if name == "public ID" {
			why = "a sealed ID is not for a database"
		}
		if doc, err := bsonv1.Marshal(bsonv1.M{"v": v}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s became %s, %v", name, bsonv1.Raw(doc), err)
		}
		if doc, err := bsonv1.Marshal(v); err == nil {
			t.Errorf("%s as a document became %s", name, bsonv1.Raw(doc))
		}
	}
	for name, v := range map[string]any{"what it stored before": bsonv1.M{}, "text": id.String(), "null": nil} {
		doc, err := bsonv1.Marshal(bsonv1.M{"id": v, "guild": v})
		must(t, err)
		got := struct{ ID gameid.Of[Hero] }{hero(2)}
		if err := bsonv1.Unmarshal(doc, &got); err == nil || got.ID.IsValid() {
			t.Errorf("%s was read as %s, %v", name, got.ID, err)
		}
		sealed := struct{ ID gameid.Opaque[Hero] }{public}
		if err := bsonv1.Unmarshal(doc, &sealed); err == nil || sealed.ID.IsValid() {
			t.Errorf("%s was read as public ID %s, %v", name, sealed.ID, err)
		}
	}
	// What is left out needs no method, and text is text.
	doc, err := bsonv1.Marshal(struct {
		ID    string          `bson:"_id"`
		Guild gameid.Of[Clan] `bson:"guild,omitempty"`
		Boss  *gameid.ID      `bson:"boss"`
	}{ID: id.String()})
	if want := `{"_id": "` + id.String() + `","boss": null}`; err != nil || bsonv1.Raw(doc).String() != want {
		t.Errorf("became %s, %v, want %s", bsonv1.Raw(doc), err, want)
	}
}
