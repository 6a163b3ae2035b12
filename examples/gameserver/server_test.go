package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// testServer is a game server within the test.
type testServer struct {
	client
	*server
	log   *syncBuffer
	heard *hearing
}

// newTestServer serves a fresh world. The reserver is that of the database if
// it is nil. Unless a test takes the log away, an error in it fails the test.
func newTestServer(t *testing.T, dsn string, reserver gameid.Reserver, window time.Duration) *testServer {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := storetest.Create(ctx, db); err != nil {
		t.Fatal(err)
	}
	if reserver == nil {
		reserver = storetest.World(db)
	} else { // numbers are for a server that has run on the database
		storetest.Node(t, func(o store.NodeOptions) (*gameid.Node, error) { return db.OpenNode(ctx, 7, o) }, window).Close()
	}
	node := storetest.Node(t, func(o store.NodeOptions) (*gameid.Node, error) { return gameid.OpenNode(ctx, 7, reserver, o.Options) }, window)
	t.Cleanup(func() { node.Close() })
	numbers, err := numbers.Open(ctx, db.Registry(), 7, "player", numbers.Options{CheckDigit: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { numbers.Close() })
	log := new(syncBuffer)
	s := newServer(db, node, numbers, testPublicIDs(t), "s7", time.Now, slog.New(slog.NewTextHandler(log, nil)))
	http := httptest.NewServer(s)
	t.Cleanup(func() {
		http.Close()
		if text := log.take(); strings.Contains(text, "level=ERROR") {
			t.Errorf("errors in the log:\n%s", text)
		}
	})
	heard := new(hearing)
	return &testServer{client{t, http.URL, heard.listen}, s, log, heard}
}

// views lets cmp look into them.
var views = cmp.AllowUnexported(playerView{}, guildView{})

// syncBuffer is what several goroutines write to.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// take returns what was written since the last take.
func (b *syncBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.buf.String()
	b.buf.Reset()
	return text
}

type lootGiven struct {
	Items []publicItem `json:"items"`
}

func loot(n int) map[string]any {
	var items []map[string]int
	for i := range n {
		items = append(items, map[string]int{"template": i + 1, "count": 2})
	}
	return map[string]any{"items": items}
}

func TestPlay(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		s := newTestServer(t, dsn, nil, time.Minute)
		var aria, bo publicPlayer
		s.ask("POST", "/players", `{"account":"acc-1","name":"Aria"}`, &aria)
		s.ask("POST", "/players", `{"account":"acc-1","name":"Bo 🗡"}`, &bo)
		if diff := cmp.Diff(publicPlayer{ID: aria.ID, Number: aria.Number, Name: "Aria", Level: 1}, aria); diff != "" {
			t.Errorf("the new player (-want +got):\n%s", diff)
		}
		ariaID, boID := opened(t, s.public.players, aria.ID), opened(t, s.public.players, bo.ID)
		row, err := starter.Players.Get(t.Context(), s.db, ariaID)
		if err != nil {
			t.Fatal(err)
		}
		want := entity.Player{ID: ariaID, Account: "acc-1", Name: "Aria", Level: 1, CreatedAt: row.CreatedAt, UpdatedAt: row.CreatedAt, Number: aria.Number}
		if row != want || !aria.Number.Checked() || bo.Number <= aria.Number || ariaID.Server() != 7 || boID.Compare(ariaID) <= 0 || time.Since(row.CreatedAt).Abs() > patience {
			t.Errorf("the row %+v; the next ID is %s and the next number %s", row, boID, bo.Number)
		}

		var got lootGiven
		s.ask("POST", "/players/"+string(aria.ID)+"/items", loot(maxLoot), &got)
		if len(got.Items) != maxLoot {
			t.Fatalf("%d items, want %d", len(got.Items), maxLoot)
		}
		for i, item := range got.Items {
			if i > 0 && opened(t, s.public.items, item.ID).Compare(opened(t, s.public.items, got.Items[i-1].ID)) <= 0 {
				t.Fatalf("item %s after %s", item.ID, got.Items[i-1].ID)
			}
			if item.Owner != aria.ID || item.Template != int32(i+1) || item.Count != 2 {
				t.Fatalf("item %d is %+v", i, item)
			}
		}

		var owls publicGuild
		s.ask("POST", "/guilds", map[string]any{"name": "Owls", "leader_id": aria.ID}, &owls)
		var joined publicMember
		s.ask("POST", "/guilds/"+string(owls.ID)+"/members", map[string]any{"player_id": bo.ID}, &joined)
		if joined.Player != bo.ID || joined.Guild != owls.ID || joined.Rank != entity.Member {
			t.Errorf("joined: %+v", joined)
		}

		// Reading gives back what writing answered, under all addresses.
		for _, path := range []string{"/players/" + string(aria.ID), "/players/" + strings.ToUpper(string(aria.ID)), "/players?name=aRIA",
			"/players?number=" + aria.Number.String(), "/players?number=" + url.QueryEscape(aria.Number.Spaced())} {
			var view playerView
			s.ask("GET", path, nil, &view)
			if diff := cmp.Diff(playerView{aria, got.Items, &owls}, view, views); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
		var view guildView
		s.ask("GET", "/guilds/"+string(owls.ID), nil, &view)
		leads := publicMember{Player: aria.ID, Guild: owls.ID, Rank: entity.Leader}
		if diff := cmp.Diff(guildView{owls, []publicMember{leads, joined}}, view, views); diff != "" {
			t.Errorf("the guild (-want +got):\n%s", diff)
		}

		// Who has nothing has an empty list and no guild, not something missing.
		var cy publicPlayer
		s.ask("POST", "/players", `{"account":"acc-2","name":"Cy"}`, &cy)
		var raw map[string]json.RawMessage
		s.ask("GET", "/players/"+string(cy.ID), nil, &raw)
		if string(raw["items"]) != "[]" || string(raw["guild"]) != "null" {
			t.Errorf("items %s and guild %s of a new player", raw["items"], raw["guild"])
		}
		s.checkHeard(t, maxLoot+4)
	})
}

