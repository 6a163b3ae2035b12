package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/config"
	"mergesafe/number"
)

// The keys of these tests.
const (
	testKey  = "30313233343536373839616263646566"
	otherKey = "fedcba98765432100123456789abcdef"
)

// opensToNothing is a public ID that testKey opens to no valid ID: one of a
// million does.
const opensToNothing = "1-00000000000000153198"

// testPublicIDs has the key that writeConfig writes.
func testPublicIDs(t testing.TB) *publicIDs {
	t.Helper()
	key, err := hex.DecodeString(testKey)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPublicIDs([]config.PublicKey{{Version: 1, Key: config.NewSecret(string(key))}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// opened returns the ID behind a public one.
func opened[E any](t testing.TB, s sealer[E], public publicID[E]) gameid.Of[E] {
	t.Helper()
	id, err := s.open("id", string(public))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// hearing collects all that a server says to its clients.
type hearing struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *hearing) listen(header http.Header, body []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintln(&h.text, header)
	h.text.Write(body)
}

// checkHeard fails the test if a client has learned the ID of one of the rows,
// of which there are that many with an ID, or a time of one.
func (s *testServer) checkHeard(t *testing.T, rows int) {
	t.Helper()
	stored := storedIDs(t, s.db)
	if len(stored) != rows {
		t.Errorf("%d rows have an ID, want %d", len(stored), rows)
	}
	heard := s.heard.text.String()
	for _, digits := range regexp.MustCompile(`[0-9a-fA-F]{20}`).FindAllString(heard, -1) {
		if id, err := gameid.Parse(digits); err == nil && stored[id] != "" {
			t.Errorf("a client was told the ID %s, which is in %s", id, stored[id])
		}
	}
	if found := regexp.MustCompile(`"[a-z]+_at":|"account":`).FindString(heard); found != "" {
		t.Errorf("a client was told %s", found)
	}
	if len(heard) == 0 {
		t.Error("the clients were told nothing")
	}
}

// The same ID is another public ID for every kind and under every key, and
// each opens to it.
func TestSeal(t *testing.T) {
	id := gameid.MustParse("02a1d5c3f7b0000c01f4")
	one := testPublicIDs(t)
	two, err := newPublicIDs([]config.PublicKey{{Version: 2, Key: config.NewSecret("another key 16 B")}})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, p := range []*publicIDs{one, two} {
		player := p.players.seal(gameid.As[entity.Player](id))
		item := p.items.seal(gameid.As[entity.Item](id))
		guild := p.guilds.seal(gameid.As[entity.Guild](id))
		if opened(t, p.players, player).ID() != id || opened(t, p.items, item).ID() != id || opened(t, p.guilds, guild).ID() != id {
			t.Errorf("%s, %s or %s does not open", player, item, guild)
		}
		for _, text := range []string{string(player), string(item), string(guild)} {
			digits, found := strings.CutPrefix(text, fmt.Sprintf("%d-", p.version))
			if !found || len(digits) != gameid.TextSize || seen[digits] || digits == id.String() {
				t.Errorf("%s of version %d, after %v", text, p.version, seen)
			}
			seen[digits] = true
		}
	}
	// For ever: players have it in their links.
	if got, want := one.players.seal(gameid.As[entity.Player](id)), publicID[entity.Player]("1-b41bf85b7ec62b62e903"); got != want {
		t.Errorf("%s seals to %s, want %s", id, got, want)
	}
}

// Whatever a client sends, it is refused in one short line as its own fault, or
// it opens to an ID that seals to what was sent.
func FuzzOpen(f *testing.F) {
	players := testPublicIDs(f).players
	for _, text := range []string{"", "-", "1-", opensToNothing, "1-b41bf85b7ec62b62e903", "1-B41BF85B7EC62B62E903", "2-b41bf85b7ec62b62e903",
		"999-b41bf85b7ec62b62e903", "1000-b41bf85b7ec62b62e903", "+1-b41bf85b7ec62b62e903", "1--41bf85b7ec62b62e903", "02a1d5c3f7b0000c01f4", "1-\xff", strings.Repeat("1", 1000)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := players.open("id", text)
		if err == nil {
			if sealed := string(players.seal(id)); sealed != strings.ToLower(text) {
				t.Errorf("%q opens to %s, which seals to %q", text, id, sealed)
			}
			return
		}
		p, ok := err.(*problem)
		if !ok || p.Status != http.StatusBadRequest && p.Status != http.StatusNotFound || p.Field != "id" || len(p.Detail) > 300 || strings.ContainsAny(p.Detail, "\n\r") {
			t.Errorf("%q: %#v", text, err)
		}
	})
}

// After a change of the key, IDs from before it open until it is dropped, and
// what the server says has the new one. To go back is as easy.
func TestKeyRotation(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		var p *program
		restart := func(keys ...string) {
			t.Helper()
			if p != nil {
				p.terminate(t)
			}
			p = serving(t, nil, "-config", writeConfigWithKeys(t, 1, dsn, strings.Join(keys, "")))
		}
		see := func(id, wantVersion string) (view playerView) {
			t.Helper()
			p.ask("GET", "/players/"+id, nil, &view)
			for _, got := range []string{string(view.ID), string(view.Items[0].ID), string(view.Items[0].Owner), string(view.Guild.ID), string(view.Guild.Leader)} {
				if !strings.HasPrefix(got, wantVersion+"-") {
					t.Errorf("%s is told as %s, want version %s", id, got, wantVersion)
				}
			}
			return view
		}
		one, two := publicKeySection(1, testKey), publicKeySection(2, otherKey)

		restart(one)
		if err := playOne(p.client, "Aria", 50); err != nil {
			t.Fatal(err)
		}
		var aria playerView
		p.ask("GET", "/players?name=aria", nil, &aria)
		old := see(string(aria.ID), "1")

		restart(two, one)
		renewed := see(string(old.ID), "2")
		if again := see(string(renewed.ID), "2"); again.ID != renewed.ID || again.Name != "Aria" || len(again.Items) != 50 {
			t.Errorf("%s opens to %+v", renewed.ID, again)
		}
		p.ask("GET", "/guilds/"+string(old.Guild.ID), nil, new(any))
		p.ask("POST", "/players/"+string(old.ID)+"/items", loot(1), new(any))
		var bo publicPlayer
		p.ask("POST", "/players", `{"account":"b","name":"Bo"}`, &bo)
		// Old and new in one request.
		p.ask("POST", "/guilds/"+string(old.Guild.ID)+"/members", map[string]any{"player_id": bo.ID}, new(any))
		status, metrics, err := p.send("GET", "/metrics", nil)
		if status != 200 || err != nil || !strings.Contains(string(metrics), "\ngameserver_public_id_key_version 2\n") {
			t.Errorf("metrics: %d, %v\n%s", status, err, metrics)
		}

		restart(one, two)
		see(string(renewed.ID), "1")

		restart(two)
		see(string(renewed.ID), "2")
		status, answer, err := p.send("GET", "/players/"+string(old.ID), nil)
		if status != http.StatusNotFound || err != nil || !strings.Contains(string(answer), "the key of version 1 is not in use here") {
			t.Errorf("with a key that was dropped: %d %s, %v", status, answer, err)
		}
		p.terminate(t)
	})
}

