package starter_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// The statements of docs/postgresql.md find what two worlds have in common, and list the servers of the second.
func TestTwoWorldsBecomeOne(t *testing.T) {
	text, err := os.ReadFile("../../docs/postgresql.md")
	storetest.Must(t, err)
	var looks, writes []string
	for i, block := range strings.Split(string(text), "```") {
		statements, isSQL := strings.CutPrefix(block, "sql\n")
		for statement := range strings.SplitSeq(statements, ";") {
			var lines []string
			for line := range strings.Lines(statement) {
				line, _, _ = strings.Cut(line, "--")
				lines = append(lines, line)
			}
			switch statement = strings.TrimSpace(strings.Join(lines, "")); {
			case i%2 == 0 || !isSQL || statement == "":
			case strings.HasPrefix(statement, "SELECT"):
				looks = append(looks, statement)
			default:
				writes = append(writes, statement)
			}
		}
	}
	if len(looks) != 4 || len(writes) != 2 {
		t.Fatalf("the page has %q and %q", looks, writes)
	}

	dsn := servertest.PostgresDSN(t)
	storetest.Exec(t, storetest.Open(t, dsn), "CREATE SCHEMA w2")
	worlds := []*store.DB{storetest.WithTables(t, dsn), storetest.WithTables(t, dsn+"?search_path=w2")}
	for i, name := range []string{"Aria", "Brun"} {
		node, err := worlds[i].OpenNode(t.Context(), gameid.ServerID(7+i), storetest.NodeOptions)
		storetest.Must(t, err)
		defer node.Close()
		now := entity.Time(time.Now())
		player := entity.Player{Account: "acc-1", Name: name, Level: 1, CreatedAt: now, UpdatedAt: now}
		player.ID, err = gameid.NewGenerator[entity.Player](node).Next()
		storetest.Must(t, err)
		storetest.Must(t, starter.Players.Insert(t.Context(), worlds[i], player))
	}
	found := func() (found []int) {
		for _, query := range looks {
			var n int
			storetest.Must(t, worlds[0].Get(t.Context(), &n, "SELECT COUNT(*) FROM ("+query+") AS found"))
			found = append(found, n)
		}
		return found
	}
	for _, n := range found() {
		if n != 0 {
			t.Errorf("rows of worlds with nothing in common: %v", found())
		}
	}
	storetest.Exec(t, worlds[1], "UPDATE players SET name = 'ÁRIA'")
	if found := found(); found[1] != 1 {
		t.Errorf("rows of worlds with one name: %v", found)
	}
	for _, statement := range writes {
		storetest.Exec(t, worlds[0], statement)
	}
	own, err := storetest.World(worlds[0]).Server(t.Context(), 8)
	storetest.Must(t, err)
	if own.Role != "merged" || own.Leased || own.Reserved == 0 {
		t.Errorf("the server of the second world: %+v", own)
	}
}
