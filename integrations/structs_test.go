package integrations

import (
	"errors"
	"net/url"
	"reflect"
	"testing"

	"github.com/go-viper/mapstructure/v2"
	"github.com/google/go-querystring/query"

	"mergesafe/gameid"
)

// go-querystring writes IDs, and leaves out what is missing.
func TestQueryString(t *testing.T) {
	id, boss := hero(1), hero(2)
	var public gameid.Opaque[Hero]
	must(t, public.UnmarshalText([]byte(id.String())))
	type filter struct {
		Player gameid.Of[Hero]     `url:"player"`
		Guild  gameid.Of[Clan]     `url:"guild,omitempty"`
		Boss   *gameid.Of[Hero]    `url:"boss,omitempty"`
		Plain  gameid.ID           `url:"plain,omitempty"`
		Items  []gameid.ID         `url:"item"`
		Public gameid.Opaque[Hero] `url:"public,omitempty"`
		In     struct {
			ID gameid.ID `url:"id,omitempty"`
		} `url:"in"`
	}
	all := filter{
		Player: id, Guild: clan(3), Boss: &boss, Plain: made(4), Items: []gameid.ID{made(5), made(6)}, Public: public,
	}
	all.In.ID = made(7)
	for name, c := range map[string]struct {
		filter filter
		want   url.Values
	}{
		"all": {all, url.Values{
			"player": {id.String()}, "guild": {clan(3).String()}, "boss": {boss.String()}, "plain": {made(4).String()},
			"item": {made(5).String(), made(6).String()}, "public": {public.String()}, "in[id]": {made(7).String()},
		}},
		"less": {filter{Player: id}, url.Values{"player": {id.String()}}},
	} {
		if got, err := query.Values(c.filter); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	list := struct{ IDs []gameid.ID }{make([]gameid.ID, 1)}
	if got, err := query.Values(list); err != nil || got.Get("IDs") != "invalid gameid" {
		t.Errorf("INTEGRATIONS.md says something else of a zero ID in a slice: %v, %v", got, err)
	}
	for name, v := range map[string]any{
		"zero":           struct{ ID gameid.Of[Hero] }{},
		"zero public ID": struct{ ID gameid.Opaque[Hero] }{},
		"nil pointer":    struct{ ID *gameid.ID }{},
	} {
		if got, err := query.Values(v); !errors.Is(err, gameid.ErrZeroID) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

type decoded struct {
	ID    gameid.Of[Hero]  `mapstructure:"id"`
	Guild *gameid.Of[Clan] `mapstructure:"guild"`
	Items []gameid.ID      `mapstructure:"items"`
}

// mapstructure reads IDs from text with its hook. It asks a struct for no method when it makes a map of
// it: INTEGRATIONS.md says which fields come through.
func TestMapstructure(t *testing.T) {
	input := map[string]any{
		"id": hero(1).String(), "guild": clan(2).String(), "items": []string{made(3).String(), made(4).String()},
	}
	read := func(input any, hook mapstructure.DecodeHookFunc) (got decoded, err error) {
		t.Helper()
		decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{DecodeHook: hook, Result: &got})
		must(t, err)
		return got, decoder.Decode(input)
	}
	hook := mapstructure.TextUnmarshallerHookFunc()
	got, err := read(input, hook)
	guild := clan(2)
	if err != nil || !reflect.DeepEqual(got, decoded{hero(1), &guild, []gameid.ID{made(3), made(4)}}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := read(input, nil); err == nil || got.ID.IsValid() {
		t.Errorf("without the hook: %+v, %v", got, err)
	}
	for _, bad := range []any{"1", "", 7, []int{1}} {
		if got, err := read(map[string]any{"id": bad}, hook); err == nil || got.ID.IsValid() {
			t.Errorf("%v was read as %+v, %v", bad, got, err)
		}
	}
	var out map[string]any
	must(t, mapstructure.Decode(decoded{ID: hero(1), Guild: &guild, Items: []gameid.ID{made(3)}}, &out))
	want := map[string]any{"id": map[string]any{}, "guild": &guild, "items": []gameid.ID{made(3)}}
	if !reflect.DeepEqual(out, want) {
		t.Errorf("INTEGRATIONS.md says something else of a map: %#v", out)
	}
	var other struct {
		ID    gameid.Of[Hero]  `mapstructure:"id"`
		Guild *gameid.Of[Clan] `mapstructure:"guild"`
	}
	must(t, mapstructure.Decode(decoded{ID: hero(1), Guild: &guild}, &other))
	if other.ID.IsValid() || other.Guild == nil || *other.Guild != guild {
		t.Errorf("INTEGRATIONS.md says something else of another struct: %+v", other)
	}
}
