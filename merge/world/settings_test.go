package world_test

import (
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Settings of the server that change or refuse new tables do not matter: conditions keep the quotes of their names, a
// table without a key is made, and none gets an option or an engine of the server. An account that may not set them is
// told before the first write.
func TestServerSettings(t *testing.T) {
	server := servertest.Private(t)
	e := worldtest.EngineOn(server)
	made, there := e.Fresh(t, "w"), e.Fresh(t, "w")
	run(t, made, "CREATE TABLE a (id INT PRIMARY KEY, `order` INT, twice INT AS (`order` * 2) STORED, CHECK (`order` > 0)) ROW_FORMAT=COMPRESSED",
		"CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT, CHECK (v > 0)) PARTITION BY HASH (id) PARTITIONS 2",
		"CREATE TABLE log (v INT)", "SET GLOBAL sql_quote_show_create = 0")
	if server.Program().MariaDB {
		run(t, made, "SET GLOBAL innodb_compression_default = 1", "SET GLOBAL enforce_storage_engine = 'MyISAM'")
	} else {
		run(t, made, "SET GLOBAL sql_require_primary_key = 1")
	}
	if server.Program().MariaDB {
		run(t, made, "SET GLOBAL innodb_read_only_compressed = 1")
		if got := obstacles(t, made, there); len(got) != 1 || !strings.HasPrefix(got[0], "table a: it is compressed") {
			t.Errorf("%q", got)
		}
		run(t, made, "SET GLOBAL innodb_read_only_compressed = 0", "SET GLOBAL innodb_force_primary_key = 1")
		if got := obstacles(t, made, there); len(got) != 1 || !strings.Contains(got[0], "table log: it has no primary key") || !strings.Contains(got[0], "SET GLOBAL innodb_force_primary_key = OFF;") {
			t.Errorf("%q", got)
		}
		run(t, made, "SET GLOBAL innodb_force_primary_key = 0")
	}
	if got := obstacles(t, made, there); len(got) > 0 {
		t.Errorf("%q", got)
	}
	s := read(t, made)
	w := writer(t, there)
	if err := makeAll(t, s, w); err != nil {
		t.Fatal(err)
	}
	// Whatever changes a table stores its conditions and partitions anew.
	if _, err := w.Exec(t.Context(), "raise", "ALTER TABLE n AUTO_INCREMENT = 1000", false); err != nil {
		t.Fatal(err)
	}
	if all := s.Differences(read(t, there), false); len(all) > 0 {
		t.Errorf("%q", all)
	}
	few := world.Database{Name: "w", DSN: "mysql:" + servertest.Grant(t, "ALL", strings.TrimPrefix(there.DSN, "mysql:"))}
	if server.Program().MariaDB { // so is the record of a merge; an account that may not set the engine can still write
		if _, err := w.Exec(t.Context(), "create", "CREATE TABLE record (id INT PRIMARY KEY) ENGINE=InnoDB", false); err != nil {
			t.Error(err)
		}
		if _, err := writer(t, few).Exec(t.Context(), "insert", "INSERT INTO n VALUES (1, 1)", false); err != nil {
			t.Error(err)
		}
		return
	}
	if got := obstacles(t, made, few); len(got) != 1 || !strings.Contains(got[0], "SET GLOBAL sql_require_primary_key = OFF;") {
		t.Errorf("%q", got)
	}
	run(t, made, "ALTER TABLE log ADD PRIMARY KEY (v)")
	if got := obstacles(t, made, few); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
