package store

import (
	"context"

	"mergesafe/entity"
	"mergesafe/gameid"
)

// Guilds is the table of guilds.
var Guilds = GuildTable{MustTable[entity.Guild, entity.Guild]("guilds")}

// GuildTable is a [Table] with the lookups of guilds.
type GuildTable struct {
	*Table[entity.Guild, entity.Guild]
}

// ByName returns the guild with the given name, compared as in
// [PlayerTable.ByName], or [ErrNotFound].
func (t GuildTable) ByName(ctx context.Context, s Session, name string) (entity.Guild, error) {
	return t.one(ctx, s, short, "named %q", name, t.selectAll+" WHERE name=?", name)
}

// OfPlayer returns the guild that a player is in, or [ErrNotFound].
func (t GuildTable) OfPlayer(ctx context.Context, s Session, player gameid.Of[entity.Player]) (entity.Guild, error) {
	return t.one(ctx, s, short, "of player %s", player,
		t.selectAll+" WHERE id=(SELECT guild_id FROM guild_members WHERE player_id=?)", player)
}

// GuildMembers is the table that says which guild a player is in. Its key is
// the player, so that nobody is in two.
var GuildMembers = GuildMemberTable{MustTable[entity.Player, entity.GuildMember]("guild_members")}

// GuildMemberTable is a [Table] with the lookups of guild members.
type GuildMemberTable struct {
	*Table[entity.Player, entity.GuildMember]
}

// OfGuild returns the members of a guild in the order of their players' IDs.
func (t GuildMemberTable) OfGuild(ctx context.Context, s Session, guild gameid.Of[entity.Guild]) ([]entity.GuildMember, error) {
	return t.Where(ctx, s, "guild_id=? ORDER BY player_id", guild)
}
