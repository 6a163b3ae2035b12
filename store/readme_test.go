//lint:file-ignore SA5001 the program in the README leaves out what it does about errors

package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// A game server opens its node, and mints IDs. The program in the README is this one.
func Example() {
	ctx := context.Background()
	defer inFolder()()
	type Player struct{}

	db, err := store.Open(ctx, "sqlite:game.db")          // or store.Wrap(ctx, pool, store.MySQL): the *sql.DB that you have
	err = db.CreateRegistry(ctx)                          // two small tables; it touches no other
	node, err := db.OpenNode(ctx, 7, store.NodeOptions{}) // this process is server 7; a second one is refused
	defer node.Close()

	_, err = db.Exec(ctx, "CREATE TABLE players (id BINARY(10) PRIMARY KEY, name TEXT)")
	players := gameid.NewGenerator[Player](node) // Player: any type of the game
	aria, err := players.Next()                  // gameid.Of[Player]: does not compile where an item's ID belongs
	bob, err := players.Next()
	_, err = db.Exec(ctx, "INSERT INTO players (id, name) VALUES (?, ?), (?, ?)", aria, "Aria", bob, "Bob")
	fmt.Println(aria.Server(), aria.Compare(bob)) // prints 7 -1: made by server 7, Aria before Bob

	if err != nil {
		log.Fatal(err)
	}
	// Output: 7 -1
}

// inFolder goes to a folder that is removed by what it returns.
func inFolder() (back func()) {
	before, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "mergesafe")
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		log.Fatal(err)
	}
	return func() {
		os.Chdir(before)
		os.RemoveAll(dir)
	}
}

func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	must(t, err)
	source, err := os.ReadFile("readme_test.go")
	must(t, err)
	_, shown, _ := strings.Cut(string(readme), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	if ours := strings.ReplaceAll(string(source), "\n\t", "\n"); shown == "" || !strings.Contains(ours, shown) {
		t.Errorf("the program in README.md is not that of Example:\n%s", shown)
	}
}

// The page for new games shows the tables and the trade of the examples.
func TestNewGames(t *testing.T) {
	page, err := os.ReadFile("../docs/new-games.md")
	must(t, err)
	for title, file := range map[string]string{"## A table of your own": "example_test.go", "## A key of several columns, and a trade": "example_trade_test.go"} {
		source, err := os.ReadFile(file)
		must(t, err)
		_, shown, _ := strings.Cut(string(page), "\n"+title+"\n")
		_, shown, _ = strings.Cut(shown, "```go\n")
		shown, _, _ = strings.Cut(shown, "```")
		if shown == "" || !strings.Contains(string(source), shown) {
			t.Errorf("%s: docs/new-games.md does not show what is in %s:\n%s", title, file, shown)
		}
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
