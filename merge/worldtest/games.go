package worldtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/build"
	"mergesafe/merge/catalog"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/storetest"
)

// NewKeys takes integer keys of a server.
func NewKeys(t testing.TB, db *store.DB, server gameid.ServerID, count int, o numbers.KeyOptions) (all []int64) {
	t.Helper()
	keys, err := numbers.OpenKeys[gameid.Node](t.Context(), db.Registry(), server, "hero", o)
	storetest.Must(t, err)
	defer keys.Close()
	for range count {
		k, err := keys.Next(t.Context())
		storetest.Must(t, err)
		all = append(all, int64(k))
	}
	return all
}

// ViewWorld is a world with characters of some keys, a name of its own for each.
func ViewWorld(t *testing.T, e Engine, name string, keys ...int) world.Database {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.Name != "sqlite" {
		auto = "INT UNSIGNED AUTO_INCREMENT PRIMARY KEY"
	}
	d := e.Fresh(t, name)
	Exec(t, d, "CREATE TABLE characters (guid "+auto+", name VARCHAR(20) NOT NULL)")
	for _, k := range keys {
		Exec(t, d, fmt.Sprintf("INSERT INTO characters VALUES (%d, '%s%[1]d')", k, name))
	}
	return d
}

// BestTwo lets the best two heroes of each account come, and guilds that two heroes name.
func BestTwo(o *rules.Options, _ *rules.Declarations) {
	o.Leave = append(o.Leave,
		rules.Leave{Table: "hero", Where: "level < 20", Best: &rules.Best{Of: "account", Keep: 2, By: []string{"level desc"}}},
		rules.Leave{Table: "guild", Fewer: &rules.Fewer{Of: "hero.guild", Than: 2}})
}

// Leavers are worlds of which c3 is below level 20, and guilds that name their master.
var Leavers = []string{
	"CREATE TABLE hero (guid INTEGER NOT NULL PRIMARY KEY, level INTEGER, account INTEGER NOT NULL, guild INTEGER, tag VARCHAR(20) NOT NULL)",
	"INSERT INTO hero VALUES (1, 10, 1, 1, 'w%d h1'), (2, 30, 1, 1, 'w%d h2'), (3, 40, 1, NULL, 'w%d h3'), (4, NULL, 2, 2, 'w%d h4'), (5, 50, 3, 2, 'w%d h5')",
	"CREATE TABLE guild (id INTEGER NOT NULL PRIMARY KEY, master INTEGER NOT NULL, tag VARCHAR(20) NOT NULL)",
	"INSERT INTO guild VALUES (1, 1, 'w%d g1'), (2, 5, 'w%d g2')",
	"CREATE TABLE pet (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER NOT NULL, tag VARCHAR(20) NOT NULL)",
	"INSERT INTO pet VALUES (1, 1, 'w%d p1'), (2, 2, 'w%d p2'), (3, 1, 'w%d p3')",
	"CREATE TABLE spell (guid INTEGER NOT NULL, spell INTEGER NOT NULL, PRIMARY KEY (guid, spell))",
	"INSERT INTO spell VALUES (1, 7), (1, 8), (2, 7), (5, 9)",
}

func LeaveOptions(more func(o *rules.Options, d *rules.Declarations)) planner.PlanOptions {
	return KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"hero.guid"}}, rules.Space{Keys: []string{"guild.id"}}, rules.Space{Keys: []string{"pet.id"}})
		d.Plain = append(d.Plain, "hero.level")
		d.Shared = append(d.Shared, "hero.account")
		d.Shared = append(d.Shared, "spell.spell")
		d.References = append(d.References,
			rules.DeclaredReference{At: []string{"hero.guild"}, To: []string{"guild.id"}, Gone: rules.GoneNone},
			rules.DeclaredReference{At: []string{"guild.master", "pet.owner", "spell.guid"}, To: []string{"hero.guid"}, Gone: rules.GoneDrop})
		if more != nil {
			more(o, d)
		}
	})
}

