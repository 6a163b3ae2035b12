//lint:file-ignore SA5001 the program in the README leaves out what it does about errors

package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// A game that has a database and a pool of its own mints IDs over it. This is the program in the README.
func ExampleWrap_program() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mergesafe")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	pool, err := sql.Open("sqlite", filepath.Join(dir, "game.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	_, err = pool.Exec("CREATE TABLE players (id BLOB PRIMARY KEY, name TEXT)")
	type Player struct{}

	db, err := store.Wrap(ctx, pool, store.SQLite)        // the *sql.DB that the game, or its ORM, opened
	err = db.CreateRegistry(ctx)                          // creates two tables of mergesafe, and changes no other
	node, err := db.OpenNode(ctx, 7, store.NodeOptions{}) // this process is server 7; a second one is refused
	defer node.Close()

	players := gameid.NewGenerator[Player](node) // Player: any type of the game
	id, err := players.Next()                    // gameid.Of[Player]: does not compile where an item's ID belongs
	_, err = pool.ExecContext(ctx, "INSERT INTO players (id, name) VALUES (?, ?)", id, "Aria")

	fmt.Println(id.Server(), err)
	// Output: 7 <nil>
}

func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	if ours := strings.ReplaceAll(strings.ReplaceAll(string(source), "\n\t", "\n"), "store.SQLite)    ", "store.MySQL)     "); shown == "" || !strings.Contains(ours, shown) {
		t.Errorf("the program in README.md is not that of ExampleWrap_program:\n%s", shown)
	}
}

// The page for new games shows the table of the examples.
func TestNewGames(t *testing.T) {
	page, err := os.ReadFile("../docs/new-games.md")
	must(t, err)
	source, err := os.ReadFile("example_test.go")
	must(t, err)
	_, shown, _ := strings.Cut(string(page), "## A table of your own\n\n```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	if shown == "" || !strings.Contains(string(source), shown) {
		t.Errorf("the table in docs/new-games.md is not that of Example_ownTable:\n%s", shown)
	}
	_, postgres, _ := strings.Cut(string(page), "```sql\n")
	postgres, _, _ = strings.Cut(postgres, "```")
	onEachWithTables(t, func(t *testing.T, db *store.DB) {
		create := createMails
		if db.Dialect() == store.PostgreSQL {
			create = postgres
		}
		must(t, storetest.Second(db.Exec(t.Context(), create)))
		hero := player(1)
		must(t, starter.Players.Insert(t.Context(), db, hero))
		want := Mail{ID: storetest.ID[Mail](1), To: hero.ID, Text: "Welcome!", Sent: entity.Time(born.Add(999_999))}
		must(t, mails.Insert(t.Context(), db, want))
		if got, err := mails.Get(t.Context(), db, want.ID); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	})
}
