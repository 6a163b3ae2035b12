package life

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The game of every world: players with a name of their own, their items, mail, which only the first world has at first, or
// none, kinds that are the same everywhere, and a counter in a row. It is small, since what values a merge gives is the matter
// of package oracle.

// tables are those of the game, as a kind of database makes them.
func tables(server bool) []string {
	auto, end := "INTEGER PRIMARY KEY AUTOINCREMENT", ""
	if server {
		auto, end = "INT NOT NULL AUTO_INCREMENT PRIMARY KEY", " ENGINE=InnoDB"
	}
	return []string{
		"CREATE TABLE pl (id " + auto + ", name VARCHAR(20) NOT NULL UNIQUE, gold INT NOT NULL)" + end,
		"CREATE INDEX gold ON pl (gold)",
		"CREATE TABLE item (id " + auto + ", owner INT NOT NULL, n INT NOT NULL)" + end,
		"CREATE TABLE mail (id " + auto + ", owner INT NOT NULL, n INT NOT NULL)" + end,
		"CREATE TABLE kind (id INT NOT NULL PRIMARY KEY, what VARCHAR(9) NOT NULL)" + end,
		"CREATE TABLE seq (name VARCHAR(20) NOT NULL PRIMARY KEY, next INT NOT NULL)" + end,
	}
}

// rows are those of world number n: names that all have, names of its own, and a counter that is at its next player.
func rows(n, players int, mail bool) (all []string) {
	for i := 1; i <= players; i++ {
		name := fmt.Sprint("p", i) // in every world
		if i > 2 {
			name = fmt.Sprintf("w%dp%d", n, i)
		}
		all = append(all, fmt.Sprintf("INSERT INTO pl (name, gold) VALUES ('%s', %d)", name, 100*n+i),
			fmt.Sprintf("INSERT INTO item (owner, n) VALUES (%d, %d)", i, i%3))
	}
	if n == 1 && mail {
		all = append(all, "INSERT INTO mail (owner, n) VALUES (1, 1)", "INSERT INTO mail VALUES (90, 1, 1)", "DELETE FROM mail WHERE id = 90") // the newest is gone
	}
	return append(all, "INSERT INTO kind VALUES (1, 'a'), (2, 'b')", fmt.Sprintf("INSERT INTO seq VALUES ('pl', %d)", players+1))
}

// theGame are the tables of which the reference knows what becomes.
var theGame = []string{"pl", "item", "mail", "kind", "seq"}

// content is what these tables have, by table: the rows, sorted.
type content map[string][]string

// contentOf is nil if a table is not there.
func contentOf(i *image) content {
	c := make(content)
	for _, table := range theGame {
		if !i.has(table) {
			return nil
		}
		c[table] = i.rows[table]
	}
	return c
}

func (c content) equal(other content) bool {
	return c != nil && other != nil && maps.EqualFunc(c, other, slices.Equal[[]string])
}

// asMade is a content whose counter others only raised, as it was made: an undo takes that for no change.
func (c content) asMade(made content) content {
	if is, was := c["seq"], made["seq"]; len(is) == 1 && len(was) == 1 && is[0] > was[0] && len(is[0]) == len(was[0]) {
		c = maps.Clone(c)
		c["seq"] = was
	}
	return c
}

// left reports whether the tables of the game that a database has still are those of the content, as behind an undo that was
// interrupted while it dropped them; and whether others wrote more rows to these, and dropped none.
func (c content) left(i *image) (same, more bool) {
	same, fewer := c != nil, c == nil
	for _, table := range theGame {
		if i.has(table) {
			same = same && slices.Equal(i.rows[table], c[table])
			more = more || len(i.rows[table]) > len(c[table])
			fewer = fewer || len(i.rows[table]) < len(c[table])
		}
	}
	return same, more && !fewer
}

// differs says where one content is not another one.
func (c content) differs(want content) string {
	var all []string
	for _, table := range theGame {
		if !slices.Equal(c[table], want[table]) {
			all = append(all, fmt.Sprintf("%s has %q, want %q", table, c[table], want[table]))
		}
	}
	return strings.ReplaceAll(strings.Join(all, "; "), "\x1f", " ")
}

// chosen is what of a plan the reference may know: offsets, new names, and the value of the counter.
type chosen struct {
	offsets map[string]map[string]int64 // by key and world
	names   map[string]string           // by world, table and key
	counter int64
}

// merged are worlds, in their order, as one.
func merged(names []string, worlds []content, by chosen) content {
	c := content{"pl": {}, "item": {}, "mail": {}}
	for i, w := range worlds {
		pl := by.offsets["pl.id"][names[i]]
		for _, row := range w["pl"] {
			v := cells(row)
			if name, renamed := by.names[names[i]+" pl "+v[0]]; renamed {
				v[1] = name
			}
			c["pl"] = append(c["pl"], line(number(v[0])+pl, v[1], v[2]))
		}
		for _, table := range []string{"item", "mail"} {
			own := by.offsets[table+".id"][names[i]]
			for _, row := range w[table] {
				v := cells(row)
				c[table] = append(c[table], line(number(v[0])+own, number(v[1])+pl, v[2]))
			}
		}
	}
	for _, w := range worlds { // if one has other rows, no merge has them all
		c["kind"] = append(c["kind"], w["kind"]...)
	}
	slices.Sort(c["kind"])
	c["kind"] = slices.Compact(c["kind"])
	slices.Sort(c["pl"])
	slices.Sort(c["item"])
	slices.Sort(c["mail"])
	for _, row := range worlds[0]["seq"] { // those of the others stay behind
		if v := cells(row); v[0] == "pl" {
			row = line(v[0], max(number(v[1]), by.counter))
		}
		c["seq"] = append(c["seq"], row)
	}
	return c
}

func line(values ...any) string {
	var all []string
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return strings.Join(all, "\x1f")
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
