package suggest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/columns"
	"mergesafe/merge/campaign"
	"mergesafe/merge/inventory"

	"mergesafe/merge/suggest"
)

// fleetOf has a world for each number of players, with a hundred rows for each of them.
func fleetOf(players ...int64) *inventory.Inventory {
	inv := &inventory.Inventory{Made: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)}
	for i, n := range players {
		inv.Worlds = append(inv.Worlds, inventory.World{
			Name: fmt.Sprintf("w%d", i), Server: "db1:3306", Engine: "mariadb", Schema: "a", State: inventory.Stopped,
			Rows: 100 * n, Bytes: 10_000 * n, Players: &inventory.Players{Active7: n},
		})
	}
	return inv
}

func mustMake(t *testing.T, inv *inventory.Inventory, w suggest.Wishes) *suggest.Suggestion {
	t.Helper()
	s, err := suggest.Make(inv, w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Of many worlds all bounds are kept too.
func TestLarge(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 4))
	many := func(n int, players func() int64) *inventory.Inventory {
		var all []int64
		for range n {
			all = append(all, players())
		}
		inv := fleetOf(all...)
		for i := range inv.Worlds {
			inv.Worlds[i].Labels = map[string]string{"language": []string{"de", "en", "fr"}[random.IntN(3)]}
			inv.Worlds[i].Server = fmt.Sprintf("db%d", i%8)
		}
		return inv
	}
	skewed := func() int64 { x := random.Float64(); return int64(4000 * x * x * x) }
	thirds := func() int64 { return 1000 + random.Int64N(650) } // two fit well, three hardly
	for name, c := range map[string]struct {
		inv *inventory.Inventory
		w   suggest.Wishes
	}{
		"skewed": {many(400, skewed), suggest.Wishes{
			Players: 3000, Same: []string{"language"}, Apart: [][]string{{"w0", "w1"}},
		}},
		"most":         {many(150, skewed), suggest.Wishes{Players: 3000, Most: 4}},
		"thirds":       {many(60, thirds), suggest.Wishes{Players: 3000}},
		"enough time":  {many(150, skewed), suggest.Wishes{Players: 3000, Seconds: 4 * 3600, Parallel: 4}},
		"little time":  {many(50, skewed), suggest.Wishes{Players: 3000, Seconds: 60, Parallel: 2}},
		"little room":  {many(50, skewed), suggest.Wishes{Players: 3000, Room: 10_000_000}},
		"only so many": {many(150, skewed), suggest.Wishes{Most: 5}},
	} {
		mustBeValid(t, name, c.inv, c.w, mustMake(t, c.inv, c.w))
	}
}

// The same worlds and wishes give the same bytes, also if the worlds are in another order.
func TestDeterministic(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 5))
	for range 30 {
		inv, w := randomFleet(random)
		var first []byte
		for range 3 {
			s := mustMake(t, inv, w)
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = text
			}
			if diff := cmp.Diff(string(first), string(text)); diff != "" {
				t.Fatalf("(-first +now):\n%s", diff)
			}
			random.Shuffle(len(inv.Worlds), func(i, j int) { inv.Worlds[i], inv.Worlds[j] = inv.Worlds[j], inv.Worlds[i] })
		}
	}
}

// Worlds that cannot be merged are left out, each with the reason, and their notes tell what has
// to be done before a merge.
func TestLeftOut(t *testing.T) {
	inv := fleetOf(100, 100, 100, 100, 100, 100, 100, 100, 100, 100)
	inv.Worlds[0].Problem = "disk image is malformed"
	inv.Worlds[1].State = inventory.Fenced
	inv.Worlds[2].Merged = &inventory.LastMerge{ID: "m7"}
	inv.Worlds[3].Schema, inv.Worlds[3].Drift = "b", []string{"table items: column mail added"}
	inv.Worlds[4].Players = nil
	inv.Worlds[5].Schema = ""
	for i := range inv.Worlds {
		inv.Worlds[i].Labels = map[string]string{"language": "de"}
	}
	inv.Worlds[6].Labels = nil
	inv.Worlds[7].State = inventory.Running
	inv.Worlds[8].State = inventory.Unknown
	inv.Worlds[9].Merged = &inventory.LastMerge{ID: "m8", Open: true}
	s := mustMake(t, inv, suggest.Wishes{Players: 3000, Same: []string{"language"}})
	if diff := cmp.Diff([]suggest.LeftOut{
		{World: "w0", Reason: "it could not be read: disk image is malformed"},
		{World: "w1", Reason: "it is fenced: it went to a new database, or a merge is in progress"},
		{World: "w2", Reason: "it is the new database of the merge m7 and not open: resume or undo that first"},
		{World: "w3", Reason: "no other world has its schema; compared with the schema of most worlds: table items: column mail added"},
		{World: "w4", Reason: "its players are not known: set the table that has them in [fleet] of config.toml"},
		{World: "w5", Reason: "its schema is not known"},
		{World: "w6", Reason: `it has no label "language"`},
	}, s.Left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]int{{7, 8, 9}}, groupsOf(s)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"stop before the merge (running at the inventory): w7",
		"without a registry, so make sure that nothing writes there, and that no earlier merge copied it: w8",
	}, s.Merges[0].Notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Worlds of two schemas, or two engines, are merged among themselves.