func TestAnswersToWhatIsWrong(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		s := newTestServer(t, dsn, nil, time.Minute)
		var aria, bo publicPlayer
		var owls publicGuild
		s.ask("POST", "/players", `{"account":"acc-1","name":"Aria"}`, &aria)
		s.ask("POST", "/players", `{"account":"acc-2","name":"Bo"}`, &bo)
		s.ask("POST", "/guilds", map[string]any{"name": "Owls", "leader_id": aria.ID}, &owls)
		before := rows(t, s.db)

		nothing := gameid.MustParse("00000000001000070000")
		nobody := string(s.public.players.seal(gameid.As[entity.Player](nothing)))
		noGuild := string(s.public.guilds.seal(gameid.As[entity.Guild](nothing)))
		nobodysNumber := number.Number(1_008_421).WithCheck()
		ariaID, boID, owlsID := string(aria.ID), string(bo.ID), string(owls.ID)
		items := "/players/" + ariaID + "/items"
		members := "/guilds/" + owlsID + "/members"
		const noPublicID = `is not a public ID: want a version, "-" and 20 hexadecimal digits`
		for _, tt := range []struct {
			request string // method and path
			body    string
			status  int
			field   string
			detail  string // part of it
		}{
			{"POST /players", `{"account":"a","name":""}`, 400, "name", "name is missing"},
			{"POST /players", `{"account":"a"}`, 400, "name", "name is missing"},
			{"POST /players", `null`, 400, "account", "account is missing"},
			{"POST /players", `{"account":"a","name":"` + strings.Repeat("ü", 33) + `"}`, 400, "name", "33 characters, want at most 32"},
			{"POST /players", `{"account":"a","name":"A\u200bB"}`, 400, "name", "invisible character"},
			{"POST /players", `{"account":"a","name":7}`, 400, "name", "name is a JSON number, want a string"},
			{"POST /players", `{"account":"a","name":"X","gold":1}`, 400, "gold", "gold is not a known field"},
			{"POST /players", `[]`, 400, "", "the body is a JSON array, want an object"},
			{"POST /players", `{"account":`, 400, "", "the body ends in the middle of its JSON"},
			{"POST /players", `{account}`, 400, "", "the body is not JSON"},
			{"POST /players", ``, 400, "", "the body is empty, want a JSON object"},
			{"POST /players", `{"account":"a","name":"X"} {}`, 400, "", "continues after its JSON value"},
			{"POST /players", `{"account":"a","name":"X"} x`, 400, "", "the body is not JSON"},
			{"POST /players", `{"account":"a","name":"aRIA"}`, 409, "name", `name "aRIA" is taken`},
			{"POST /players", `{"account":"` + strings.Repeat("a", maxBody) + `"}`, 413, "", "more than 65536 bytes"},
			{"GET /players/nonsense", ``, 400, "id", `id: "nonsense" ` + noPublicID},
			{"GET /players/" + ariaID[1:], ``, 400, "id", noPublicID},
			{"GET /players/0" + ariaID, ``, 400, "id", noPublicID},
			{"GET /players/" + ariaID + "0", ``, 400, "id", noPublicID},
			{"GET /players/" + strings.Repeat("0", 5000) + ariaID, ``, 400, "id", noPublicID},
			{"GET /players/" + nothing.String(), ``, 400, "id", noPublicID},
			{"GET /players/1-" + nothing.String(), ``, 404, "id", "there is no player 1-" + nothing.String()},
			{"GET /players/2" + ariaID[1:], ``, 404, "id", "the key of version 2 is not in use here"},
			{"GET /players/" + nobody, ``, 404, "id", "there is no player " + nobody},
			{"GET /players/" + opensToNothing, ``, 404, "id", "there is no player " + opensToNothing},
			{"GET /players/" + owlsID, ``, 404, "id", "there is no player " + owlsID},
			{"GET /players", ``, 400, "name", "name is missing, want /players?name="},
			{"GET /players?number=x", ``, 400, "number", `number: "x" is not a number`},
			{"GET /players?number=0", ``, 400, "number", `number: "0" begins with 0`},
			{"GET /players?number=" + (aria.Number + 1).String(), ``, 400, "number", "is mistyped"},
			{"GET /players?number=" + nobodysNumber.String(), ``, 404, "number", "no player of this world has the number " + nobodysNumber.String()},
			{"GET /players?name=x&number=10", ``, 400, "number", "number and name are both there"},
			{"GET /players?name=Nobody", ``, 404, "name", `there is no player named "Nobody"`},

			{"POST " + items, `{}`, 400, "items", "items has 0 elements, want 1 to 1000"},
			{"POST " + items, `{"items":[` + strings.Repeat(`{"template":1},`, maxLoot) + `{"template":1}]}`, 400, "items", "items has 1001 elements"},
			{"POST " + items, `{"items":[{"template":1,"count":1},{"count":1}]}`, 400, "items[1].template", "items[1].template is 0, want at least 1"},
			{"POST " + items, `{"items":[{"template":1,"count":-5}]}`, 400, "items[0].count", "items[0].count is -5, want at least 0"},
			{"POST " + items, `{"items":[{"template":3000000000}]}`, 400, "items.template", "want a whole number of 32 bits"},
			{"POST " + items, `{"items":[{"template":"x"}]}`, 400, "items.template", "is a JSON string"},
			{"POST " + items, `{"items":{}}`, 400, "items", "items is a JSON object, want an array"},
			{"POST " + items, `{"items":[{"colour":1}]}`, 400, "colour", "colour is not a known field"},
			{"POST /players/" + nobody + "/items", `{"items":[{"template":1,"count":1}]}`, 404, "id", "there is no player " + nobody},
			{"POST /players/x/items", `{"items":[{"template":1,"count":1}]}`, 400, "id", noPublicID},

			{"POST /guilds", `{"name":"Bats"}`, 400, "leader_id", "leader_id is missing"},
			{"POST /guilds", `{"name":"Bats","leader_id":"x"}`, 400, "leader_id", `leader_id: "x" ` + noPublicID},
			{"POST /guilds", `{"name":"","leader_id":"` + boID + `"}`, 400, "name", "name is missing"},
			{"POST /guilds", `{"name":"Bats","leader_id":"` + nobody + `"}`, 404, "leader_id", "there is no player " + nobody},
			{"POST /guilds", `{"name":"OWLS","leader_id":"` + boID + `"}`, 409, "name", `name "OWLS" is taken`},
			{"POST /guilds", `{"name":"Bats","leader_id":"` + ariaID + `"}`, 409, "leader_id", "is in a guild already"},
			{"GET /guilds/" + noGuild, ``, 404, "id", "there is no guild " + noGuild},
			{"GET /guilds/x", ``, 400, "id", noPublicID},

			{"POST " + members, `{"player_id":""}`, 400, "player_id", "player_id is missing"},
			{"POST " + members, `{"player_id":"x"}`, 400, "player_id", noPublicID},
			{"POST " + members, `{"player_id":"` + nobody + `"}`, 404, "player_id", "there is no player " + nobody},
			{"POST " + members, `{"player_id":"` + ariaID + `"}`, 409, "player_id", "is in a guild already"},
			{"POST /guilds/" + noGuild + "/members", `{"player_id":"` + boID + `"}`, 404, "id", "there is no guild " + noGuild},
			{"POST /guilds/x/members", `{"player_id":"` + boID + `"}`, 400, "id", noPublicID},

			{"DELETE /players", ``, 405, "", "DELETE is not allowed here, want GET, HEAD, POST"},
			{"PUT " + members, `{}`, 405, "", "PUT is not allowed here, want POST"},
			{"GET /", ``, 404, "", "there is nothing at /"},
			{"POST /player", `{}`, 404, "", "there is nothing at /player"},
		} {
			method, path, _ := strings.Cut(tt.request, " ")
			var body any
			if method != "GET" {
				body = tt.body
			}
			status, answer, err := s.send(method, path, body)
			if err != nil {
				t.Errorf("%s %.60s: %v", tt.request, tt.body, err)
				continue
			}
			var p problem
			if err := json.Unmarshal(answer, &p); err != nil {
				t.Errorf("%s %.60s: %v in %s", tt.request, tt.body, err, answer)
			}
			if status != tt.status || p.Status != tt.status || p.Title != http.StatusText(tt.status) || p.Field != tt.field || !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("%s %.60s: %d %s\nwant %d about %q: %s", tt.request, tt.body, status, answer, tt.status, tt.field, tt.detail)
			}
		}
		if diff := cmp.Diff(before, rows(t, s.db)); diff != "" {
			t.Errorf("rows have changed (-before +after):\n%s", diff)
		}
		s.checkHeard(t, 3)
	})
}