// Login is an account: its number, and its name as it is written there.
type Login struct {
	ID   int
	Name string
}

// LoginWorld is a world with accounts, of which some are those of other worlds, too, and with
// rows of all kinds that name them.
func LoginWorld(t testing.TB, e Engine, name string, logins ...Login) world.Database {
	t.Helper()
	d := e.Fresh(t, name)
	auto, fold := "INTEGER PRIMARY KEY AUTOINCREMENT", "COLLATE NOCASE"
	if e.Name != "sqlite" {
		auto, fold = "INT UNSIGNED AUTO_INCREMENT PRIMARY KEY", "CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
	}
	Exec(t, d,
		"CREATE TABLE accounts (id "+auto+", name VARCHAR(40) "+fold+", email VARCHAR(40), gold INT NOT NULL)",
		"CREATE TABLE characters (guid "+auto+", account INT NOT NULL, name VARCHAR(40) NOT NULL UNIQUE)",
		"CREATE TABLE bans (account INT NOT NULL, since INT NOT NULL, why VARCHAR(40) NOT NULL, PRIMARY KEY (account, since))",
		"CREATE TABLE settings (account INT NOT NULL PRIMARY KEY, theme VARCHAR(40) NOT NULL)",
		"CREATE TABLE log (account INT NOT NULL, what VARCHAR(40) NOT NULL)",
		"CREATE TABLE clubs (id "+auto+", members VARCHAR(200) NOT NULL)",
	)
	for i, l := range logins {
		quoted := "'" + l.Name + "'"
		if l.Name == "NULL" {
			quoted = "NULL"
		}
		Exec(t, d, fmt.Sprintf("INSERT INTO accounts VALUES (%d, %s, '%s-%d@x', %d)", l.ID, quoted, name, l.ID, 10*i),
			fmt.Sprintf("INSERT INTO characters VALUES (%d, %d, 'c-%s-%d')", i+1, l.ID, name, l.ID),
			fmt.Sprintf("INSERT INTO bans VALUES (%d, %d, 'b-%s-%d')", l.ID, Number(t, d, "SELECT COUNT(*) FROM bans")+int64(100*len(name)+int(name[1])*1000), name, l.ID),
			fmt.Sprintf("INSERT INTO log VALUES (%d, 'l-%s'), (%[1]d, 'l-%s')", l.ID, name, name))
		if i == 0 {
			Exec(t, d, fmt.Sprintf("INSERT INTO clubs VALUES (1, '%d %d')", l.ID, logins[len(logins)-1].ID),
				fmt.Sprintf("INSERT INTO settings VALUES (%d, 'dark-%s')", l.ID, name))
		}
		if i == 1 && name == "s3" {
			Exec(t, d, fmt.Sprintf("INSERT INTO settings VALUES (%d, 'light-%s')", l.ID, name))
		}
	}
	Exec(t, d, fmt.Sprintf("INSERT INTO characters VALUES (90, 777, 'gone-%s')", name), "INSERT INTO log VALUES (778, 'gone'), (0, 'nobody')")
	return d
}

// LoginRules match accounts by their names.
func LoginRules(tables ...rules.TablePolicy) rules.Options {
	return rules.Options{
		Rekey: &rules.Rekey{Auto: true, Spaces: []rules.Space{{Keys: []string{"accounts.id"}, Match: []string{"accounts.name"}}, {Keys: []string{"characters.guid"}}, {Keys: []string{"clubs.id"}}}},
		Rules: []rules.Declarations{{
			Plain: []string{"accounts.gold", "accounts.email", "bans.why", "*.name"}, Shared: []string{"bans.since"},
			References: []rules.DeclaredReference{
				{At: []string{"characters.account", "bans.account", "settings.account"}, To: []string{"accounts.id"}},
				{At: []string{"log.account"}, To: []string{"accounts.id"}, None: []string{"0"}},
				{At: []string{"clubs.members"}, To: []string{"accounts.id"}, Format: "list sep=' ' every"},
			},
		}},
		Tables: tables,
	}
}