// Without a key players are refused, with the reason, and nothing is written.
// Operators get their answers.
func TestNoKey(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dsn string) {
		p := serving(t, nil, "-config", writeConfigWithKeys(t, 1, dsn, ""))
		const someID = "1-c3beb2965346a74a65fa"
		for _, request := range []string{
			"POST /players", "GET /players/" + someID, "GET /players?name=aria", "POST /players/" + someID + "/items",
			"POST /guilds", "GET /guilds/" + someID, "POST /guilds/" + someID + "/members",
		} {
			method, path, _ := strings.Cut(request, " ")
			var body any
			if method == "POST" {
				body = `{"account":"a","name":"Aria"}`
			}
			status, answer, err := p.send(method, path, body)
			if status != http.StatusServiceUnavailable || err != nil ||
				!strings.Contains(string(answer), "no key for public IDs") || !strings.Contains(string(answer), "PUBLIC_ID_KEY") {
				t.Errorf("%s: %d %s, %v", request, status, answer, err)
			}
		}
		var health map[string]string
		p.ask("GET", "/healthz", nil, &health)
		if health["status"] != "limited" || health["public_ids"] != "no key" || health["database"] != "ok" {
			t.Errorf("health: %v", health)
		}
		status, metrics, err := p.send("GET", "/metrics", nil)
		if status != http.StatusOK || err != nil || !strings.Contains(string(metrics), "\ngameserver_public_id_key_version 0\n") {
			t.Errorf("metrics: %d, %v\n%s", status, err, metrics)
		}
		p.terminate(t)
		if log := p.log(); strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, "no key for public IDs: players are refused") {
			t.Errorf("want one warning:\n%s", log)
		}
		for table, n := range rows(t, openStore(t, dsn)) {
			if n != 0 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
	})
}