// rows counts all rows of the game.
func rows(t *testing.T, db *store.DB) map[string]int64 {
	t.Helper()
	counts := make(map[string]int64)
	for _, table := range []string{"players", "items", "guilds", "guild_members"} {
		var n int64
		if err := db.Get(t.Context(), &n, "SELECT COUNT(*) FROM "+table); err != nil {
			t.Fatal(err)
		}
		counts[table] = n
	}
	return counts
}

func TestHeaders(t *testing.T) {
	s := newTestServer(t, sqliteDSN(t), nil, time.Minute)
	post := func(contentType, body string) *http.Response {
		resp, err := http.Post(s.base+"/players", contentType, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	const aria = `{"account":"a","name":"Aria"}`
	for _, wrong := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json;;"} {
		if resp := post(wrong, aria); resp.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("content type %q: %s, want 415", wrong, resp.Status)
		}
	}
	resp := post("application/json; charset=utf-8", aria)
	if resp.StatusCode != http.StatusCreated || resp.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s, %v", resp.Status, resp.Header)
	}
	if status, _, err := s.send("GET", resp.Header.Get("Location"), nil); status != http.StatusOK || err != nil {
		t.Errorf("GET of the Location %q: %d, %v", resp.Header.Get("Location"), status, err)
	}
	resp = post("application/json", aria)
	if resp.StatusCode != http.StatusConflict || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s, %v", resp.Status, resp.Header)
	}
	if resp = post("application/json", strings.Repeat(" ", 16*maxBody)); resp.StatusCode != http.StatusRequestEntityTooLarge || !resp.Close {
		t.Errorf("an oversized body: %s, connection closed: %t", resp.Status, resp.Close)
	}
}