var Themes = rules.TablePolicy{Tables: []string{"settings"}, Policy: rules.PolicyCombine, Columns: map[string]string{"theme": "first"}}

// ThreeLogins are worlds with the same people: bob is everywhere, in other letters and with
// other numbers, one of which is another's in the target; eve is in the two sources.
func ThreeLogins(t testing.TB, e Engine) []world.Database {
	return []world.Database{
		LoginWorld(t, e, "s1", Login{5, "alice"}, Login{17, "bob"}, Login{18, ""}, Login{19, "NULL"}),
		LoginWorld(t, e, "s2", Login{5, "BOB"}, Login{9, "eve"}, Login{17, "carl"}, Login{18, ""}, Login{19, "NULL"}),
		LoginWorld(t, e, "s3", Login{1, "Eve"}, Login{2, "bob"}, Login{5, "dora"}, Login{17, "Alice"}),
	}
}

func Flagging(set ...string) planner.PlanOptions {
	n := plan.NamePolicy{Table: "chars", Column: "name", Template: "{name}.", Keep: plan.KeepActive, By: "seen"}
	for i := 0; i < len(set); i += 2 {
		s, err := rules.ParseSetting(set[i], set[i+1])
		if err != nil {
			panic(err)
		}
		n.Set = append(n.Set, s)
	}
	return planner.PlanOptions{Names: []plan.NamePolicy{n}, Check: rules.Options{
		Rules: []rules.Declarations{{Plain: []string{"chars.at_login", "chars.asked", "chars.seen", "chars.name"}}},
		Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"chars.guid"}}}},
	}}
}

// Body is the statement of a trigger.
func Body(e Engine, statement string) string {
	if e.Name == "sqlite" {
		return "BEGIN " + statement + "; END"
	}
	return "FOR EACH ROW " + statement
}

// Checked checks databases as the tools do.
func Checked(ctx context.Context, all []world.Database, opts rules.Options) (*verdict.Report, error) {
	var sources []catalog.Source
	for _, d := range all {
		s, err := world.Open(ctx, d.Name, d.DSN)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		sources = append(sources, s)
	}
	return merge.Check(ctx, sources, opts)
}

// MakeAll makes the new database of a plan.
func MakeAll(t *testing.T, p *plan.Plan, into world.Database, worlds []world.Database) {
	t.Helper()
	if _, err := build.ApplyWith(t.Context(), p, into, worlds, job.Options{}, job.Hooks{Clock: FixedClock}); err != nil {
		t.Fatal(err)
	}
}

// KeyWorlds makes worlds in which chars counts 1, 2, 3 and items 1, 2, whose owner is a
// character; further statements follow, in which %d is the number of the world.
func KeyWorlds(t testing.TB, e Engine, n int, further ...string) (all []world.Database) {
	t.Helper()
	for w := range n {
		d := e.Fresh(t, fmt.Sprint("w", w))
		Exec(t, d,
			"CREATE TABLE chars (guid INTEGER NOT NULL PRIMARY KEY, tag VARCHAR(20) NOT NULL)",
			fmt.Sprintf("INSERT INTO chars VALUES (1, 'w%d c1'), (2, 'w%[1]d c2'), (3, 'w%[1]d c3')", w),
			"CREATE TABLE items (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER NOT NULL, tag VARCHAR(20) NOT NULL)",
			fmt.Sprintf("INSERT INTO items VALUES (1, 3, 'w%d i1'), (2, 1, 'w%[1]d i2')", w))
		for _, s := range further {
			if strings.Contains(s, "%d") {
				s = strings.ReplaceAll(s, "%d", fmt.Sprint(w))
			}
			Exec(t, d, s)
		}
		all = append(all, d)
	}
	return all
}