// A client that is refused for want of a key is not told to try again soon.
func TestNoKeyIsFinal(t *testing.T) {
	p := serving(t, nil, "-config", writeConfigWithKeys(t, 1, sqliteDSN(t), ""))
	resp, err := http.Get(p.base + "/players?name=aria")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Get("Retry-After"); got != "" {
		t.Errorf("Retry-After is %q", got)
	}
}

// What the repository offers works as it is: in an empty directory, with
// nothing prepared but a key in the environment, which nothing shows.
func TestFirstStart(t *testing.T) {
	sample, err := os.ReadFile("../../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("config.toml", sample, 0o600); err != nil {
		t.Fatal(err)
	}
	p := serving(t, []string{config.PublicKeyEnv + "=" + testKey}, "-listen", "127.0.0.1:0", "-v")
	heard := new(hearing)
	p.client.hear = heard.listen
	if err := playOne(p.client, "Aria", 50); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"/healthz", "/metrics", "/players/" + opensToNothing} {
		if _, _, err := p.send("GET", path, nil); err != nil {
			t.Error(err)
		}
	}
	p.terminate(t)
	raw, _ := hex.DecodeString(testKey)
	for _, said := range []string{p.log(), heard.text.String()} {
		for _, secret := range []string{testKey, string(raw), fmt.Sprint(raw)} {
			if strings.Contains(said, secret) {
				t.Errorf("the key is shown in:\n%s", said)
			}
		}
	}
	if _, err := os.Stat(filepath.Join("data", "s1.db")); err != nil {
		t.Error(err)
	}
}

// The answer that the page shows is what the server sends.
func TestPage(t *testing.T) {
	readme, err := os.ReadFile("../../docs/public-ids.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?m)^# (\{"id":.*\})$`).FindSubmatch(readme)
	if shown == nil {
		t.Fatal("the page shows no answer")
	}
	var player publicPlayer
	d := json.NewDecoder(bytes.NewReader(shown[1]))
	d.DisallowUnknownFields()
	if err := d.Decode(&player); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(player)
	if err != nil || !bytes.Equal(again, shown[1]) || !player.Number.Checked() {
		t.Errorf("the page shows %s, want the form %s, %v", shown[1], again, err)
	}
	for _, link := range []string{"/players/" + string(player.ID), "/players?number=91-100-003"} {
		if !strings.Contains(string(readme), "http://127.0.0.1:8080"+link) {
			t.Errorf("the page does not ask for %s", link)
		}
	}
	if n, err := number.Parse("91-100-003"); n != player.Number || err != nil {
		t.Errorf("the page asks for %s, %v", n, err)
	}
}
