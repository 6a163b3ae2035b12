package merge_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// declared says which keys get new values, and what refers to them.
var declared = rules.Options{
	Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"guilds.id"}, Step: 1000}, {Keys: []string{"members.id"}}}},
	Rules: []rules.Declarations{{
		References: []rules.DeclaredReference{{At: []string{"members.guild"}, To: []string{"guilds.id"}}},
	}},
}

// Two worlds become one, in a database that did not exist. The package comment shows this.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	worlds := []merge.Database{guildWorld(dir, "s1", "Lions"), guildWorld(dir, "s2", "Bears")}
	into := merge.Database{Name: "new", DSN: "sqlite:" + filepath.Join(dir, "new.db")}

	plan, err := merge.NewPlan(ctx, into, worlds, merge.PlanOptions{Check: declared}) // reads only
	fmt.Println(plan.Rows(), plan.Refusals, err)                                      // the reasons that block it

	made, err := merge.Apply(ctx, plan, into, worlds, merge.Options{}) // merge.ErrStopped: the same call resumes
	fmt.Println(made.Rows, err)

	opened, err := merge.Open(ctx, plan, into, worlds, merge.OpenOptions{}) // proves every row, and lets the game in
	fmt.Println(opened.Proof.Verdict, err)

	undone, err := merge.Undo(ctx, plan, into, worlds, merge.UndoOptions{})
	fmt.Println(undone.Dropped, err)
	// Output:
	// 6 [] <nil>
	// 6 <nil>
	// PASS <nil>
	// true <nil>
}

// A program checks two worlds that both count their keys from 1, plans their
// merge with new keys for those of the second one, carries it out, proves it, and takes it back.
func Example_merge() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	worlds := []merge.Database{guildWorld(dir, "s1", "Lions"), guildWorld(dir, "s2", "Bears")}

	// The check reads only. As the worlds are, their keys collide.
	fmt.Println("check:", checkWorlds(ctx, worlds...))

	// The plan gives new keys to the rows of the second world, and to what refers to them.
	into := merge.Database{Name: "new", DSN: "sqlite:" + filepath.Join(dir, "new.db")}
	plan, err := merge.NewPlan(ctx, into, worlds, merge.PlanOptions{Check: declared})
	if err != nil {
		log.Fatal(err)
	}
	for _, reason := range plan.Refusals {
		fmt.Println("refused:", reason)
	}
	fmt.Println("plan:", plan.Rows(), "rows")

	// If it is interrupted, the same call resumes.
	result, err := merge.Apply(ctx, plan, into, worlds, merge.Options{})
	if errors.Is(err, merge.ErrStopped) {
		result, err = merge.Apply(ctx, plan, into, worlds, merge.Options{})
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("apply:", result.Rows, "rows")
	proof, err := merge.Verify(ctx, plan, into, worlds, merge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("verify:", proof.Verdict)
	printMembers(into)

	// The worlds stay as they are: an undo drops the new database.
	undone, err := merge.Undo(ctx, plan, into, worlds, merge.UndoOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("undo: dropped", undone.Dropped)
	printMembers(worlds[0])
	// Output:
	// check: FAIL
	// plan: 6 rows
	// apply: 6 rows
	// verify: PASS
	// member 1 of guild 1, Lions
	// member 2 of guild 1, Lions
	// member 1001 of guild 1001, Bears
	// member 1002 of guild 1001, Bears
	// undo: dropped true
	// member 1 of guild 1, Lions
	// member 2 of guild 1, Lions
}

// checkWorlds closes the worlds again: they are read in a snapshot, and a SQLite
// database accepts no writes meanwhile.
func checkWorlds(ctx context.Context, all ...merge.Database) verdict.Verdict {
	var worlds []catalog.Source
	for _, d := range all {
		source, err := world.Open(ctx, d.Name, d.DSN)
		if err != nil {
			log.Fatal(err)
		}
		defer source.Close()
		worlds = append(worlds, source)
	}
	report, err := merge.Check(ctx, worlds, rules.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return report.Verdict
}

// guildWorld makes a world with a guild of two members.
func guildWorld(dir, name, guild string) merge.Database {
	file := filepath.Join(dir, name+".db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE guilds (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL)",
		"CREATE TABLE members (id INTEGER NOT NULL PRIMARY KEY, guild INTEGER NOT NULL)",
		"INSERT INTO guilds VALUES (1, '" + guild + "')",
		"INSERT INTO members VALUES (1, 1), (2, 1)",
	} {
		if _, err := db.Exec(statement); err != nil {
			log.Fatal(err)
		}
	}
	return merge.Database{Name: name, DSN: "sqlite:" + file}
}

func printMembers(d merge.Database) {
	db, err := sql.Open("sqlite", d.DSN[len("sqlite:"):])
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT m.id, g.id, g.name FROM members AS m JOIN guilds AS g ON g.id = m.guild ORDER BY m.id")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var member, guild int
		var name string
		if err := rows.Scan(&member, &guild, &name); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("member %d of guild %d, %s\n", member, guild, name)
	}
	if err := rows.Err(); err != nil {
		log.Fatal(err)
	}
}