// KeyOptions declares what keyWorlds makes, and more.
func KeyOptions(more func(o *rules.Options, d *rules.Declarations)) planner.PlanOptions {
	d := rules.Declarations{Plain: []string{"*.tag"}, References: []rules.DeclaredReference{{At: []string{"items.owner"}, To: []string{"chars.guid"}}}}
	o := rules.Options{Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"chars.guid"}}, {Keys: []string{"items.id"}}}}}
	if more != nil {
		more(&o, &d)
	}
	o.Rules = []rules.Declarations{d}
	return planner.PlanOptions{Check: o}
}

// Rekeyed merges worlds, and makes sure that the proof says PASS.
func Rekeyed(t *testing.T, e Engine, all []world.Database, opts planner.PlanOptions) (p *plan.Plan, into world.Database) {
	t.Helper()
	p, into = MergeOf(t, e, all, opts)
	if proof := Verified(t, p, into, all); proof.Verdict != verdict.Pass || p.Rekey != nil && len(proof.Keys) != 6 {
		t.Fatalf("%s: %+v %+v", proof.Verdict, proof.Keys, proof.Findings)
	}
	return p, into
}

// Asked compares what a database says with what it is to say.
func Asked(t *testing.T, d world.Database, query string, want ...string) {
	t.Helper()
	got := slice.Map(Rows(t, d, query), func(row []string) string { return strings.Join(row, "|") })
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%q, want\n%q", query, got, want)
	}
}

// Says compares the same for several queries, with what fmt.Sprint writes of the rows.
func Says(t *testing.T, d world.Database, answers map[string]string) {
	t.Helper()
	for query, want := range answers {
		if got := fmt.Sprint(Rows(t, d, query)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
}

// OldGame makes the databases of a game that counts its keys from 1 in every world: all
// have the same rows but for names, of which some lead nowhere.
func OldGame(t *testing.T, e Engine, names ...string) (all []world.Database) {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.Name != "sqlite" {
		auto = "INT UNSIGNED AUTO_INCREMENT PRIMARY KEY"
	}
	for i, name := range names {
		d := e.Fresh(t, name)
		Exec(t, d,
			"CREATE TABLE chars (guid "+auto+", name VARCHAR(20) NOT NULL UNIQUE, level INT NOT NULL)",
			"CREATE TABLE stats (guid INT NOT NULL PRIMARY KEY, hp INT NOT NULL)",
			"CREATE TABLE items (id "+auto+", owner INT NOT NULL, prev INT)",
			"CREATE TABLE spells (guid INT NOT NULL, spell INT NOT NULL, PRIMARY KEY (guid, spell))",
			"CREATE TABLE log (guid INT NOT NULL, what VARCHAR(9) NOT NULL)",
			"INSERT INTO log VALUES (1, 'born'), (1, 'born'), (2, 'won'), (77, 'gone'), (0, 'start')",
			"CREATE TABLE mail (id "+auto+", kind INT NOT NULL, sender INT NOT NULL, receiver INT NOT NULL)",
		)
		for k := 1; k <= 5; k++ {
			Exec(t, d, fmt.Sprintf("INSERT INTO chars (guid, name, level) VALUES (%d, 'n%c%c', %[1]d)", k, 'a'+i, 'a'+k),
				fmt.Sprintf("INSERT INTO stats VALUES (%d, %d)", k, 100*i+k),
				fmt.Sprintf("INSERT INTO spells VALUES (%d, 133), (%[1]d, %d)", k, k),
				fmt.Sprintf("INSERT INTO items (id, owner, prev) VALUES (%d, %d, NULL), (%d, %d, %d)", k, k, 10+k, 6-k, k),
				fmt.Sprintf("INSERT INTO mail (id, kind, sender, receiver) VALUES (%d, 0, %d, %d), (%d, 5, %d, %d)", k, k, 6-k, 10+k, k, k))
		}
		Exec(t, d, "INSERT INTO items (id, owner, prev) VALUES (30, 0, 9), (31, 44, 30)", // nobody's, and of somebody who is gone
			"INSERT INTO stats VALUES (77, 1)", "INSERT INTO mail (id, kind, sender, receiver) VALUES (40, 0, 0, 3)")
		all = append(all, d)
	}
	return all
}

// OldRules say what the columns of that game are.
func OldRules() rules.Options {
	return rules.Options{
		Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"chars.guid"}}}, Auto: true},
		Rules: []rules.Declarations{{
			Plain: []string{"*.level", "*.hp", "*.kind"}, Shared: []string{"spells.spell"},
			References: []rules.DeclaredReference{
				{At: []string{"stats.guid", "spells.guid", "mail.receiver"}, To: []string{"chars.guid"}},
				{At: []string{"items.owner", "log.guid"}, To: []string{"chars.guid"}, None: []string{"0"}},
				{At: []string{"items.prev"}, To: []string{"items.id"}},
				{At: []string{"mail.sender"}, To: []string{"chars.guid"}, None: []string{"0"}, When: &rules.When{Column: "kind", Is: []string{"0"}}, Others: rules.OthersPlain},
			},
		}},
	}
}

