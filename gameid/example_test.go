//lint:file-ignore SA5001 the package example leaves out what it does about errors

package gameid_test

import (
	"context"
	"fmt"
	"log"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
)

// Mount is a kind of thing that has IDs.
type Mount struct{ ID gameid.Of[Mount] }

// A game server opens the node of its server, and mints IDs. Its reservations are in its
// database (package store); here they are in memory, as in a unit test. The package comment shows this.
func Example() {
	ctx := context.Background()

	node, err := gameid.OpenNode(ctx, 7, gameidtest.NewMemory(), gameid.Options{}) // a game: db.OpenNode of package store
	defer node.Close()

	mounts := gameid.NewGenerator[Mount](node) // Mount: any type of the game
	first, err := mounts.Next()                // a gameid.Of[Mount]
	herd := make([]gameid.Of[Mount], 1000)
	err = mounts.Fill(herd)
	fmt.Println(first.Server(), first.Compare(herd[0]), herd[0].Compare(herd[999])) // prints 7 -1 -1: they sort by time

	if err != nil {
		log.Fatal(err)
	}
	// Output: 7 -1 -1
}

// The text of an ID comes from a URL, a file or a colleague. ParseOf takes
// it for the ID of one kind of thing.
func ExampleParse() {
	id, err := gameid.Parse("00ddceac5bd00007003f")
	fmt.Println(id.Time().Format("2006-01-02T15:04:05.000Z07:00"), id.Server(), id.Sequence(), err)

	mount, err := gameid.ParseOf[Mount]("00ddceac5bd00007003f")
	fmt.Println(mount, err)

	_, err = gameid.Parse("00ddceac5bd00007")
	fmt.Println(err)
	// Output:
	// 2026-11-21T03:09:08.413Z 7 63 <nil>
	// 00ddceac5bd00007003f <nil>
	// gameid: "00ddceac5bd00007" is not an ID: it has 16 characters, want 20 hexadecimal digits
}
