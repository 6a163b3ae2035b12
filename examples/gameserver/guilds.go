package main

import (
	"errors"
	"net/http"

	"mergesafe/entity"
	"mergesafe/store"
	"mergesafe/store/starter"
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
	leader, err := s.public.players.open("leader_id", in.Leader)
	if err != nil {
		return reply{}, err
	}
	ctx := r.Context()
	id, err := s.guilds.Next()
	if err != nil {
		return reply{}, err
	}
	now := entity.Time(s.now())
	guild := entity.Guild{ID: id, Name: in.Name, Leader: leader, FoundedAt: now}
	member := entity.GuildMember{Player: leader, Guild: id, Rank: entity.Leader, JoinedAt: now}
	err = s.db.InTx(ctx, func(tx *store.Tx) error {
		if err := starter.Guilds.Insert(ctx, tx, guild); err != nil {
			return err
		}
		return starter.GuildMembers.Insert(ctx, tx, member)
	})
	if errors.Is(err, store.ErrForeignKey) {
		err = s.public.players.notFound("leader_id", in.Leader)
	}
	if err != nil {
		return reply{}, memberAlready(conflict(err, "guilds", "name", nameTaken(in.Name)), "leader_id", in.Leader)
	}
	public := s.public.guild(guild)
	return reply{http.StatusCreated, "/guilds/" + string(public.ID), public}, nil
}

// joinGuild answers POST /guilds/{id}/members {"player_id"}.
func (s *server) joinGuild(r *http.Request) (reply, error) {
	guild, err := s.public.guilds.open("id", r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Player string `json:"player_id"`
	}
	if err := decode(r, &in); err != nil {
		return reply{}, err
	}
	player, err := s.public.players.open("player_id", in.Player)
	if err != nil {
		return reply{}, err
	}
	ctx := r.Context()
	member := entity.GuildMember{Player: player, Guild: guild, Rank: entity.Member, JoinedAt: entity.Time(s.now())}
	err = s.db.InTx(ctx, func(tx *store.Tx) error { return starter.GuildMembers.Insert(ctx, tx, member) })
	if errors.Is(err, store.ErrForeignKey) {
		// Of the two, which? Not every database says so itself.
		_, err = starter.Guilds.Get(ctx, s.db, guild)
		switch {
		case err == nil:
			err = s.public.players.notFound("player_id", in.Player)
		case errors.Is(err, store.ErrNotFound):
			err = s.public.guilds.notFound("id", r.PathValue("id"))
		}
	}
	if err != nil {
		return reply{}, memberAlready(err, "player_id", in.Player)
	}
	public := s.public.member(member)
	return reply{http.StatusCreated, "/players/" + string(public.Player), public}, nil
}

func memberAlready(err error, field, player string) error {
	return conflict(err, "guild_members", "PRIMARY",
		newProblem(http.StatusConflict, field, "player %s is in a guild already", player))
}

// guildView is a guild with its members.
type guildView struct {
	publicGuild
	Members []publicMember `json:"members"`
}

// guild answers GET /guilds/{id}.
func (s *server) guild(r *http.Request) (reply, error) {
	id, err := s.public.guilds.open("id", r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	ctx := r.Context()
	var view guildView
	err = s.db.Snapshot(ctx, func(tx *store.Tx) error {
		guild, err := starter.Guilds.Get(ctx, tx, id)
		if err != nil {
			return err
		}
		members, err := starter.GuildMembers.OfGuild(ctx, tx, id)
		view = guildView{s.public.guild(guild), each(members, s.public.member)}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = s.public.guilds.notFound("id", r.PathValue("id"))
	}
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, "", view}, nil
}
