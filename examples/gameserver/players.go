package main

import (
	"errors"
	"fmt"
	"net/http"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// createPlayer answers POST /players {"account", "name"}.
func (s *server) createPlayer(r *http.Request) (reply, error) {
	var in struct {
		Account string `json:"account"`
		Name    string `json:"name"`
	}
	if err := decode(r, &in); err != nil {
		return reply{}, err
	}
	ctx := r.Context()
	id, err := s.players.Next()
	if err != nil {
		return reply{}, err
	}
	now := entity.Time(s.now())
	player := entity.Player{ID: id, Account: in.Account, Name: in.Name, Level: 1, CreatedAt: now, UpdatedAt: now}
	// A number that is not used is lost. So first see whether this can succeed.
	if err := player.Validate(); err != nil {
		return reply{}, err
	}
	switch _, err := starter.Players.ByName(ctx, s.db, in.Name); {
	case err == nil:
		return reply{}, nameTaken(in.Name)
	case !errors.Is(err, store.ErrNotFound):
		return reply{}, err
	}
	if player.Number, err = s.numbers.Next(ctx); err != nil {
		return reply{}, err
	}
	err = s.db.InTx(ctx, func(tx *store.Tx) error { return starter.Players.Insert(ctx, tx, player) })
	if err != nil {
		return reply{}, conflict(err, "players", "name", nameTaken(in.Name))
	}
	public := s.public.player(player)
	return reply{http.StatusCreated, "/players/" + string(public.ID), public}, nil
}

func nameTaken(name string) *problem {
	return newProblem(http.StatusConflict, "name", "name %q is taken", name)
}

// giveLoot answers POST /players/{id}/items {"items": [{"template", "count"}]}.
func (s *server) giveLoot(r *http.Request) (reply, error) {
	owner, err := s.public.players.open("id", r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Items []struct {
			Template int32 `json:"template"`
			Count    int64 `json:"count"`
		} `json:"items"`
	}
	if err := decode(r, &in); err != nil {
		return reply{}, err
	}
	if n := len(in.Items); n == 0 || n > maxLoot {
		return reply{}, newProblem(http.StatusBadRequest, "items", "items has %d elements, want 1 to %d", n, maxLoot)
	}
	ctx := r.Context()
	ids := make([]gameid.Of[entity.Item], len(in.Items))
	if err := s.items.Fill(ids); err != nil {
		return reply{}, err
	}
	now := entity.Time(s.now())
	items := make([]entity.Item, len(ids))
	for i, given := range in.Items {
		items[i] = entity.Item{ID: ids[i], Owner: owner, Template: given.Template, Count: given.Count, CreatedAt: now}
		if err := items[i].Validate(); err != nil {
			return reply{}, within(fmt.Sprintf("items[%d].", i), err)
		}
	}
	err = s.db.InTx(ctx, func(tx *store.Tx) error { return starter.Items.Insert(ctx, tx, items...) })
	if errors.Is(err, store.ErrForeignKey) {
		err = s.public.players.notFound("id", r.PathValue("id"))
	}
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusCreated, "", map[string]any{"items": each(items, s.public.item)}}, nil
}

// within puts the place of a struct before the name of the field that is wrong
// in it.
func within(place string, err error) error {
	if e, ok := errors.AsType[*entity.FieldError](err); ok {
		return &entity.FieldError{Entity: e.Entity, Field: place + e.Field, Reason: e.Reason}
	}
	return err
}

// playerView is a player with all that belongs to him.
type playerView struct {
	publicPlayer
	Items []publicItem `json:"items"`
	Guild *publicGuild `json:"guild"` // null if he is in none
}

// player answers GET /players/{id}.
func (s *server) player(r *http.Request) (reply, error) {
	id, err := s.public.players.open("id", r.PathValue("id"))
	if err != nil {
		return reply{}, err
	}
	return s.view(r, s.public.players.notFound("id", r.PathValue("id")), func(tx *store.Tx) (entity.Player, error) {
		return starter.Players.Get(r.Context(), tx, id)
	})
}

// findPlayer answers GET /players?name= and GET /players?number=.
func (s *server) findPlayer(r *http.Request) (reply, error) {
	query := r.URL.Query()
	name, number := query.Get("name"), query.Get("number")
	switch {
	case name == "" && number == "":
		return reply{}, newProblem(http.StatusBadRequest, "name", "name is missing, want /players?name= or /players?number=")
	case name != "" && number != "":
		return reply{}, newProblem(http.StatusBadRequest, "number", "number and name are both there, want one of them")
	case name != "":
		return s.playerByName(r, name)
	}
	return s.playerByNumber(r, number)
}

func (s *server) playerByName(r *http.Request, name string) (reply, error) {
	absent := newProblem(http.StatusNotFound, "name", "there is no player named %q", name)
	return s.view(r, absent, func(tx *store.Tx) (entity.Player, error) {
		return starter.Players.ByName(r.Context(), tx, name)
	})
}

// view reads the player that find returns, with items and guild, as they are
// at one moment. absent is the answer if there is no such player.
func (s *server) view(r *http.Request, absent error, find func(*store.Tx) (entity.Player, error)) (reply, error) {
	ctx := r.Context()
	var view playerView
	err := s.db.Snapshot(ctx, func(tx *store.Tx) error {
		player, err := find(tx)
		if errors.Is(err, store.ErrNotFound) {
			return absent
		}
		if err != nil {
			return err
		}
		items, err := starter.Items.OfPlayer(ctx, tx, player.ID)
		if err != nil {
			return err
		}
		view = playerView{publicPlayer: s.public.player(player), Items: each(items, s.public.item)}
		guild, err := starter.Guilds.OfPlayer(ctx, tx, player.ID)
		switch {
		case err == nil:
			public := s.public.guild(guild)
			view.Guild = &public
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return reply{http.StatusOK, "", view}, nil
}