// WithoutCounters is a dump without what the server tells of AUTO_INCREMENT.
func WithoutCounters(text string) string {
	words := strings.Fields(text)
	words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "AUTO_INCREMENT=") })
	return strings.Join(words, " ")
}

// ResetWorlds are two worlds: of characters, of who is online with a generated column, of
// visits to characters (a foreign key), and of a queue without a key (but with a CHECK).
func ResetWorlds(t testing.TB, e Engine) (all []world.Database) {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.Name != "sqlite" {
		auto = "INTEGER PRIMARY KEY AUTO_INCREMENT"
	}
	for i, name := range []string{"s1", "s2"} {
		d := e.Fresh(t, name)
		Exec(t, d,
			"CREATE TABLE chars (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)",
			"CREATE TABLE online (id "+auto+", twice INTEGER AS (seen * 2), name VARCHAR(20) UNIQUE, seen INTEGER, place VARCHAR(9))",
			"CREATE TABLE visits (n INTEGER NOT NULL PRIMARY KEY, who INTEGER, FOREIGN KEY (who) REFERENCES chars (id))",
			"CREATE TABLE queue (what VARCHAR(20), CONSTRAINT some CHECK (what <> ''))")
		for k := range 3 {
			id := 100*i + k
			Exec(t, d, fmt.Sprintf("INSERT INTO chars VALUES (%d, 'c%d')", id, id),
				fmt.Sprintf("INSERT INTO online (id, name, seen) VALUES (%d, 'c%d', %d)", 4000+id, id, k),
				fmt.Sprintf("INSERT INTO visits VALUES (%d, %d)", id+7, id),
				"INSERT INTO queue VALUES ('again'), (NULL)")
		}
		all = append(all, d)
	}
	return all
}

var ResetOptions = planner.PlanOptions{Check: rules.Options{Rules: NamesNothing, Allow: []string{verdict.CodeAutoIncrement},
	Tables: []rules.TablePolicy{{Tables: []string{"online", "visits", "queue"}, Policy: rules.PolicyReset}}}}

// CountedWorld is a world without a registry, whose 60 players are counted from 1. Each has as much gold times his number.
func CountedWorld(t *testing.T, e Engine, name string, gold int) world.Database {
	t.Helper()
	d := e.Fresh(t, name)
	rows := make([]string, 60)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, 'p', %d)", i+1, gold*(i+1))
	}
	Exec(t, d, "CREATE TABLE pl (id INT NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, gold INT NOT NULL)", "INSERT INTO pl VALUES "+strings.Join(rows, ", "))
	return d
}

func RefusalsOf(t *testing.T, into world.Database, worlds []world.Database, opts planner.PlanOptions) string {
	t.Helper()
	var all []string
	for _, r := range Planned(t, into, worlds, opts).Refusals {
		all = append(all, r.String())
	}
	return strings.Join(all, "\n")
}