func TestSchemas(t *testing.T) {
	inv := fleetOf(100, 200, 300, 400, 500, 600)
	for _, i := range []int{1, 3} {
		inv.Worlds[i].Schema, inv.Worlds[i].Drift = "b", []string{"table items: column mail added"}
	}
	for _, i := range []int{4, 5} {
		inv.Worlds[i].Engine = "sqlite"
	}
	s := mustMake(t, inv, suggest.Wishes{Players: 3000})
	groups := groupsOf(s)
	slices.SortFunc(groups, slices.Compare)
	if diff := cmp.Diff([][]int{{0, 2}, {1, 3}, {4, 5}}, groups); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, m := range s.Merges {
		want := 0
		if m.Worlds[0] == "w3" {
			want = 1
		}
		if len(m.Notes) != want {
			t.Errorf("%s: notes %q, want %d", m.Worlds[0], m.Notes, want)
		}
	}
}

// Worlds that list the same server cannot be merged: the check would refuse it.
func TestSameServer(t *testing.T) {
	inv := fleetOf(100, 100, 100)
	inv.Worlds[0].Servers = []inventory.Server{{Server: 7, Own: true}}
	inv.Worlds[1].Servers = []inventory.Server{{Server: 8, Own: true}}
	inv.Worlds[2].Servers = []inventory.Server{{Server: 9, Own: true}, {Server: 7}}
	s := mustMake(t, inv, suggest.Wishes{Players: 3000})
	for _, m := range s.Merges {
		if worlds := m.Worlds; slices.Contains(worlds, "w0") && slices.Contains(worlds, "w2") {
			t.Errorf("w0 and w2 both list server 7, and are merged: %v", worlds)
		}
	}
	if s.Become != 2 {
		t.Errorf("3 worlds become %d, want 2", s.Become)
	}
}

// Each world that stays says why.
func TestStay(t *testing.T) {
	for _, c := range []struct {
		players []int64
		w       suggest.Wishes
		change  func(*inventory.Inventory)
		want    string // the reason of the last world that stays
	}{
		{[]int64{100, 100, 4000}, suggest.Wishes{Players: 3000}, nil, "it has 4,000 active players, more than 3,300"},
		{[]int64{100, 100, 400}, suggest.Wishes{Most: 2, Disk: 3_000_000}, nil, "it has 4,000,000 bytes, more than 3,000,000"},
		{[]int64{2000, 1500, 3000}, suggest.Wishes{Players: 3000}, nil, "no other world fits within the limits"},
		{[]int64{1600, 1600, 1600}, suggest.Wishes{Players: 3000}, nil, "all groups that it could join are full"},
		{[]int64{300, 300, 3000}, suggest.Wishes{Players: 6000, Seconds: 10}, nil, "a merge with any other world would take longer than the night"},
		{[]int64{300, 300, 300, 300}, suggest.Wishes{Most: 2, Seconds: 12}, nil, "other merges use up the time of the night or the disk space of a database server"},
		{[]int64{300, 300, 300}, suggest.Wishes{Players: 3000, RoomOf: map[string]int64{"db1:3306": 4_000_000}}, nil, "other merges use up the time of the night or the disk space of a database server"},
		{[]int64{100, 100, 100}, suggest.Wishes{Players: 3000, Same: []string{"zone"}}, func(inv *inventory.Inventory) {
			for i, zone := range []string{"UTC", "UTC", "Asia/Tokyo"} {
				inv.Worlds[i].Labels = map[string]string{"zone": zone}
			}
		}, "no other world has the same labels and schema"},
	} {
		inv := fleetOf(c.players...)
		if c.change != nil {
			c.change(inv)
		}
		s := mustMake(t, inv, c.w)
		if len(s.Stay) == 0 || s.Stay[len(s.Stay)-1].Reason != c.want {
			t.Errorf("%v %+v: %+v stay, want %s", c.players, c.w, s.Stay, c.want)
		}
	}
}