// A panic is a bug: it ends one request, and nobody can overlook it.
func TestPanic(t *testing.T) {
	s := newTestServer(t, sqliteDSN(t), nil, time.Minute)
	s.mux.HandleFunc("GET /before", func(http.ResponseWriter, *http.Request) { panic("a bug") })
	s.mux.HandleFunc("GET /halfway", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, strings.Repeat("x", 100_000))
		panic("a bug")
	})
	status, answer, err := s.send("GET", "/before", nil)
	if status != http.StatusInternalServerError || strings.Contains(string(answer), "a bug") {
		t.Errorf("%d %s, %v", status, answer, err)
	}
	if status, _, err := s.send("GET", "/halfway", nil); err == nil {
		t.Errorf("half an answer passes for a whole one: %d", status)
	}
	storetest.Await(t, "both are counted", func() bool { return strings.Contains(metricsText(s), "\nhttp_panics_total 2\n") })
	if log := s.log.take(); strings.Count(log, "msg=panic") != 2 || !strings.Contains(log, "a bug") || !strings.Contains(log, "TestPanic.func") {
		t.Errorf("no panic with its stack in the log:\n%s", log)
	}
	if status, _, _ := s.send("GET", "/healthz", nil); status != http.StatusOK {
		t.Errorf("the next request: %d", status)
	}
}

