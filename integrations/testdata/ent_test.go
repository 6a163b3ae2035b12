package integrations

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"mergesafe/gameid"
	"mergesafe/integrations/ent"
	"mergesafe/integrations/ent/player"
	"mergesafe/integrations/ent/schema"
	"mergesafe/internal/servertest"
)

// entPlayer and entGuild are IDs of the types that ent takes.
func entPlayer(n uint16) schema.PlayerID { return schema.PlayerID(made(n).Bytes()) }
func entGuild(n uint16) schema.GuildID   { return schema.GuildID(made(n).Bytes()) }

// The code that ent generates creates tables, and stores, finds, joins, changes and
// deletes rows by their IDs. TestEnt of the folder above runs this file.
func TestGenerated(t *testing.T) {
	test := func(t *testing.T, d database) {
		ctx := t.Context()
		name, written := dialect.SQLite, "SELECT HEX(id) FROM players WHERE guild_id = ? ORDER BY id"
		switch d.driver {
		case "mysql":
			name = dialect.MySQL
		case "pgx":
			name, written = dialect.Postgres, "SELECT UPPER(encode(id, 'hex')) FROM players WHERE guild_id = $1 ORDER BY id"
		}
		client := ent.NewClient(ent.Driver(entsql.OpenDB(name, d.pool)))
		must(t, client.Schema.Create(ctx))
		must(t, client.Schema.Create(ctx)) // changes nothing
		must(t, client.Guild.Create().SetID(entGuild(9)).Exec(ctx))
		for n, name := range []string{"0", "1", "2"} {
			create := client.Player.Create().SetID(entPlayer(uint16(n))).SetName(name)
			if n > 0 {
				create.SetGuildID(entGuild(9))
			}
			must(t, create.Exec(ctx))
		}
		want := []string{strings.ToUpper(made(1).String()), strings.ToUpper(made(2).String())}
		if got := d.hex(t, written, made(9)); !slices.Equal(got, want) {
			t.Errorf("stored are %q, want %q", got, want)
		}
		p, err := client.Player.Get(ctx, entPlayer(1))
		if err != nil || p.Name != "1" || p.ID.Of() != gameid.As[schema.Player](made(1)) || *p.GuildID != entGuild(9) {
			t.Errorf("Get: %+v, %v", p, err)
		}
		found, err := client.Player.Query().Where(player.IDIn(entPlayer(0), entPlayer(2))).Order(player.ByID()).WithGuild().All(ctx)
		if err != nil || len(found) != 2 || found[0].Edges.Guild != nil || found[1].Edges.Guild.ID != entGuild(9) {
			t.Errorf("IDIn: %v, %v", found, err)
		}
		ids, err := client.Guild.Query().QueryPlayers().IDs(ctx)
		if err != nil || len(ids) != 2 {
			t.Errorf("QueryPlayers: %v, %v", ids, err)
		}
		if there, err := client.Player.Query().Where(player.ID(entPlayer(7))).Exist(ctx); there || err != nil {
			t.Errorf("Exist: %t, %v", there, err)
		}
		text, err := json.Marshal(p)
		var back ent.Player
		if err != nil || json.Unmarshal(text, &back) != nil || back.ID != p.ID || !strings.Contains(string(text), made(1).String()) {
			t.Errorf("JSON is %s, %v", text, err)
		}
		must(t, client.Player.UpdateOneID(entPlayer(1)).SetName("one").ClearGuild().Exec(ctx))
		must(t, client.Player.DeleteOneID(entPlayer(2)).Exec(ctx))
		if got := d.hex(t, "SELECT name FROM players ORDER BY id"); !slices.Equal(got, []string{"0", "one"}) {
			t.Errorf("left are %q", got)
		}

		if err := client.Player.Create().SetName("zero").SetID(schema.PlayerID{}).Exec(ctx); err == nil {
			t.Error("the zero ID was stored")
		}
		if n, err := client.Player.Delete().Where(player.ID(schema.PlayerID{})).Exec(ctx); err == nil {
			t.Errorf("the zero ID deleted %d rows", n)
		}
		if err := client.Player.Create().SetName("x").SetID(entPlayer(5)).SetGuildID(entGuild(1)).Exec(ctx); !ent.IsConstraintError(err) {
			t.Errorf("a guild that is not there: %v", err)
		}
	}
	onEach(t, test)
	t.Run("postgres", func(t *testing.T) { test(t, open(t, "pgx", servertest.PostgresDSN(t))) })
}
