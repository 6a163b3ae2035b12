package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// What a tool says of a server is tried on MySQL; what a merge does, on MariaDB.
func init() { servertest.Prefer(servertest.MySQL) }

// client talks to a game server within the test.
type client struct {
	t   *testing.T
	url string
	*game
}

// onEach gives the test a server on a new database of each kind.
func onEach(t *testing.T, test func(t *testing.T, c client)) {
	for name, dsn := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + t.TempDir() + "/game.db" },
		"mariadb":  func(t *testing.T) string { return "mysql:" + servertest.DSN(t) },
		"postgres": func(t *testing.T) string { return servertest.PostgresDSN(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newClient(t, dsn(t)))
		})
	}
}

func newClient(t *testing.T, dsn string) client {
	t.Helper()
	db := storetest.Open(t, dsn)
	storetest.Must(t, createTables(t.Context(), db))
	node := storetest.First(db.OpenNode(t.Context(), 7, storetest.NodeOptions))
	t.Cleanup(func() { node.Close() })
	sequence := storetest.First(numbers.Open(t.Context(), db.Registry(), 7, "player", numbers.Options{CheckDigit: true}))
	t.Cleanup(func() { sequence.Close() })
	g := newGame(db, node, sequence)
	web := httptest.NewServer(g.routes())
	t.Cleanup(web.Close)
	return client{t, web.URL, g}
}

// send sends a request, with a body unless it is "", and returns what came back.
func (c client) send(method, path, body string) (status int, answer string) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	storetest.Must(c.t, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Error(err)
	}
	return response.StatusCode, string(text)
}

// ask sends a request that must succeed.
func ask[T any](c client, method, path string, body any) (out T) {
	c.t.Helper()
	text := storetest.First(json.Marshal(body))
	if body == nil {
		text = nil
	}
	status, answer := c.send(method, path, string(text))
	if status != http.StatusOK {
		c.t.Fatalf("%s %s %s: %d %s", method, path, text, status, answer)
	}
	storetest.Must(c.t, json.Unmarshal([]byte(answer), &out))
	return out
}

func (c client) join(name string) entity.Player {
	c.t.Helper()
	return ask[entity.Player](c, "POST", "/players", newPlayer{"acc-1", name})
}

func (c client) give(owner entity.Player, n int) []entity.Item {
	c.t.Helper()
	in := map[string]any{"owner_id": owner.ID, "items": slices.Repeat([]map[string]int{{"template": 7, "count": 2}}, n)}
	return ask[[]entity.Item](c, "POST", "/items", in)
}

func TestPlay(t *testing.T) {
	onEach(t, func(t *testing.T, c client) {
		aria, bo := c.join("Aria"), c.join("Bo 🗡")
		if aria.ID.Server() != 7 || bo.ID.Compare(aria.ID) <= 0 || !aria.Number.Checked() || bo.Number <= aria.Number || aria.Level != 1 || aria.Gold != 100 {
			t.Errorf("the players %+v and %+v", aria, bo)
		}
		if row, err := starter.Players.Get(t.Context(), c.db, aria.ID); err != nil || row != aria || row.Account != "acc-1" {
			t.Errorf("the row %+v, %v, want %+v", row, err, aria)
		}
		items := c.give(aria, maxItems)
		if len(items) != maxItems || items[9].Owner != aria.ID || items[9].Template != 7 || items[9].Count != 2 || items[9].ID.Compare(items[8].ID) <= 0 {
			t.Errorf("%d items such as %+v", len(items), items[9])
		}
		owls := ask[entity.Guild](c, "POST", "/guilds", newGuild{"Owls", aria.ID})
		ask[entity.GuildMember](c, "POST", "/guild_members", newMember{owls.ID, bo.ID})
		members := ask[[]entity.GuildMember](c, "GET", "/guilds/"+owls.ID.String()+"/members", nil)
		if len(members) != 2 || members[0].Player != aria.ID || members[0].Rank != entity.Leader || members[1].Player != bo.ID || members[1].Rank != entity.Member {
			t.Errorf("the guild has %+v", members)
		}

		// Reading gives back what writing answered, however the player is found.
		for _, path := range []string{"/" + aria.ID.String(), "?name=aRIA", "?number=" + aria.Number.String(), "?number=" + strings.ReplaceAll(aria.Number.Spaced(), " ", "-")} {
			got := ask[playerView](c, "GET", "/players"+path, nil)
			if got.Player != aria || !slices.Equal(got.Items, items) || *got.Guild != owls {
				t.Errorf("%s: %+v with %d items, in %+v", path, got.Player, len(got.Items), got.Guild)
			}
		}
		c.join("Cy")
		if got := ask[playerView](c, "GET", "/players?name=cy", nil); got.Items == nil || got.Guild != nil {
			t.Errorf("a new player: %+v", got)
		}
	})
}