// What is none of the client's business is in the log only.
func TestInternalError(t *testing.T) {
	s := newTestServer(t, sqliteDSN(t), nil, time.Minute)
	if _, err := s.db.Exec(t.Context(), "ALTER TABLE players RENAME TO secrets"); err != nil {
		t.Fatal(err)
	}
	status, answer, err := s.send("GET", "/players?name=x", nil)
	if status != http.StatusInternalServerError || bytes.Contains(answer, []byte("players")) {
		t.Errorf("%d %s, %v", status, answer, err)
	}
	if log := s.log.take(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "no such table") {
		t.Errorf("the log does not tell:\n%s", log)
	}
}

// shakyReserver is a registry that can be away.
type shakyReserver struct {
	*gameidtest.Memory
	away atomic.Bool
}

func (r *shakyReserver) CompareAndSet(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	if r.away.Load() {
		return false, errors.New("the registry is away")
	}
	return r.Memory.CompareAndSet(ctx, server, row, c)
}

func (r *shakyReserver) Load(ctx context.Context, server gameid.ServerID) (gameid.Record, error) {
	if r.away.Load() {
		return gameid.Record{}, errors.New("the registry is away")
	}
	return r.Memory.Load(ctx, server)
}

// Without a reservation there are no IDs: 503, until there are again.
func TestNoMoreIDs(t *testing.T) {
	registry := &shakyReserver{Memory: gameidtest.NewMemory()}
	s := newTestServer(t, sqliteDSN(t), registry, time.Second)
	var n int
	create := func() int {
		n++
		status, answer, err := s.send("POST", "/players", fmt.Sprintf(`{"account":"a","name":"n%d"}`, n))
		if err != nil {
			t.Fatal(err)
		}
		if status == http.StatusServiceUnavailable && !strings.Contains(string(answer), "no new IDs") {
			t.Fatalf("503 %s", answer)
		}
		return status
	}
	health := func() int {
		status, _, _ := s.send("GET", "/healthz", nil)
		return status
	}
	storetest.Await(t, "201 at first", func() bool { return create() == http.StatusCreated })
	registry.away.Store(true)
	storetest.Await(t, "503 when the reservation has run out", func() bool { return create() == http.StatusServiceUnavailable })
	storetest.Await(t, "503 from /healthz when the lease has run out", func() bool { return health() == http.StatusServiceUnavailable })
	registry.away.Store(false)
	storetest.Await(t, "201 when the registry is back", func() bool { return create() == http.StatusCreated })
	storetest.Await(t, "200 from /healthz", func() bool { return health() == http.StatusOK })

	s.node.Close()
	if status := create(); status != http.StatusServiceUnavailable {
		t.Errorf("with a closed node: %d", status)
	}
	if status := health(); status != http.StatusServiceUnavailable {
		t.Errorf("/healthz with a closed node: %d", status)
	}
}

// If the file of the database goes, /healthz says so, and not where it was.
func TestFileGone(t *testing.T) {
	dsn := sqliteDSN(t)
	s := newTestServer(t, dsn, nil, time.Second)
	path := strings.TrimPrefix(dsn, "sqlite:")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var answer []byte
	storetest.Await(t, "/healthz says why", func() bool {
		status, body, err := s.send("GET", "/healthz", nil)
		answer = body
		return err == nil && status == http.StatusServiceUnavailable && strings.Contains(string(body), "removed or replaced")
	})
	if strings.Contains(string(answer), path) || !strings.Contains(string(answer), `"database":"unavailable"`) {
		t.Errorf("/healthz: %s", answer)
	}
}

// A name can be given once, however many ask for it at once.
func TestRaceForOneName(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		s := newTestServer(t, dsn, nil, time.Minute)
		statuses := make(chan int)
		const rivals = 8
		for range rivals {
			go func() {
				status, _, _ := s.send("POST", "/players", `{"account":"a","name":"Aria"}`)
				statuses <- status
			}()
		}
		var got []int
		for range rivals {
			got = append(got, <-statuses)
		}
		slices.Sort(got)
		want := append([]int{201}, slices.Repeat([]int{409}, rivals-1)...)
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
