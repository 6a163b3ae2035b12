package transfer

import (
	"strings"
	"testing"

	"mergesafe/merge"
)

// A counter goes on above all that came where its column ends soon, too: the game makes
// rows afterwards.
func TestRekeyCountersOfNarrowColumns(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		if e.name == "sqlite" {
			return // its integers have one size
		}
		all := keyWorlds(t, e, 2, "CREATE TABLE big (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO big VALUES (1), (1500000)",
			"CREATE TABLE guild (id SMALLINT UNSIGNED AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO guild VALUES (1), (7)",
			"CREATE TABLE tiny (id TINYINT AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO tiny VALUES (1), (60)",
			"CREATE TABLE few (id INT AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO few VALUES (1), (200)",
			"CREATE TABLE seq (name VARCHAR(9) PRIMARY KEY, next SMALLINT)", "INSERT INTO seq VALUES ('guild', 8)")
		p := rekeyed(t, all, keyOptions(func(o *merge.Options, d *merge.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, merge.Space{Keys: []string{"big.id"}}, merge.Space{Keys: []string{"guild.id"}}, merge.Space{Keys: []string{"tiny.id"}}, merge.Space{Keys: []string{"few.id"}, Max: 450})
			o.Tables = []merge.TablePolicy{{Tables: []string{"seq"}, Policy: merge.PolicySkip}}
			o.Rekey.Counters = []merge.CounterRow{{At: "seq.next", Space: "guild.id"}}
		}))
		exec(t, all[0], "INSERT INTO guild () VALUES ()", "INSERT INTO tiny () VALUES ()", "INSERT INTO few () VALUES ()")
		for table, most := range map[string]string{"guild": "65535", "tiny": "127", "few": "450"} {
			asked(t, all[0], "SELECT COUNT(*), MAX(id) <= "+most+" FROM "+table, "5|1")
		}
		asked(t, all[0], "SELECT next > (SELECT MAX(id) - 1 FROM guild) - 1 AND next <= 32767 FROM seq", "1")
		if p.Rekey.Offset("guild.id", "w1") == 0 {
			t.Error("no key got a new value")
		}
	})
}

// A counter in a row that has no room for what came is a refusal.
func TestRekeyCounterWithoutRoom(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		if e.name == "sqlite" {
			return // its integers have one size
		}
		all := keyWorlds(t, e, 2, "CREATE TABLE guild (id INT PRIMARY KEY)", "INSERT INTO guild VALUES (1), (32000)",
			"CREATE TABLE seq (name VARCHAR(9) PRIMARY KEY, next SMALLINT)", "INSERT INTO seq VALUES ('guild', 32001)")
		p, err := NewPlan(t.Context(), all[0], all[1:], keyOptions(func(o *merge.Options, d *merge.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, merge.Space{Keys: []string{"guild.id"}})
			o.Tables = []merge.TablePolicy{{Tables: []string{"seq"}, Policy: merge.PolicySkip}}
			o.Rekey.Counters = []merge.CounterRow{{At: "seq.next", Space: "guild.id"}}
		}))
		if err != nil || len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Reason, "ends at 32767") {
			t.Errorf("%v, refused for %v", err, p.Refusals)
		}
	})
}

// Names that look like patterns are names.
func TestRekeyOddNames(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		quote := dialect{Dialect: (&connection{Database: Database{DSN: e.fresh(t, "w9").DSN}}).dialect().Dialect}.Quote
		var odd []string
		var keys []merge.Space
		for _, name := range []string{"a.b", "log*", "x{1..2}", "it`ems"} {
			odd = append(odd, "CREATE TABLE "+quote(name)+" (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO "+quote(name)+" VALUES (1), (2)")
			keys = append(keys, merge.Space{Keys: []string{merge.Name(name) + ".id"}})
		}
		rekeyed(t, keyWorlds(t, e, 2, odd...), keyOptions(func(o *merge.Options, d *merge.Declarations) { o.Rekey.Spaces = append(o.Rekey.Spaces, keys...) }))
	})
}

// A space of a table whose rows stay behind is a mistake that is named.
func TestRekeySpaceOfWhatStays(t *testing.T) {
	for _, policy := range []merge.Policy{merge.PolicySkip, merge.PolicyReset} {
		all := keyWorlds(t, engines()[0], 2, "CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY)")
		_, err := NewPlan(t.Context(), all[0], all[1:], keyOptions(func(o *merge.Options, d *merge.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, merge.Space{Name: "auctions", Keys: []string{"auction.id"}})
			o.Tables = []merge.TablePolicy{{Tables: []string{"auction"}, Policy: policy}}
		}))
		if err == nil || !strings.Contains(err.Error(), "the rows of its tables stay behind") {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

// A value that is said to mean nobody, and to be a row that is gone, is a contradiction.
func TestNoneAndDangling(t *testing.T) {
	all := keyWorlds(t, engines()[0], 2)
	o := keyOptions(nil)
	o.Check.Rules[0].References[0].None, o.Check.Rules[0].References[0].Dangling = []string{"1"}, []string{"1"}
	if _, err := NewPlan(t.Context(), all[0], all[1:], o); err == nil || !strings.Contains(err.Error(), `none and dangling both have "1"`) {
		t.Errorf("%v", err)
	}
}
