package profiles

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var schema = map[string][]string{
	"hero": strings.Fields("id owner guild name gold"), "account": strings.Fields("id login"), "guild": strings.Fields("id chief title"),
	"mail": strings.Fields("id sender receiver body"), "item": strings.Fields("id holder kind"), "log": strings.Fields("id hero what"),
}

var sources = map[string]string{
	"a.c": `
char hero_db[32] = "hero", guild_db[32], log_db[] = "log";
#define MAIL "mail"
static void f(struct session *s, int n) {
	safestrncpy(guild_db, "guild", sizeof(guild_db));
	/* "DELETE FROM log WHERE hero = id" */
	if (ERROR == SQL->Query(h, "SELECT h.name FROM ` + "`%s` h LEFT JOIN `%s`" + ` AS g "
		"ON g.chief = h.id WHERE h.guild='%d' AND h.gold = '%"PRIu64"'", hero_db, guild_db, s->guild_id, (int)s->gold))
		ShowError("Update of %s failed", s->name);
	StrBuf->Printf(&buf, "INSERT INTO ` + "`" + `" MAIL "` + "`" + `(sender, receiver) VALUES ");
	for (i = 0; i < n; i++)
		StrBuf->Printf(&buf, "%s(%d, %d)", i ? "," : "", s->hero_id, s->friends[i].hero_id);
	SQL->StmtPrepare(stmt, "UPDATE item SET holder = ? WHERE kind = ?");
	SQL->StmtBindParam(stmt, 1, SQLDT_INT, &s->kind, sizeof(s->kind));
	SQL->StmtBindParam(stmt, 0, SQLDT_INT, &s->hero_id, sizeof(s->hero_id));
	SQL->Query(h, "DELETE FROM %s WHERE id = 1", computed(n));
	SQL->Query(h, "DELETE FROM ` + "`%s` USING `%s` JOIN `%s` ON `%s`.id = `%s`" + `.hero", hero_db, hero_db, log_db, hero_db, log_db);
}`,
	"b.cpp": `
void list() { PrepareStatement(SEL_ITEM_LOG, "SELECT 1 FROM log WHERE hero = ?", CONNECTION_ASYNC); }
void use() {
	stmt = db.GetPreparedStatement(SEL_ITEM_LOG);
	stmt->setUInt32(0, player->GetHeroId());
	db.query(fmt::format("SELECT id FROM hero WHERE owner = {:d} AND name = {:s}", account.id(), db.escape(name)));
	std::ostringstream query;
	db::preparedStmt("UPDATE hero SET gold = ? WHERE guild = ?", purse, band->id);
	query << "DELETE FROM item WHERE holder = " << player->getGuid() << " AND kind IN (" << k << ')';
}`,
	"C.java": `
class C { void f() {
	PreparedStatement ps = con.prepareStatement("SELECT * FROM mail m JOIN (SELECT id, name FROM hero) AS x "
		+ "ON x.id = m.sender WHERE m.receiver = ?");
	ps.setInt(1, chr.getId());
	String sql = "DELETE FROM item WHERE holder NOT IN (SELECT id FROM hero) AND kind = ?"; // of the heroes
	try (PreparedStatement del = con.prepareStatement(sql)) { del.setInt(1, rs.getInt("kind")); }
} }`,
	"d.lua": `
-- db.query("DELETE FROM log WHERE hero = id")
local r = db.query("UPDATE guild SET chief = " .. (next or 0) .. " WHERE id = " .. player:getGuildId())
local q = string.format("SELECT id FROM account WHERE login = '%s'", name)
db.query([[SELECT (SELECT title FROM guild WHERE guild.id = guild) FROM hero]])
local stmt = "INSERT INTO log VALUES "
stmt = stmt .. "(0, " .. hero.id .. ", 'x')"`,
	"e.go": "package e\nfunc f() { db.Query(`SELECT 1 FROM hero, account a WHERE hero.owner = a.id AND a.id = gold + 1 AND name = ?`, login) }",
	"f.sql": `CREATE TABLE IF NOT EXISTS hero (id INT, owner INT, CONSTRAINT x FOREIGN KEY (owner) REFERENCES account (id)); # hero.id = item.id;
CREATE TRIGGER t AFTER DELETE ON guild FOR EACH ROW BEGIN UPDATE hero SET guild = 0 WHERE guild = OLD.id; INSERT INTO log (hero) VALUES (OLD.chief); END;
INSERT INTO log (hero, what) SELECT holder, 'it''s; 2' FROM item LEFT JOIN hero USING (id);
UPDATE hero SET gold = id; SELECT 1 FROM item a, item b WHERE a.id = b.id; SELECT id FROM other WHERE id = 'mail.id = item.id';`,
	"g.txt": "SELECT 1 FROM hero, item WHERE hero.id = item.kind",
}

// What it finds in a made-up game in each language, and nothing else.
func TestFound(t *testing.T) {
	files := make(fstest.MapFS)
	for name, text := range sources {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	r := newReader(schema)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return r.add(files, name)
	})
	if err != nil {
		t.Fatal(err)
	}
	all := r.result()
	var got []string
	for _, rel := range all.relations {
		got = append(got, fmt.Sprintf("%s = %s %s", rel.a, rel.b, strings.Join(rel.at, " ")))
	}
	want := strings.Split(strings.TrimSpace(`
account.id = hero.owner e.go:2 f.sql:1
guild.chief = hero.id a.c:7
guild.chief = log.hero f.sql:2
guild.id = hero.guild d.lua:5 f.sql:2
hero.id = item.holder C.java:6
hero.id = item.id f.sql:3
hero.id = log.hero a.c:17
hero.id = mail.sender C.java:3
item.holder = log.hero f.sql:3`), "\n")
	slices.Sort(got)
	slices.Sort(want)
	for _, one := range got {
		if !slices.Contains(want, one) {
			t.Errorf("it found %s", one)
		}
	}
	for _, one := range want {
		if !slices.Contains(got, one) {
			t.Errorf("it did not find %s", one)
		}
	}
	if all.statements != 21 || all.computed != 1 {
		t.Errorf("%d statements and %d of computed tables", all.statements, all.computed)
	}
}
