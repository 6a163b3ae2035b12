package entity_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/number"
)

var now = entity.Time(time.Date(2026, 11, 21, 3, 4, 5, 678_901_234, time.FixedZone("", 3600)))

func id[E any](sequence uint16) gameid.Of[E] {
	made, err := gameid.Make(now, 7, sequence)
	if err != nil {
		panic(err)
	}
	return gameid.As[E](made)
}

func player() entity.Player {
	return entity.Player{ID: id[entity.Player](1), Account: "acc", Name: "Aria", Level: 1, CreatedAt: now, UpdatedAt: now}
}
func item() entity.Item {
	return entity.Item{ID: id[entity.Item](2), Owner: id[entity.Player](1), Template: 1, CreatedAt: now}
}
func guild() entity.Guild {
	return entity.Guild{ID: id[entity.Guild](3), Name: "Dawn", Leader: id[entity.Player](1), FoundedAt: now}
}
func member() entity.GuildMember {
	return entity.GuildMember{Player: id[entity.Player](1), Guild: id[entity.Guild](3), Rank: entity.Member, JoinedAt: now}
}

func with[E any](e E, change func(*E)) E {
	change(&e)
	return e
}

func TestValid(t *testing.T) {
	type P = entity.Player
	for name, e := range map[string]interface{ Validate() error }{
		"player": player(), "item": item(), "guild": guild(), "guild member": member(),
		"name of one character":  with(player(), func(p *P) { p.Name = "x" }),
		"characters, not bytes":  with(player(), func(p *P) { p.Name = strings.Repeat("𠮷", entity.MaxName) }),
		"longest account":        with(player(), func(p *P) { p.Account = strings.Repeat("a", entity.MaxAccount) }),
		"space inside":           with(player(), func(p *P) { p.Name = "Aria of Dawn" }),
		"emoji of several runes": with(player(), func(p *P) { p.Name = "👩‍🚀" }),
		"most gold":              with(player(), func(p *P) { p.Gold = 1<<63 - 1 }),
		"greatest number":        with(player(), func(p *P) { p.Number = number.Max }),
		"officer":                with(member(), func(m *entity.GuildMember) { m.Rank = entity.Officer }),
	} {
		if err := e.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalid(t *testing.T) {
	type P = entity.Player
	type I = entity.Item
	type G = entity.Guild
	type M = entity.GuildMember
	for _, test := range []struct {
		e             interface{ Validate() error }
		entity, field string
		reason        string // part of it
	}{
		{with(player(), func(p *P) { p.ID = gameid.Of[P]{} }), "player", "id", "is missing"},
		{with(player(), func(p *P) { p.Account = "" }), "player", "account", "is missing"},
		{with(player(), func(p *P) { p.Account = strings.Repeat("a", entity.MaxAccount+1) }), "player", "account", "has 65 characters, want at most 64"},
		{with(player(), func(p *P) { p.Name = "" }), "player", "name", "is missing"},
		{with(player(), func(p *P) { p.Name = strings.Repeat("é", entity.MaxName+1) }), "player", "name", "has 33 characters, want at most 32"},
		{with(player(), func(p *P) { p.Name = strings.Repeat("x", 1<<20) }), "player", "name", `x"... has more than 32 characters`},
		{with(player(), func(p *P) { p.Name = "Ar\xffia" }), "player", "name", `"Ar\xffia" is not valid UTF-8`},
		{with(player(), func(p *P) { p.Name = "Ar\x00ia" }), "player", "name", "invisible character U+0000"},
		{with(player(), func(p *P) { p.Name = "Ar\nia" }), "player", "name", "invisible character U+000A"},
		{with(player(), func(p *P) { p.Name = "Ar\u202eia" }), "player", "name", "invisible character U+202E"},
		{with(player(), func(p *P) { p.Name = "Ar\u2028ia" }), "player", "name", "invisible character U+2028"},
		{with(player(), func(p *P) { p.Name = "Aria\u200d" }), "player", "name", "begins or ends with a space"},
		{with(player(), func(p *P) { p.Name = "Aria " }), "player", "name", `"Aria " begins or ends with a space`},
		{with(player(), func(p *P) { p.Name = "\u3000Aria" }), "player", "name", "begins or ends with a space"},
		{with(player(), func(p *P) { p.Level = 0 }), "player", "level", "is 0, want at least 1"},
		{with(player(), func(p *P) { p.Gold = -1 }), "player", "gold", "is -1, want at least 0"},
		{with(player(), func(p *P) { p.CreatedAt = time.Time{} }), "player", "created_at", "is missing"},
		{with(player(), func(p *P) { p.UpdatedAt = now.Add(time.Microsecond) }), "player", "updated_at", "whole milliseconds"},
		{with(player(), func(p *P) { p.UpdatedAt = now.In(time.FixedZone("X", 60)) }), "player", "updated_at", "want UTC"},
		{with(player(), func(p *P) { p.Number = -1 }), "player", "number", "is -1, want 1 to 999999999999999, or none"},
		{with(player(), func(p *P) { p.Number = number.Max + 1 }), "player", "number", "want 1 to 999999999999999, or none"},
		{with(player(), func(p *P) { p.UpdatedAt = now.AddDate(8000, 0, 0) }), "player", "updated_at", "year 10026, want 1970 to 9999"},
		{with(player(), func(p *P) { p.UpdatedAt = now.AddDate(-60, 0, 0) }), "player", "updated_at", "year 1966, want 1970 to 9999"},
		{with(item(), func(i *I) { i.ID = gameid.Of[I]{} }), "item", "id", "is missing"},
		{with(item(), func(i *I) { i.Owner = gameid.Of[P]{} }), "item", "owner_id", "is missing"},
		{with(item(), func(i *I) { i.Template = 0 }), "item", "template", "is 0, want at least 1"},
		{with(item(), func(i *I) { i.Count = -3 }), "item", "count", "is -3, want at least 0"},
		{with(item(), func(i *I) { i.CreatedAt = time.Time{} }), "item", "created_at", "is missing"},
		{with(guild(), func(g *G) { g.ID = gameid.Of[G]{} }), "guild", "id", "is missing"},
		{with(guild(), func(g *G) { g.Name = "\t" }), "guild", "name", "begins or ends with a space"},
		{with(guild(), func(g *G) { g.Leader = gameid.Of[P]{} }), "guild", "leader_id", "is missing"},
		{with(guild(), func(g *G) { g.FoundedAt = time.Time{} }), "guild", "founded_at", "is missing"},
		{with(member(), func(m *M) { m.Player = gameid.Of[P]{} }), "guild member", "player_id", "is missing"},
		{with(member(), func(m *M) { m.Guild = gameid.Of[G]{} }), "guild member", "guild_id", "is missing"},
		{with(member(), func(m *M) { m.Rank = "king" }), "guild member", "rank", `is "king", want "member", "officer" or "leader"`},
		{with(member(), func(m *M) { m.JoinedAt = time.Time{} }), "guild member", "joined_at", "is missing"},
	} {
		err := test.e.Validate()
		field, ok := errors.AsType[*entity.FieldError](err)
		if !ok || field.Entity != test.entity || field.Field != test.field || !strings.Contains(field.Reason, test.reason) {
			t.Errorf("got %v, want %s: %s %s", err, test.entity, test.field, test.reason)
			continue
		}
		if want := "entity: " + test.entity + ": " + test.field + " "; !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("the message %q does not begin with %q or is long", err, want)
		}
	}
}

func TestTime(t *testing.T) {
	in := time.Now()
	got := entity.Time(in)
	if got.Location() != time.UTC || got.Nanosecond()%1e6 != 0 || got.After(in) || in.Sub(got) >= time.Millisecond {
		t.Errorf("Time(%s) = %s", in, got)
	}
	if back := time.UnixMilli(in.UnixMilli()).UTC(); got != back {
		t.Errorf("%#v != %#v, though both are the same millisecond in UTC", got, back)
	}
}

// The name of a field is the same in the database, in JSON and in a
// FieldError, and JSON gives back what was put in.
func TestNames(t *testing.T) {
	for _, e := range []any{player(), item(), guild(), member()} {
		typ := reflect.TypeOf(e)
		for i := range typ.NumField() {
			tag := typ.Field(i).Tag
			name, _, _ := strings.Cut(tag.Get("json"), ",")
			if tag.Get("db") == "" || tag.Get("db") != name {
				t.Errorf("%s.%s: db %q, json %q", typ, typ.Field(i).Name, tag.Get("db"), tag.Get("json"))
			}
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(typ)
		if err := json.Unmarshal(b, back.Interface()); err != nil || back.Elem().Interface() != e {
			t.Errorf("%s became %+v, %v", b, back.Elem(), err)
		}
	}
}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "mergesafe/entity").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := strings.Fields(string(out)), []string{"mergesafe/gameid", "mergesafe/number", "mergesafe/entity"}; !reflect.DeepEqual(got, want) {
		t.Errorf("entity depends on %v, want gameid and number only", got)
	}
}