// Players trade with each other at once: no gold is made or lost, and each item has one owner.
func TestTrade(t *testing.T) {
	onEach(t, func(t *testing.T, c client) {
		players := []entity.Player{c.join("a"), c.join("b"), c.join("c")}
		var items []entity.Item
		for _, p := range players {
			items = append(items, c.give(p, 1)...)
		}
		sell := func(from, to, item int, price int64) int {
			in := storetest.First(json.Marshal(trade{players[from].ID, players[to].ID, items[item].ID, price}))
			status, answer := c.send("POST", "/trades", string(in))
			if status != 200 && status != 409 {
				t.Errorf("%s: %d %s", in, status, answer)
			}
			return status
		}
		if sell(0, 1, 0, 30) != 200 {
			t.Error("a good trade was refused")
		}
		seller := ask[playerView](c, "GET", "/players?name=a", nil)
		if seller.Gold != 130 || len(seller.Items) != 0 {
			t.Errorf("the seller is %+v", seller)
		}
		for what, status := range map[string]int{"not the seller's": sell(0, 2, 0, 1), "too dear": sell(1, 0, 0, 131), "for nothing": sell(1, 0, 0, 0),
			"for less": sell(1, 0, 0, -5), "with oneself": sell(1, 1, 0, 1)} {
			if status != 409 {
				t.Errorf("an item %s: %d", what, status)
			}
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for n := range 5 {
					sell(i%3, (i+1+n%2)%3, (i+n)%3, 40)
				}
			})
		}
		wg.Wait()
		gold, owned := int64(0), 0
		for _, name := range []string{"a", "b", "c"} {
			p := ask[playerView](c, "GET", "/players?name="+name, nil)
			gold, owned = gold+p.Gold, owned+len(p.Items)
		}
		if gold != 300 || owned != 3 {
			t.Errorf("the players have %d gold and %d items, want 300 and 3", gold, owned)
		}
	})
}

