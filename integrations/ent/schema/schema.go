// Package schema is what ent generates the package ent from.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

var column = map[string]string{dialect.MySQL: "binary(10)", dialect.SQLite: "blob", dialect.Postgres: "bytea"}

// Player is a row, and the kind of its ID.
type Player struct{ ent.Schema }

// Fields of a player.
func (Player) Fields() []ent.Field {
	return []ent.Field{
		field.Bytes("id").GoType(PlayerID{}).SchemaType(column).Immutable(),
		field.String("name"),
		field.Bytes("guild_id").GoType(GuildID{}).SchemaType(column).Optional().Nillable(),
	}
}

// Edges of a player.
func (Player) Edges() []ent.Edge {
	return []ent.Edge{edge.From("guild", Guild.Type).Ref("players").Field("guild_id").Unique()}
}

// Guild is a row, and the kind of its ID.
type Guild struct{ ent.Schema }

// Fields of a guild.
func (Guild) Fields() []ent.Field {
	return []ent.Field{field.Bytes("id").GoType(GuildID{}).SchemaType(column).Immutable()}
}

// Edges of a guild.
func (Guild) Edges() []ent.Edge { return []ent.Edge{edge.To("players", Player.Type)} }
