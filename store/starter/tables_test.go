package starter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/starter"
)

func TestLookups(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		ann, bob, cat := player(1), player(2), player(3)
		ann.Account, bob.Account, cat.Account = "x", "y", "x"
		must(t, starter.Players.Insert(ctx, db, ann, bob, cat))
		must(t, starter.Items.Insert(ctx, db, item(3, ann), item(1, ann), item(2, bob)))
		dawn, dusk := guild(1, ann), guild(2, bob)
		must(t, starter.Guilds.Insert(ctx, db, dawn, dusk))
		must(t, starter.GuildMembers.Insert(ctx, db, member(cat, dawn), member(ann, dawn), member(bob, dusk)))
		check := func(what string, got any, err error, want any) {
			t.Helper()
			if diff := cmp.Diff(want, got, compareIDs); err != nil || diff != "" {
				t.Errorf("%s: %v\n%s", what, err, diff)
			}
		}
		players, err := starter.Players.ByAccount(ctx, db, "x")
		check("ByAccount", players, err, []entity.Player{ann, cat})
		players, err = starter.Players.ByAccount(ctx, db, "X")
		check("ByAccount of another case", players, err, []entity.Player(nil))
		got, err := starter.Items.OfPlayer(ctx, db, ann.ID)
		check("Items.OfPlayer", got, err, []entity.Item{item(1, ann), item(3, ann)})
		g, err := starter.Guilds.ByName(ctx, db, "gUILD 2")
		check("Guilds.ByName", g, err, dusk)
		g, err = starter.Guilds.OfPlayer(ctx, db, cat.ID)
		check("Guilds.OfPlayer", g, err, dawn)
		members, err := starter.GuildMembers.OfGuild(ctx, db, dawn.ID)
		check("OfGuild", members, err, []entity.GuildMember{member(ann, dawn), member(cat, dawn)})
		m, err := starter.GuildMembers.Get(ctx, db, bob.ID)
		check("GuildMembers.Get", m, err, member(bob, dusk))
	})
}

func TestNames(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		n := 0
		insert := func(name string) error {
			p := player(n)
			n++
			p.Name = name
			return starter.Players.Insert(ctx, db, p)
		}
		for _, name := range []string{"Aria", "Äria2", "🍣", "🍺", "𠮷", "𠮶", strings.Repeat("𠮷", entity.MaxName)} {
			if err := insert(name); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		same := []string{"Aria", "ARIA", "aRiA", "🍣"}
		if db.Dialect() == store.MySQL { // SQLite folds A to Z only, as documented
			same = append(same, "äria2", "Ária", "Ａria")
		}
		for _, name := range same {
			err := insert(name)
			if d, ok := errors.AsType[*store.DuplicateError](err); !ok || d.Table != "players" || d.Key != "name" {
				t.Errorf("%q was not refused as a duplicate of players.name: %v", name, err)
			}
		}
		p, leader := player(0), player(1)
		must(t, starter.Guilds.Insert(ctx, db, guild(1, p)))
		again := guild(2, leader)
		again.Name = "GUILD 1"
		if err := starter.Guilds.Insert(ctx, db, again); !errors.Is(err, store.ErrDuplicate) {
			t.Errorf("a second guild of the same name: %v", err)
		}
	})
}

func TestReferences(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		p, nobody := player(1), player(99)
		must(t, starter.Players.Insert(ctx, db, p))
		must(t, starter.Items.Insert(ctx, db, item(1, p)))
		must(t, starter.Guilds.Insert(ctx, db, guild(1, p)))
		stray := member(p, guild(99, p))
		for what, err := range map[string]error{
			"item of nobody":      starter.Items.Insert(ctx, db, item(2, nobody)),
			"guild led by nobody": starter.Guilds.Insert(ctx, db, guild(2, nobody)),
			"member of nothing":   starter.GuildMembers.Insert(ctx, db, stray),
			"owner deleted":       starter.Players.Delete(ctx, db, p.ID),
		} {
			if !errors.Is(err, store.ErrForeignKey) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// What goes past Validate is refused by the database.
func TestConstraints(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		p := player(1)
		must(t, starter.Players.Insert(t.Context(), db, p))
		must(t, starter.Guilds.Insert(t.Context(), db, guild(1, p)))
		must(t, starter.GuildMembers.Insert(t.Context(), db, member(p, guild(1, p))))
		must(t, starter.Items.Insert(t.Context(), db, item(1, p)))
		for _, set := range []string{
			"players SET level = 0", "players SET level = 3000000000", "players SET gold = -1", "players SET gold = NULL",
			"players SET name = ''", "players SET name = '" + strings.Repeat("x", entity.MaxName+1) + "'",
			"players SET account = '" + strings.Repeat("x", entity.MaxAccount+1) + "'",
			"players SET level = 'many'", "players SET created_at = 'yesterday'",
			"items SET count = -1", "items SET template = 0", "guild_members SET `rank` = 'king'", "guilds SET name = NULL",
			"players SET id = x'0102030405060708090a0b'",
		} {
			if db.Dialect() == store.PostgreSQL && strings.HasSuffix(set, "'yesterday'") {
				continue // which is a time there
			}
			if _, err := db.Exec(t.Context(), sqlOf(db.Dialect(), "UPDATE "+set)); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s: %v", set, err)
			}
		}
	})
}

func TestPlayerNumbers(t *testing.T) {
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		a, b, c := player(1), player(2), player(3)
		a.Number, b.Number = 10_084_213, number.Max
		must(t, starter.Players.Insert(ctx, db, a, b, c, player(4))) // any number of players have none
		for _, p := range []number.Number{a.Number, b.Number} {
			got, err := starter.Players.ByNumber(ctx, db, p)
			if err != nil || got.Number != p || got != a && got != b {
				t.Errorf("%d: got %+v, %v", p, got, err)
			}
		}
		for _, none := range []number.Number{10_084_214, 0} {
			if got, err := starter.Players.ByNumber(ctx, db, none); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%d: got %+v, %v", none, got, err)
			}
		}
		c.Number = a.Number
		err := starter.Players.Update(ctx, db, c, "number")
		if d, ok := errors.AsType[*store.DuplicateError](err); !ok || d.Key != "number" {
			t.Errorf("a number that another has: %v", err)
		}
		for _, bad := range []int64{0, -1, int64(number.Max) + 1} {
			if _, err := db.Exec(ctx, "UPDATE players SET number = ? WHERE id = ?", bad, c.ID); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("the column takes %d: %v", bad, err)
			}
		}
		inUse := starter.Players.NumbersIn(db)
		for _, test := range []struct{ first, last, want number.Number }{
			{1, number.Max, number.Max}, {1, number.Max - 1, 10_084_213}, {10_084_213, 10_084_213, 10_084_213}, {10_084_214, 20_000_000, 0},
		} {
			if got, err := inUse(ctx, test.first, test.last); got != test.want || err != nil {
				t.Errorf("%+v: got %d, %v", test, got, err)
			}
		}
	})
}

// compareIDs lets cmp look at IDs.
var compareIDs = cmp.Options{
	cmp.Comparer(func(a, b gameid.Of[entity.Player]) bool { return a == b }),
	cmp.Comparer(func(a, b gameid.Of[entity.Item]) bool { return a == b }),
	cmp.Comparer(func(a, b gameid.Of[entity.Guild]) bool { return a == b }),
}