func CountedRules() planner.PlanOptions {
	return planner.PlanOptions{Check: rules.Options{Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"pl.id"}}}}, Rules: []rules.Declarations{{Plain: []string{"pl.gold"}}}}}
}

// A world of tables that no game has, with values of every kind. Keys are
// apart by the number of the world.

func oddSchema(e Engine) []string {
	if e.Name == "sqlite" {
		return []string{
			`CREATE TABLE "odd ""table""" (k INTEGER PRIMARY KEY, "order" TEXT, b BLOB, r REAL, any_type, n NUMERIC, d DATETIME, flag BOOLEAN, twice INTEGER GENERATED ALWAYS AS (k * 2) VIRTUAL)`,
			`CREATE TABLE pairs (a INTEGER NOT NULL, b TEXT NOT NULL COLLATE NOCASE, c BLOB NOT NULL, v INTEGER, PRIMARY KEY (b, a, c)) WITHOUT ROWID`,
			`CREATE TABLE a_child (id TEXT NOT NULL PRIMARY KEY, parent INTEGER REFERENCES "odd ""table""" (k)) WITHOUT ROWID`,
			`CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT)`,
		}
	}
	return []string{
		"CREATE TABLE `odd ``table``` (k BIGINT UNSIGNED NOT NULL PRIMARY KEY, `order` VARCHAR(60) NULL, b LONGBLOB NULL, f FLOAT NULL, r DOUBLE NULL, n DECIMAL(30,10) NULL, " +
			"d DATETIME(6) NULL, day DATE NULL, ts TIMESTAMP(3) NULL, hour TIME(2) NULL, y YEAR NULL, bits BIT(9) NULL, e ENUM('x', 'y''z', '') NULL, s SET('p', 'q') NULL, " +
			"j JSON NULL, l1 VARCHAR(20) CHARACTER SET latin1 NULL, fixed BINARY(4) NULL, c CHAR(5) NULL, small TINYINT NULL, " +
			"twice BIGINT UNSIGNED GENERATED ALWAYS AS (k DIV 2) STORED, half VARCHAR(3) GENERATED ALWAYS AS (LEFT(`order`, 3)) VIRTUAL)",
		"CREATE TABLE pairs (a INT NOT NULL, b VARCHAR(40) NOT NULL COLLATE utf8mb4_general_ci, c VARBINARY(8) NOT NULL, v BIGINT NULL, PRIMARY KEY (b, a, c))",
		"CREATE TABLE a_child (id VARCHAR(30) COLLATE utf8mb4_unicode_520_ci NOT NULL PRIMARY KEY, parent BIGINT UNSIGNED NULL, FOREIGN KEY (parent) REFERENCES `odd ``table``` (k))",
		"CREATE TABLE counted (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, v TEXT)",
	}
}