// What is wrong is refused with its reason, and changes nothing.
func TestRefused(t *testing.T) {
	onEach(t, func(t *testing.T, c client) {
		aria, bo := c.join("Aria"), c.join("Bo")
		item := c.give(aria, 1)[0]
		owls := ask[entity.Guild](c, "POST", "/guilds", newGuild{"Owls", aria.ID})
		rows := func() (counts []int64) {
			for _, table := range []string{"players", "items", "guilds", "guild_members"} {
				var n int64
				storetest.Must(t, c.db.Get(t.Context(), &n, "SELECT COUNT(*) FROM "+table))
				counts = append(counts, n)
			}
			return counts
		}
		before := rows()
		const unknown = "00000000001000070000"
		fill := strings.NewReplacer("ARIA", aria.ID.String(), "BO", bo.ID.String(), "ITEM", item.ID.String(), "OWLS", owls.ID.String(), "UNKNOWN", unknown)
		for _, tt := range []struct {
			request, body string
			status        int
			want          string // part of the answer
		}{
			{"POST /players", `{"account":"a"}`, 400, "name is missing"},
			{"POST /players", `null`, 400, "account is missing"},
			{"POST /players", `{"account":"a","name":"A\u200bB"}`, 400, "invisible character"},
			{"POST /players", `{"account":"a","name":7}`, 400, "cannot unmarshal number"},
			{"POST /players", `{"account":"a","name":"X","gold":1}`, 400, `unknown field \"gold\"`},
			{"POST /players", `{"account":"a","name":"aRIA"}`, 409, "a player has this name"},
			{"GET /players/nonsense", "", 400, "nonsense"},
			{"GET /players/UNKNOWN", "", 404, "no such player"},
			{"GET /players/OWLS", "", 404, "no such player"},
			{"GET /players", "", 404, "no such player"},
			{"GET /players?number=" + (aria.Number + 1).String(), "", 400, "is mistyped"},
			{"POST /items", `{"owner_id":"ARIA","items":[]}`, 400, "0 items: want 1 to 1000"},
			{"POST /items", `{"owner_id":"ARIA","items":[` + strings.Repeat(`{"template":1},`, maxItems) + `{"template":1}]}`, 400, "1001 items"},
			{"POST /items", `{"owner_id":"ARIA","items":[{"template":1,"count":-5}]}`, 400, "count is -5"},
			{"POST /items", `{"owner_id":"UNKNOWN","items":[{"template":1}]}`, 404, "no such player"},
			{"POST /items", `{"items":[{"template":1}]}`, 400, "owner_id is missing"},
			{"POST /trades", `{"seller_id":"ARIA","buyer_id":"UNKNOWN","item_id":"ITEM","price":1}`, 404, "no such player"},
			{"POST /trades", `{"seller_id":"ARIA","buyer_id":"","item_id":"ITEM","price":1}`, 400, "the body: "},
			{"POST /guilds", `{"name":"OWLS!","leader_id":"ARIA"}`, 409, "the player is in a guild already"},
			{"POST /guilds", `{"name":"oWLS","leader_id":"BO"}`, 409, "a guild has this name"},
			{"POST /guilds", `{"name":"Bats","leader_id":"UNKNOWN"}`, 404, "no such player"},
			{"POST /guild_members", `{"guild_id":"UNKNOWN","player_id":"BO"}`, 404, "no such"},
			{"POST /guild_members", `{"guild_id":"OWLS","player_id":"ARIA"}`, 409, "in a guild already"},
			{"DELETE /players", "", 405, "Method Not Allowed"},
			{"GET /", "", 404, "not found"},
		} {
			method, path, _ := strings.Cut(fill.Replace(tt.request), " ")
			status, answer := c.send(method, path, fill.Replace(tt.body))
			if status != tt.status || !strings.Contains(answer, tt.want) {
				t.Errorf("%s %.60s: %d %s; want %d with %q", tt.request, tt.body, status, answer, tt.status, tt.want)
			}
		}
		if after := rows(); !slices.Equal(before, after) {
			t.Errorf("there were %d rows, and are %d", before, after)
		}
	})
}

// A body has 64 KiB, 8 levels, and the names of fields exactly as they are, each once.
func TestBody(t *testing.T) {
	c := newClient(t, "sqlite:"+t.TempDir()+"/game.db")
	join := func(name string, more int) string {
		return `{"account":"a","name":"` + name + `"}` + strings.Repeat(" ", more)
	}
	for _, tt := range []struct {
		body   string
		status int
		want   string
	}{
		{join("Fits", maxBody-len(join("Fits", 0))), 200, ""},
		{join("TooLong", maxBody-len(join("TooLong", 0))+1), 413, "more than 65536 bytes"},
		{strings.Repeat(`{"a":`, maxDepth) + "1" + strings.Repeat("}", maxDepth), 400, "unknown field"},
		{strings.Repeat(`{"a":`, maxDepth+1) + "1", 400, "nested more than 8 deep"},
		{strings.Repeat(`{"a":[`, 10_000), 400, "nested more than 8 deep"},
		{`{"account":"a","NAME":"Eva"}`, 400, `field \"NAME\" is unknown`},
		{`{"account":"a","nameſ":"Eva"}`, 400, "is unknown"},
		{`{"account":"a","name":"Aria","name":"Eva"}`, 400, `field \"name\" is unknown, or comes twice`},
		{join("Aria", 0) + "{}", 400, "continues after its end"},
		{join("Aria", 0) + "x", 400, "the body: "},
		{`{"account":"a","name":`, 400, "the body: "},
		{``, 400, "the body: "},
		{`[]`, 400, "the body: "},
	} {
		status, answer := c.send("POST", "/players", tt.body)
		if status != tt.status || !strings.Contains(answer, tt.want) {
			t.Errorf("%.60s: %d %s; want %d with %q", tt.body, status, answer, tt.status, tt.want)
		}
	}
	if n, err := starter.Players.Count(t.Context(), c.db, "TRUE"); n != 1 || err != nil {
		t.Errorf("%d players, %v, want 1", n, err)
	}
}

