package pieces_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/examples/gameserver/pieces"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

var (
	must = storetest.Must
	is   = storetest.Is
)

// onEach gives the test each database with three players, who have 100 gold and an item each.
func onEach(t *testing.T, test func(t *testing.T, db *store.DB, players []entity.Player, items []entity.Item)) {
	storetest.OnEachWithTables(t, func(t *testing.T, db *store.DB) {
		must(t, pieces.Create(t.Context(), db))
		var players []entity.Player
		var items []entity.Item
		for i := range 3 {
			p := storetest.Player(i)
			p.Gold = 100
			players, items = append(players, p), append(items, storetest.Item(i, p))
		}
		must(t, starter.Players.Insert(t.Context(), db, players...))
		must(t, starter.Items.Insert(t.Context(), db, items...))
		test(t, db, players, items)
	})
}

// gold returns the gold of a table.
func gold(t *testing.T, db *store.DB, table string) (sum int64) {
	t.Helper()
	must(t, db.Get(t.Context(), &sum, "SELECT COALESCE(SUM(gold), 0) FROM "+table))
	return sum
}

// Players trade with each other at once: no gold is made or lost, and each item has one owner.
func TestTrade(t *testing.T) {
	onEach(t, func(t *testing.T, db *store.DB, players []entity.Player, items []entity.Item) {
		ctx := t.Context()
		p, sword := players, items[0].ID
		must(t, pieces.Trade(ctx, db, p[0].ID, p[1].ID, sword, 30))
		seller, err := starter.Players.Get(ctx, db, p[0].ID)
		if want := p[0]; err != nil || seller.Gold != 130 || seller.Name != want.Name {
			t.Errorf("the seller has %+v, %v, want 130 gold", seller, err)
		}
		for want, err := range map[error]error{
			pieces.ErrOwner:   pieces.Trade(ctx, db, p[0].ID, p[1].ID, sword, 1),
			pieces.ErrPoor:    pieces.Trade(ctx, db, p[1].ID, p[0].ID, sword, 131),
			pieces.ErrAmount:  pieces.Trade(ctx, db, p[1].ID, p[0].ID, sword, -1),
			pieces.ErrSelf:    pieces.Trade(ctx, db, p[1].ID, p[1].ID, sword, 1),
			store.ErrNotFound: pieces.Trade(ctx, db, p[1].ID, storetest.Player(9).ID, sword, 1),
		} {
			is(t, err, []error{want})
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for n := range 5 {
					from, to, item := p[i%3].ID, p[(i+1+n%2)%3].ID, items[(i+n)%3].ID
					err := pieces.Trade(ctx, db, from, to, item, 40)
					if err != nil && !errors.Is(err, pieces.ErrOwner) && !errors.Is(err, pieces.ErrPoor) {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if sum := gold(t, db, "players"); sum != 300 {
			t.Errorf("the players have %d gold, want 300", sum)
		}
		rich := p[0]
		rich.Gold = math.MaxInt64
		must(t, starter.Players.Update(ctx, db, rich, "gold"))
		for _, item := range items {
			must(t, storetest.Second(starter.Items.UpdateWhere(ctx, db, "owner_id = ?", "id = ?", rich.ID, item.ID)))
		}
		is(t, pieces.Trade(ctx, db, rich.ID, p[1].ID, sword, 1), []error{pieces.ErrRich})
		if n, err := starter.Items.Count(ctx, db, "TRUE"); n != 3 || err != nil {
			t.Errorf("%d items, %v", n, err)
		}
	})
}

func TestDeposit(t *testing.T) {
	onEach(t, func(t *testing.T, db *store.DB, players []entity.Player, _ []entity.Item) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := pieces.Deposit(t.Context(), db, players[0].ID, 30); err != nil && err != pieces.ErrPoor {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		is(t, pieces.Deposit(t.Context(), db, players[0].ID, 11), []error{pieces.ErrPoor})
		is(t, pieces.Deposit(t.Context(), db, players[0].ID, -1), []error{pieces.ErrAmount})
		if left, kept := gold(t, db, "players"), gold(t, db, "accounts"); left != 210 || kept != 90 {
			t.Errorf("%d gold and %d in the bank, want 210 and 90", left, kept)
		}
		rich := players[1]
		rich.Gold = math.MaxInt64
		must(t, starter.Players.Update(t.Context(), db, rich, "gold"))
		must(t, pieces.Deposit(t.Context(), db, rich.ID, math.MaxInt64))
		rich.Gold = 1
		must(t, starter.Players.Update(t.Context(), db, rich, "gold"))
		is(t, pieces.Deposit(t.Context(), db, rich.ID, 1), []error{pieces.ErrRich})
	})
}

func TestFriends(t *testing.T) {
	onEach(t, func(t *testing.T, db *store.DB, players []entity.Player, _ []entity.Item) {
		ctx := t.Context()
		a, b, c := players[0].ID, players[1].ID, players[2].ID
		later := storetest.Born.Add(time.Hour)
		must(t, pieces.Befriend(ctx, db, a, c, storetest.Born))
		must(t, pieces.Befriend(ctx, db, b, a, storetest.Born))
		must(t, pieces.Befriend(ctx, db, a, b, later))
		is(t, pieces.Befriend(ctx, db, a, a, later), []error{pieces.ErrSelf})
		want := []pieces.Friend{{pieces.Friendship{a, b}, later}, {pieces.Friendship{a, c}, storetest.Born}}
		if got, err := pieces.Friends(ctx, db, a); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
		must(t, pieces.Unfriend(ctx, db, c, a))
		is(t, pieces.Unfriend(ctx, db, c, a), []error{store.ErrNotFound})
		if got, err := pieces.Friends(ctx, db, a); err != nil || !slices.Equal(got, want[:1]) {
			t.Errorf("got %v, %v, want %v", got, err, want[:1])
		}
	})
}

// Players begin and end friendships with each other at once: each call comes to its end, and each friend has the other.
func TestFriendsAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, db *store.DB, players []entity.Player, _ []entity.Item) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for n := range 20 {
					a, b := players[i%3].ID, players[(i+1+n%2)%3].ID
					err := pieces.Befriend(t.Context(), db, a, b, storetest.Born)
					if n%4 > 1 {
						err = pieces.Unfriend(t.Context(), db, a, b)
					}
					if err != nil && !errors.Is(err, store.ErrNotFound) {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for _, p := range players {
			mine, err := pieces.Friends(t.Context(), db, p.ID)
			must(t, err)
			for _, f := range mine {
				theirs, err := pieces.Friends(t.Context(), db, f.Friend)
				if must(t, err); !slices.Contains(theirs, pieces.Friend{Friendship: pieces.Friendship{Player: f.Friend, Friend: p.ID}, Since: storetest.Born}) {
					t.Errorf("%s is a friend of %s, who is none of %[1]s", f.Friend, p.ID)
				}
			}
		}
	})
}

func TestPurgeMail(t *testing.T) {
	onEach(t, func(t *testing.T, db *store.DB, players []entity.Player, _ []entity.Item) {
		for i := range 5 {
			must(t, pieces.Mails.Insert(t.Context(), db, pieces.Mail{
				ID: storetest.ID[pieces.Mail](i), To: players[0].ID, Text: "hello", Sent: storetest.Born.AddDate(0, 0, i)}))
		}
		if n, err := pieces.PurgeMail(t.Context(), db, storetest.Born.AddDate(0, 0, 2)); n != 2 || err != nil {
			t.Errorf("removed %d mails, %v, want 2", n, err)
		}
		if n, err := pieces.Mails.Count(t.Context(), db, "TRUE"); n != 3 || err != nil {
			t.Errorf("%d mails are left, %v, want 3", n, err)
		}
	})
}

func TestLeaderboard(t *testing.T) {
	onEach(t, func(t *testing.T, db *store.DB, players []entity.Player, _ []entity.Item) {
		ctx := t.Context()
		score := func(season int32, of int, points int64) pieces.Score {
			return pieces.Score{Place: pieces.Place{Season: season, Player: players[of].ID}, Points: points}
		}
		for _, s := range []pieces.Score{score(1, 0, 50), score(1, 1, 70), score(1, 2, 50), score(2, 0, 99), score(1, 0, 60)} {
			must(t, pieces.Report(ctx, db, s))
		}
		want := []pieces.Score{score(1, 1, 70), score(1, 0, 60)}
		if got, err := pieces.Top(ctx, db, 1, 2); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
		if rank, err := pieces.Rank(ctx, db, score(1, 2, 50)); rank != 3 || err != nil {
			t.Errorf("rank %d, %v, want 3", rank, err)
		}
	})
}
