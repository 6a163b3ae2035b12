package main

import (
	"context"
	"errors"
	"net/http"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
)

// foundGuild answers POST /guilds {"name", "leader_id"}. The leader becomes
// the first member.
func (s *server) foundGuild(r *http.Request) (reply, error) {
	var in struct {
		Name   string `json:"name"`
		Leader string `json:"leader_id"`
	}
	if err := decode(r, &in); err != nil {
		return reply{}, err
	}
	leader, err := parseID[entity.Player]("leader_id", in.Leader)
	if err != nil {
		return reply{}, err
	}
	ctx := r.Context()
	id, err := s.guilds.NextContext(ctx)
	if err != nil {
		return reply{}, err
	}
	now := entity.Time(s.now())
	guild := entity.Guild{ID: id, Name: in.Name, Leader: leader, FoundedAt: now}
	member := entity.GuildMember{Player: leader, Guild: id, Rank: entity.Leader, JoinedAt: now}
	err = store.Retry(ctx, func() error {
		return s.db.InTx(ctx, func(tx *store.Tx) error {
			if err := store.Guilds.Insert(ctx, tx, guild); err != nil {
				return err
			}
			return store.GuildMembers.Insert(ctx, tx, member)
		})
	})
	if errors.Is(err, store.ErrForeignKey) {
		err = notFound("leader_id", "player", leader)
	}
	if err != nil {
		return reply{}, memberAlready(nameTaken(err, store.Guilds.Name(), in.Name), "leader_id", leader)
	}
	return reply{http.StatusCreated, "/guilds/" + id.String(), guild}, nil
}

// joinGuild answers POST /guilds/{id}/members {"player_id"}.
func (s *server) joinGuild(r *http.Request) (reply, error) {
	guild, err := parseID[entity.Guild]("id", r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Player string `json:"player_id"`
	}
	if err := decode(r, &in); err != nil {
		return reply{}, err
	}
	player, err := parseID[entity.Player]("player_id", in.Player)
	if err != nil {
		return reply{}, err
	}
	ctx := r.Context()
	member := entity.GuildMember{Player: player, Guild: guild, Rank: entity.Member, JoinedAt: entity.Time(s.now())}
	err = store.Retry(ctx, func() error { return store.GuildMembers.Insert(ctx, s.db, member) })
	if errors.Is(err, store.ErrForeignKey) {
		err = s.missingOf(ctx, guild, player)
	}
	if err != nil {
		return reply{}, memberAlready(err, "player_id", player)
	}
	return reply{http.StatusCreated, "/players/" + player.String(), member}, nil
}

// missingOf tells which of the two does not exist. Not every database says so
// itself.
func (s *server) missingOf(ctx context.Context, guild gameid.Of[entity.Guild], player gameid.Of[entity.Player]) error {
	_, err := store.Guilds.Get(ctx, s.db, guild)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return notFound("id", "guild", guild)
	case err != nil:
		return err
	}
	return notFound("player_id", "player", player)
}

func memberAlready(err error, field string, player gameid.Of[entity.Player]) error {
	return conflict(err, store.GuildMembers.Name(), "PRIMARY",
		newProblem(http.StatusConflict, field, "player %s is in a guild already", player))
}

// guildView is a guild with its members.
type guildView struct {
	entity.Guild
	Members []entity.GuildMember `json:"members"`
}

// guild answers GET /guilds/{id}.
func (s *server) guild(r *http.Request) (reply, error) {
	id, err := parseID[entity.Guild]("id", r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	ctx := r.Context()
	var view guildView
	err = s.db.Snapshot(ctx, func(tx *store.Tx) (err error) {
		if view.Guild, err = store.Guilds.Get(ctx, tx, id); err != nil {
			return err
		}
		view.Members, err = store.GuildMembers.OfGuild(ctx, tx, id)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = notFound("id", "guild", id)
	}
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, "", view}, nil
}