func TestWrongWishes(t *testing.T) {
	inv := fleetOf(100, 200)
	inv.Worlds[0].Labels = map[string]string{"language": "de"}
	for want, w := range map[string]suggest.Wishes{
		"all worlds would become one":                    {},
		"negative":                                       {Players: -1},
		"than there can be":                              {Players: math.MaxInt64},
		"at most 1 world per merge: want 2 or more":      {Most: 1},
		"the maximum of 50 players is below the 60":      {Players: 60, PlayersMost: 50},
		`"w1" is the only world to keep apart`:           {Players: 60, Apart: [][]string{{"w1"}}},
		`the world "w7" to keep apart is`:                {Players: 60, Apart: [][]string{{"w1", "w7"}}},
		`no world has a label "langage" (did you mean "`: {Players: 60, Same: []string{"langage"}},
		`no world is on the database server "db9"`:       {Players: 60, RoomOf: map[string]int64{"db9": 1}},
		"a rate from 9 to 8 rows a second":               {Players: 60, Rate: campaign.Rate{Slowest: 9, Fastest: 8}},
	} {
		if _, err := suggest.Make(inv, w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", w, err, want)
		}
	}
	for _, n := range []int64{-1, math.MaxInt64} {
		for _, number := range []*int64{&inv.Worlds[1].Rows, &inv.Worlds[1].Bytes, &inv.Worlds[1].Players.Active7} {
			before := *number
			*number = n
			if _, err := suggest.Make(inv, suggest.Wishes{Most: 2}); err == nil || !strings.Contains(err.Error(), `an impossible number`) {
				t.Errorf("%d: got %v", n, err)
			}
			*number = before
		}
	}
	inv.Worlds[1].Name = "w0"
	if _, err := suggest.Make(inv, suggest.Wishes{Most: 2}); err == nil || !strings.Contains(err.Error(), `two worlds named "w0"`) {
		t.Errorf("got %v", err)
	}
}

// A suggestion of what worlds share, with all that a merge may say.
func sample(t *testing.T) *suggest.Suggestion {
	inv := fleetOf(1000, 1200, 700, 3500, 400, 0)
	inv.Worlds[5].Problem = "nothing answers"
	inv.Worlds[1].State = inventory.Running
	s := mustMake(t, inv, suggest.Wishes{Players: 3000, Parallel: 2})
	s.Merges[0].Names = []inventory.Overlap{{Column: "characters.name", Values: 9000, Shared: 1200, Extra: 1300}, {Column: "guilds.name", Problem: "w0 has no column guilds.name"}}
	s.Merges[0].Accounts = &inventory.Overlap{Column: "accounts.login", Values: 7000}
	return s
}

func TestText(t *testing.T) {
	s := sample(t)
	var b strings.Builder
	if err := s.WriteText(&b, 80); err != nil {
		t.Fatal(err)
	}
	const want = `SUGGESTED  1 merge: 5 worlds become 2.

The inventory is from 2026-11-21T03:00:00.000Z. Active players are those of the
last 7 days.
Greedy packing by best fit from several orders, then moves and swaps while they
improve: first the fewest worlds, then the smallest sum of squared distances
from the wanted players, then the fewest rows moved.

active players of a world  fewest  middle   most
before                        400   1,000  3,500
after                       3,300   3,500  3,500

330,000 rows are copied. All merges take 3.1s to 49s, 2 at a time, at 7,500 to
120,000 rows a second.

The merges in the order in which they begin, longest first:

  1  w1, w0, w2, w4
       active players: 1,200 + 1,000 + 700 + 400 = 3,300
       330,000 rows come, 33.0 MB, 3.1s to 49s
       first w1: it has the most rows, 120,000, which keep their keys and names
       names in characters.name: 1,200 of 9,000 are on several worlds, so 1,300
       have to change
       names in guilds.name: not counted: w0 has no column guilds.name
       accounts in accounts.login: 0 of 7,000 are on several worlds
       stop before the merge (running at the inventory): w1

1 world stays as it is:
  w3: it has 3,500 active players, more than 3,300

1 world cannot be merged as it is:
  w5: it could not be read: nothing answers

SUGGESTED  1 merge: 5 worlds become 2.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, width := range []int{40, 60, 0} {
		b.Reset()
		if err := s.WriteText(&b, width); err != nil {
			t.Fatal(err)
		}
		most := width
		if width == 0 {
			most = 100
		}
		for line := range strings.Lines(b.String()) {
			if n := columns.Width(strings.TrimSuffix(line, "\n")); n > most && !strings.Contains(line, "  fewest  ") && !strings.HasPrefix(line, "before ") && !strings.HasPrefix(line, "after ") {
				t.Errorf("%d columns, want %d: %q", n, most, line)
			}
		}
	}
}

// Nothing to merge is a verdict too.
func TestNothing(t *testing.T) {
	for _, inv := range []*inventory.Inventory{fleetOf(), fleetOf(100), fleetOf(2000, 2000)} {
		s := mustMake(t, inv, suggest.Wishes{Players: 3000})
		if len(s.Merges) != 0 || s.Become != len(inv.Worlds) || !strings.HasPrefix(s.Verdict(), "NOTHING TO MERGE  ") {
			t.Errorf("%d worlds: %+v", len(inv.Worlds), s)
		}
	}
}

// What is written as a campaign file is read as the same campaign.
func TestCampaign(t *testing.T) {
	c := sample(t).Campaign("summer")
	if c.Merges[0].Note == "" || !strings.Contains(c.Merges[0].Note, "1,200 + 1,000 + 700 + 400 = 3,300") {
		t.Errorf("note: %q", c.Merges[0].Note)
	}
	long := sample(t)
	long.Merges[0].Notes = []string{strings.Repeat("ä", 2000)}
	for _, c := range []*campaign.Campaign{c, long.Campaign("long")} {
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		got, err := campaign.Parse("c.toml", b.String())
		if err != nil {
			t.Fatalf("%v in:\n%s", err, &b)
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
