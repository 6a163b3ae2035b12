package check_test

import (
	"fmt"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
)

// game is a database of a game that knows nothing of gameid: numbers that the
// database counts up, and next to nothing declared.
func game(name string, first, players int) *mergetest.Database {
	text := func(name string) catalog.Column {
		return catalog.Column{Name: name, Type: "VARCHAR(16)", Kind: catalog.KindText, Collation: mergetest.NoCase}
	}
	db := &mergetest.Database{Label: name, Rows: make(map[string][]mergetest.Row)}
	db.Schema = catalog.Catalog{Engine: "memory", Now: now, Tables: []catalog.Table{
		{
			Name: "characters", Primary: []string{"guid"},
			Columns:       []catalog.Column{number("guid"), text("name"), text("account"), number("guild_id")},
			AutoIncrement: &catalog.AutoIncrement{Column: "guid", Next: uint64(first + players), Max: 1000},
		},
		{Name: "guild", Primary: []string{"id"}, Columns: []catalog.Column{number("id"), text("name"), number("leader")}},
		{Name: "pets", Columns: []catalog.Column{number("owner"), text("name")}},
	}}
	for n := range players {
		db.Rows["characters"] = append(db.Rows["characters"], mergetest.Row{
			"guid": int64(first + n), "name": fmt.Sprintf("%s-%d", name, n), "account": fmt.Sprintf("acc-%s-%d", name, n/2), "guild_id": int64(0),
		})
		db.Rows["pets"] = append(db.Rows["pets"], mergetest.Row{"owner": int64(first + n), "name": "Rex"})
	}
	db.Rows["guild"] = []mergetest.Row{{"id": int64(first), "name": "Guild of " + name, "leader": int64(first)}}
	db.Rows["characters"][0]["guild_id"] = int64(first)
	return db
}