// OddWorld fills one with rows of world n, of 0 to 9.
func OddWorld(t testing.TB, e Engine, rnd *rand.Rand, name string, n int) world.Database {
	t.Helper()
	d := e.Fresh(t, name)
	Exec(t, d, oddSchema(e)...)
	db := Pool(t, d)
	defer db.Close()
	db.SetMaxOpenConns(1)
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatalf("%s %.200v: %v", query, args, err)
		}
	}
	if e.Name == "mariadb" {
		run("SET SESSION sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00'")
	}
	null := func(v any) any {
		if rnd.IntN(6) == 0 {
			return nil
		}
		return v
	}
	pick := func(all ...any) any { return null(all[rnd.IntN(len(all))]) }
	some := func(i int, v any) any { // or the negative zero
		if i%4 == 0 {
			return NegativeZero
		}
		return v
	}
	text := func(most int) string {
		letters := []rune("abcXYZ äß中😀 '\"\\\t\n\x00%_`")
		r := make([]rune, rnd.IntN(most+1))
		for i := range r {
			r[i] = letters[rnd.IntN(len(letters))]
		}
		return string(r)
	}
	blob := func(most int) []byte {
		b := make([]byte, rnd.IntN(most+1))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	var keys []uint64
	rows := rnd.IntN(60)
	for i := range rows {
		k := uint64(n)*1000 + uint64(i)
		if e.Name == "mariadb" && i%7 == 3 {
			k |= 1 << 63
		}
		keys = append(keys, k)
		if e.Name == "sqlite" {
			run(`INSERT INTO "odd ""table""" (k, "order", b, r, any_type, n, d, flag) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, int64(k),
				null(text(60)), null(blob(40)), null(some(i, rnd.NormFloat64())),
				pick("7", int64(7), 7.0, []byte("7"), "", []byte{}, NegativeZero), pick(int64(-1), "1.50", "x", 1e300),
				pick(int64(1700000000000000), "2024-02-31", "2024-01-02 03:04:05", 1.5), pick(int64(0), int64(1), int64(5),
					"true"))
			continue
		}
		run("INSERT INTO `odd ``table``` (k, `order`, b, f, r, n, d, day, ts, hour, y, bits, e, s, j, l1, fixed, c, small) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", k,
			null(text(60)), null(blob(40)), null(some(i, rnd.Float32()*1e9)), pick(rnd.NormFloat64(), 1e300, NegativeZero,
				5e-324), pick("12345678901234567890.0123456789", "-0.0000000001", "0"),
			pick("0000-00-00 00:00:00", "2024-02-31 01:02:03.000004", "9999-12-31 23:59:59.999999"), pick("0000-00-00", "2024-00-15", "1000-01-01"), pick("1970-01-01 00:00:01.001", "2038-01-19 03:14:07.999", "2024-07-01 00:00:00"),
			pick("-838:59:59.00", "838:59:58.99", "00:00:00.01"), pick("0000", "1901", "2155"), pick([]byte{1, 255}, []byte{0, 0}), pick("x", "y'z"), pick("", "p,q", "q"),
			pick(`{"a": [1, 2]}`, "null"), pick("äöÿ", "a  ", ""), null([]byte{1, 0, 0, 0}), pick("a", "ab ", ""), pick(-128, 127, 0))
	}
	if e.Name == "mariadb" && rows > 0 {
		run("UPDATE `odd ``table``` SET b = REPEAT(x'00ff27', 700000) WHERE k = ?", keys[0]) // longer than a statement is otherwise
	}
	for i := range rnd.IntN(400) {
		run("INSERT INTO pairs (a, b, c, v) VALUES (?, ?, ?, ?)", i%5, fmt.Sprint(strings.Repeat("Kk", i%3), i/20, "w", n), []byte(fmt.Sprint(i)), null(rnd.Int64()-rnd.Int64()))
	}
	for i := range rnd.IntN(200) {
		var parent any
		if len(keys) > 0 {
			parent = null(keys[rnd.IntN(len(keys))])
			if k, ok := parent.(uint64); ok && e.Name == "sqlite" {
				parent = int64(k)
			}
		}
		run("INSERT INTO a_child (id, parent) VALUES (?, ?)", fmt.Sprintf("%c%dé w%d", 'A'+rune(i%50), i, n), parent)
	}
	for i := range rnd.IntN(5) {
		run("INSERT INTO counted (id, v) VALUES (?, ?)", n*100+i+1, text(300))
	}
	return d
}

// NegativeZero is equal to 0, and another value. The constant -0.0 is 0.
var NegativeZero = math.Copysign(0, -1)

// OddAllowed is what the check cannot look into here.
var OddAllowed = planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeColumnOpaque, verdict.CodeAutoIncrement}, Rules: NamesNothing}}

// ManyWorlds are worlds of one table.
func ManyWorlds(t testing.TB, e Engine) []world.Database {
	return []world.Database{ManyRows(t, e, "a", 1, 10), ManyRows(t, e, "b", 100_000, 900), ManyRows(t, e, "c", 200_000, 700), ManyRows(t, e, "d", 300_000, 800)}
}
