package madeup

import (
	"strings"

	"mergesafe/internal/sqldb"
)

// The tables of the game. References are declared by foreign keys in some places, and only
// known to the game in others: guilds.leader, items.owner, mail.sender and item, friends. The
// slots of equipment are keys of items in a text, 0 for an empty one. Keys of items are counted in
// a row of counters, all others by the database.
var tables = []string{
	`accounts (id {counted}, login VARCHAR(32) NOT NULL UNIQUE, created {big} NOT NULL, banned {int} NOT NULL DEFAULT 0)`,
	`characters (id {counted}, account {key} NOT NULL, name VARCHAR(24) NOT NULL UNIQUE, level {int} NOT NULL, money {big} NOT NULL,
	created {big} NOT NULL, logout_time {big} NOT NULL, flags {int} NOT NULL DEFAULT 0, FOREIGN KEY (account) REFERENCES accounts (id))`,
	`guilds (id {counted}, name VARCHAR(24) NOT NULL UNIQUE, leader {key} NOT NULL, created {big} NOT NULL)`,
	`guild_members (member {key} NOT NULL PRIMARY KEY, guild {key} NOT NULL, grade {int} NOT NULL, note VARCHAR(80) NOT NULL,
	FOREIGN KEY (member) REFERENCES characters (id), FOREIGN KEY (guild) REFERENCES guilds (id))`,
	`items (id {key} NOT NULL PRIMARY KEY, owner {key} NOT NULL, template {int} NOT NULL, amount {int} NOT NULL)`,
	`equipment (wearer {key} NOT NULL PRIMARY KEY, slots VARCHAR(200) NOT NULL)`,
	`mail (id {counted}, kind {int} NOT NULL, sender {key} NOT NULL, receiver {key} NOT NULL, item {key} NOT NULL, sent {big} NOT NULL,
	body VARCHAR(200) NOT NULL, FOREIGN KEY (receiver) REFERENCES characters (id))`,
	`friends (owner {key} NOT NULL, friend {key} NOT NULL, PRIMARY KEY (owner, friend))`,
	`item_templates (id {int} NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, price {int} NOT NULL)`,
	`counters (name VARCHAR(32) NOT NULL PRIMARY KEY, next {big} NOT NULL)`,
}

var types = map[sqldb.Dialect]*strings.Replacer{
	sqldb.SQLite: strings.NewReplacer("{counted}", "INTEGER PRIMARY KEY AUTOINCREMENT", "{key}", "INTEGER", "{int}", "INTEGER", "{big}", "INTEGER"),
	sqldb.MySQL:  strings.NewReplacer("{counted}", "INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY", "{key}", "INT UNSIGNED", "{int}", "INT", "{big}", "BIGINT"),
}

// Drift is how the tables of a world differ from those of most.
type Drift string

// How they differ: an older version of the game did not have a column yet, or an operator changed
// the type of one.
const (
	NoDrift       Drift = ""
	MissingColumn Drift = "guild_members has no note"
	OtherType     Drift = "items.amount is a text"
)

// Tables returns the statements that make the tables of a world.
func Tables(d sqldb.Dialect, drift Drift) (statements []string) {
	for _, table := range tables {
		switch drift {
		case MissingColumn:
			table = strings.Replace(table, ", note VARCHAR(80) NOT NULL", "", 1)
		case OtherType:
			table = strings.Replace(table, "amount {int}", "amount VARCHAR(12)", 1)
		}
		statement := "CREATE TABLE " + types[d].Replace(table)
		if d == sqldb.MySQL {
			statement += " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
		}
		statements = append(statements, statement)
	}
	return statements
}