// Without its node or its database the server is not healthy, and says that nothing was changed.
func TestHealthAndMetrics(t *testing.T) {
	c := newClient(t, "sqlite:"+t.TempDir()+"/game.db")
	c.give(c.join("Aria"), 30)
	if status, answer := c.send("GET", "/healthz", ""); status != 200 || answer != `{"status":"ok"}`+"\n" {
		t.Errorf("health: %d %s", status, answer)
	}
	_, metrics := c.send("GET", "/metrics", "")
	for _, want := range []string{`gameid_minted_total{kind="Player"} 1`, `gameid_minted_total{kind="Item"} 30`, `gameid_lease_state{state="held"} 1`} {
		if !strings.Contains(metrics, "\n"+want+"\n") {
			t.Errorf("the metrics have no line %s:\n%s", want, metrics)
		}
	}
	storetest.Must(t, c.node.Close())
	if status, _ := c.send("GET", "/healthz", ""); status != 503 {
		t.Errorf("with a closed node: %d", status)
	}

	c = newClient(t, "sqlite:"+t.TempDir()+"/game.db")
	storetest.Must(t, c.db.Close())
	if status, _ := c.send("GET", "/healthz", ""); status != 503 {
		t.Errorf("with a closed database: %d", status)
	}
}

// The client learns whether a change may have been made, and nothing of the inside.
func TestProblemOf(t *testing.T) {
	inside := fmt.Errorf("dial tcp 10.0.0.5:3306")
	for _, tt := range []struct {
		err    error
		status int
		want   string
	}{
		{fmt.Errorf("%w: %w", store.ErrUnavailable, inside), 503, "nothing was changed"},
		{fmt.Errorf("%w: %w", store.ErrRetryable, inside), 503, "nothing was changed"},
		{&gameid.ExhaustedError{Cause: store.ErrUnavailable}, 503, "nothing was changed"},
		{context.DeadlineExceeded, 503, "nothing was changed"},
		{fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, store.ErrUnavailable), 503, "may have been made"},
		{fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, context.DeadlineExceeded), 503, "may have been made"},
		{&store.DuplicateError{Table: "players", Key: "PRIMARY"}, 500, "it was logged"}, // a bug, and no taken name
		{inside, 500, "it was logged"},
	} {
		p := problemOf(fmt.Errorf("wrapped: %w", tt.err))
		if p.status != tt.status || !strings.Contains(p.text, tt.want) || strings.Contains(p.text, "10.0.0.5") {
			t.Errorf("%v: %d %s, want %d with %q", tt.err, p.status, p.text, tt.status, tt.want)
		}
	}
}

// The program serves until it is stopped, and then its server is free. Meanwhile a second process is refused, with
// the server as the reason.
func TestRun(t *testing.T) {
	dsn := "sqlite:" + t.TempDir() + "/game.db"
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		serving, ended := make(chan net.Addr, 1), make(chan error, 1)
		go func() { ended <- run(ctx, dsn, 7, "127.0.0.1:0", func(a net.Addr) { serving <- a }) }()
		var address string
		select {
		case a := <-serving:
			address = a.String()
		case err := <-ended:
			t.Fatal(err)
		}
		if response, err := http.Get("http://" + address + "/healthz"); err != nil || response.StatusCode != 200 {
			t.Errorf("health: %+v, %v", response, err)
		}
		err := run(ctx, dsn, 7, address, func(net.Addr) { t.Error("a second process serves") })
		if err == nil || !strings.Contains(err.Error(), "server 7 is already running") {
			t.Errorf("a second process: %v", err)
		}
		stop()
		storetest.Must(t, <-ended)
		servers, err := storetest.World(storetest.Open(t, dsn)).Servers(t.Context())
		if err != nil || len(servers) != 1 || servers[0].Leased {
			t.Errorf("after the end: %+v, %v", servers, err)
		}
	}
}
