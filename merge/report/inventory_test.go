package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/columns"
	"mergesafe/merge/inventory"
)

// sampleInventory has a world of each kind.
func sampleInventory() *inventory.Inventory {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 3, 9, 8, 413e6, time.UTC) }
	drift := []string{"table characters: column guild_note missing", "table mail_old added"}
	world := inventory.World{Name: "w1", Labels: map[string]string{"language": "de", "zone": "Europe/Berlin"}, Server: "10.0.0.5:3306", Engine: "mariadb", Version: "10.11.19-MariaDB",
		Schema: "8a1f52c09d77", Tables: 61, Rows: 1234567, Bytes: 1 << 30, State: inventory.Running,
		Servers: []inventory.Server{{Server: 7, Name: "north", Own: true, Mark: 59_000_000_000, State: inventory.Running}, {Server: 3, Mark: 58_000_000_000, State: inventory.Stopped}},
		Merged:  &inventory.LastMerge{ID: "m1", Worlds: []string{"w40", "w41"}, At: at(2), Open: true},
		Players: &inventory.Players{Total: 40321, Active1: 310, Active7: 900, Active30: 2100, Peak: 330},
		Growth:  &inventory.Growth{Since: at(14), Rows: 1200, Bytes: -4096, Active7: -50}}
	estimated, drifting, file := world, world, world
	estimated.Name, estimated.Estimated, estimated.State, estimated.Growth = "w2", true, inventory.Stopped, nil
	drifting.Name, drifting.Schema, drifting.Drift, drifting.State, drifting.Players, drifting.Merged, drifting.Labels = "w3", "11f2", drift, inventory.Fenced, nil, nil, nil
	file.Name, file.Server, file.Engine, file.Version, file.State, file.Schema, file.Servers, file.Merged = "w4", inventory.Files, "sqlite", "3.50.4", inventory.Unknown, "99aa", nil, nil
	return &inventory.Inventory{Version: inventory.Version, Program: "fleet", Made: at(21), Took: 3.2,
		Worlds: []inventory.World{world, estimated, drifting, file, {Name: "w5", Server: "10.0.0.6:3306", State: inventory.Unknown, Problem: "it did not answer within 10s"}},
		Schemas: []inventory.Schema{{Fingerprint: "8a1f52c09d77", Engine: "mariadb", Worlds: 2}, {Fingerprint: "11f2", Engine: "mariadb", Worlds: 1, Drift: drift},
			{Fingerprint: "99aa", Engine: "sqlite", Worlds: 1}},
	}
}

const inventoryText = `NOT ALL READ  5 worlds; 1 of them could not be read; 1 running; 1 stopped; 1 fenced; 1 may be running (no registry); 1 with another schema than most; ~4,938,268 rows; 4.0 GiB; 120,963 players, 2,700 of them active within 7 days

NOT READ
  w5  it did not answer within 10s

World  Database server  Labels             Engine   State           Rows     Size  Players  1 day  7 days  30 days  Peak  Rows since  Size since  7 days since  Last merge  Schema
w1     10.0.0.5:3306    de, Europe/Berlin  mariadb  running    1,234,567  1.0 GiB   40,321    310     900    2,100   330      +1,200    -4.0 KiB           -50  2026-11-02  as most
w2     10.0.0.5:3306    de, Europe/Berlin  mariadb  stopped   ~1,234,567  1.0 GiB   40,321    310     900    2,100   330           ?           ?             ?  2026-11-02  as most
w3     10.0.0.5:3306                       mariadb  fenced     1,234,567  1.0 GiB        ?      ?       ?        ?     ?      +1,200    -4.0 KiB           -50              2 differences
w4     sqlite           de, Europe/Berlin  sqlite   unknown    1,234,567  1.0 GiB   40,321    310     900    2,100   330      +1,200    -4.0 KiB           -50              as most
w5     10.0.0.6:3306                                not read
Since: 2026-11-14T03:09:08.413Z

SCHEMAS
  8a1f52c09d77  mariadb  2 worlds: most common; others are compared with it
  11f2  mariadb  1 world: w3
    table characters: column guild_note missing
    table mail_old added
  99aa  sqlite  1 world: most common; others are compared with it

NOT ALL READ  5 worlds; 1 of them could not be read; 1 running; 1 stopped; 1 fenced; 1 may be running (no registry); 1 with another schema than most; ~4,938,268 rows; 4.0 GiB; 120,963 players, 2,700 of them active within 7 days
`

func TestInventoryText(t *testing.T) {
	var b bytes.Buffer
	if err := NewInventory(sampleInventory()).WriteText(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inventoryText, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// On a screen no line is wider than it, and the columns that matter most stay.
func TestInventoryNarrow(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		var b bytes.Buffer
		if err := NewInventory(sampleInventory()).WriteText(&b, TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := columns.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns on a screen of %d: %s", n, width, line)
			}
		}
		var heads []string
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "World ") {
				heads = strings.Fields(line)
			}
		}
		for _, want := range []string{"World", "State", "Rows", "7", "Schema"} {
			if !strings.Contains(strings.Join(heads, " ")+" ", want+" ") {
				t.Errorf("%d columns: no %s in %q", width, want, heads)
			}
		}
		if !strings.Contains(b.String(), "Left out to fit the screen: Peak, ") {
			t.Errorf("%d columns: it does not say what is left out", width)
		}
	}
}

// Every world has a line of as many fields as the headings; what is not known is empty.
func TestInventoryCSV(t *testing.T) {
	var b bytes.Buffer
	inv := sampleInventory()
	if err := NewInventory(inv).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != len(inv.Worlds)+1 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	get := func(line int, name string) string {
		for i, head := range lines[0] {
			if head == name {
				return lines[line][i]
			}
		}
		t.Errorf("no column %s", name)
		return ""
	}
	for _, tt := range []struct {
		line       int
		name, want string
	}{
		{1, "world", "w1"}, {1, "rows", "1234567"}, {1, "estimated", "false"}, {2, "estimated", "true"}, {1, "bytes", "1073741824"}, {1, "tables", "61"},
		{1, "servers", "7 north running, mark 2026-11-14T20:53:20.000Z; 3 merged in, mark 2026-11-03T07:06:40.000Z"},
		{1, "last_merge_worlds", "w40 w41"}, {1, "peak", "330"}, {1, "active_7_since", "-50"}, {1, "label_zone", "Europe/Berlin"}, {3, "label_zone", ""},
		{3, "drift", "table characters: column guild_note missing; table mail_old added"}, {3, "players", ""}, {2, "rows_since", ""},
		{5, "problem", "it did not answer within 10s"}, {5, "rows", ""}, {5, "state", ""}, {5, "database_server", "10.0.0.6:3306"},
	} {
		if got := get(tt.line, tt.name); got != tt.want {
			t.Errorf("line %d, %s: got %q, want %q", tt.line, tt.name, got, tt.want)
		}
	}
}
