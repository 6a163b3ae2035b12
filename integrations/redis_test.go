package integrations

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"mergesafe/gameid"
)

type redisSession struct {
	Player gameid.Of[Hero]  `redis:"player"`
	Guild  *gameid.Of[Clan] `redis:"guild,omitempty"`
	Item   gameid.ID        `redis:"item"`
	Level  int              `redis:"level"`
}

// Text goes in and comes back, in values, keys, members and hashes. An ID that is
// given as it is becomes 10 bytes, which come back, too.
func TestRedis(t *testing.T) {
	ctx := t.Context()
	db := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr(), Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { db.Close() })
	id := hero(1)

	for name, value := range map[string]any{"text": id.String(), "bytes": id} {
		must(t, db.Set(ctx, "session:"+name, value, 0).Err())
		var got gameid.Of[Hero]
		if err := db.Get(ctx, "session:"+name).Scan(&got); err != nil || got != id {
			t.Errorf("Get of %s: %s, %v", name, got, err)
		}
		must(t, db.HSet(ctx, "hash:"+name, "player", value, "level", 7).Err())
		var session redisSession
		if err := db.HGetAll(ctx, "hash:"+name).Scan(&session); err != nil || session.Player != id || session.Level != 7 {
			t.Errorf("HGetAll of %s: %+v, %v", name, session, err)
		}
	}
	if got := db.Get(ctx, "session:text").Val(); got != id.String() {
		t.Errorf("in Redis is %q", got)
	}

	guild := clan(2)
	for _, session := range []redisSession{{Player: id, Item: made(9), Level: 3}, {id, &guild, made(9), 4}} {
		must(t, db.Del(ctx, "struct").Err())
		must(t, db.HSet(ctx, "struct", session).Err())
		var got redisSession
		must(t, db.HGetAll(ctx, "struct").Scan(&got))
		if got.Player != session.Player || got.Item != session.Item || got.Level != session.Level || (got.Guild == nil) != (session.Guild == nil) ||
			got.Guild != nil && *got.Guild != guild {
			t.Errorf("HSet of a struct: %+v, want %+v", got, session)
		}
	}

	must(t, db.ZAdd(ctx, "top", redis.Z{Score: 2, Member: hero(2).String()}, redis.Z{Score: 1, Member: hero(1).String()}).Err())
	members, err := db.ZRange(ctx, "top", 0, -1).Result()
	must(t, err)
	for i, member := range members {
		if got, err := gameid.ParseOf[Hero](member); err != nil || got != hero(uint16(i+1)) {
			t.Errorf("member %d is %q: %s, %v", i, member, got, err)
		}
	}
	var scanned []gameid.Of[Hero]
	if err := db.ZRange(ctx, "top", 0, -1).ScanSlice(&scanned); err != nil || len(scanned) != 2 || scanned[1] != hero(2) {
		t.Errorf("ScanSlice: %v, %v", scanned, err)
	}

	if err := db.Set(ctx, "zero", gameid.ID{}, 0).Err(); err == nil {
		t.Error("the zero ID was stored")
	}
	if err := db.HSet(ctx, "zero", redisSession{}).Err(); err == nil {
		t.Error("a struct with the zero ID was stored")
	}
	must(t, db.HSet(ctx, "bad", "player", "nobody").Err())
	session := redisSession{Player: id}
	if err := db.HGetAll(ctx, "bad").Scan(&session); err == nil || session.Player.IsValid() {
		t.Errorf("bad text was read as %s, %v", session.Player, err)
	}
}
