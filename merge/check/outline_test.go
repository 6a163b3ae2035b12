package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
)

func outlinedCatalog() *catalog.Catalog {
	standard := "0"
	return &catalog.Catalog{
		Engine: "mariadb", SchemaVersion: 3, Collation: "utf8mb4_bin",
		Tables: []catalog.Table{{
			Name: "characters", Engine: "InnoDB", Primary: []string{"guid"},
			Columns: []catalog.Column{
				{Name: "guid", Type: "int(10) unsigned"}, {Name: "name", Type: "varchar(12)", Collation: "utf8mb4_bin"},
				{Name: "level", Type: "tinyint(3)", Default: &standard},
			},
			Uniques:       []catalog.Unique{{Name: "by_name", Columns: []string{"name"}}},
			References:    []catalog.Reference{{Name: "fk1", Columns: []string{"guild"}, ToTable: "guilds", ToColumns: []string{"id"}}},
			Conditions:    []catalog.Condition{{Kind: catalog.ConditionCheck, Text: "level < 100"}},
			AutoIncrement: &catalog.AutoIncrement{Column: "guid", Next: 7},
		}, {Name: "guilds", Engine: "InnoDB", Columns: []catalog.Column{{Name: "id", Type: "int(10)"}}, Primary: []string{"id"}}},
		Views:    []string{"online"},
		Routines: []catalog.Routine{{Kind: "PROCEDURE", Name: "tidy", Body: "DELETE FROM x"}},
		Skipped:  []catalog.Skipped{{Table: "log", Reason: "CSV: not part of the snapshot"}},
	}
}

// Every difference has words, and another fingerprint; what is none has neither.
func TestOutline(t *testing.T) {
	characters := func(c *catalog.Catalog) *catalog.Table { return &c.Tables[0] }
	for _, tt := range []struct {
		what   string
		change func(c *catalog.Catalog)
		want   []string
	}{
		{"nothing", func(*catalog.Catalog) {}, nil},
		{"rows came", func(c *catalog.Catalog) { characters(c).AutoIncrement.Next = 4711 }, nil},
		{"names of keys", func(c *catalog.Catalog) {
			characters(c).Uniques[0].Name, characters(c).References[0].Name = "name", "characters_ibfk_1"
		}, nil},
		{"another order of tables", func(c *catalog.Catalog) { slices.Reverse(c.Tables) }, nil},
		{"version", func(c *catalog.Catalog) { c.SchemaVersion = 2 }, []string{"schema version is 2, not 3"}},
		{"no version", func(c *catalog.Catalog) { c.SchemaVersion = 0 }, []string{"schema version missing"}},
		{"collation", func(c *catalog.Catalog) { c.Collation = "latin1_bin" }, []string{"default collation is latin1_bin, not utf8mb4_bin"}},
		{"a table less", func(c *catalog.Catalog) { c.Tables = c.Tables[:1] }, []string{"table guilds missing"}},
		{"a table more", func(c *catalog.Catalog) { c.Tables = append(c.Tables, catalog.Table{Name: "pets"}) }, []string{"table pets added"}},
		{"a column less", func(c *catalog.Catalog) { characters(c).Columns = characters(c).Columns[:2] }, []string{"table characters: column level missing"}},
		{"a column more", func(c *catalog.Catalog) {
			characters(c).Columns = slices.Insert(characters(c).Columns, 1, catalog.Column{Name: "guild", Type: "int(10)", Nullable: true})
		}, []string{"table characters: column guild added: int(10)"}},
		{"a type", func(c *catalog.Catalog) { characters(c).Columns[1].Type = "varchar(24)" },
			[]string{"table characters: column name is varchar(24) NOT NULL COLLATE utf8mb4_bin, not varchar(12) NOT NULL COLLATE utf8mb4_bin"}},
		{"a default", func(c *catalog.Catalog) { characters(c).Columns[2].Default = nil },
			[]string{"table characters: column level is tinyint(3) NOT NULL, not tinyint(3) NOT NULL DEFAULT 0"}},
		{"a long type", func(c *catalog.Catalog) { characters(c).Columns[1].Type = "enum(" + strings.Repeat("'x',", 100) + ")" }, []string{"table characters: column name differs"}},
		{"counted up no more", func(c *catalog.Catalog) { characters(c).AutoIncrement = nil },
			[]string{"table characters: column guid is int(10) unsigned NOT NULL, not int(10) unsigned NOT NULL AUTO_INCREMENT"}},
		{"order", func(c *catalog.Catalog) { slices.Reverse(characters(c).Columns) }, []string{"table characters: columns in another order: level is in the place of guid"}},
		{"storage", func(c *catalog.Catalog) { characters(c).Engine = "MyISAM" }, []string{"table characters: storage is MyISAM, not InnoDB"}},
		{"primary key", func(c *catalog.Catalog) { characters(c).Primary = []string{"guid", "name"} },
			[]string{"table characters: primary key guid missing", "table characters: primary key (guid, name) added"}},
		{"unique", func(c *catalog.Catalog) { characters(c).Uniques = nil }, []string{"table characters: unique name missing"}},
		{"check", func(c *catalog.Catalog) { characters(c).Conditions = nil }, []string{"table characters: CHECK (level < 100) missing"}},
		{"foreign key", func(c *catalog.Catalog) { characters(c).References[0].OnDelete = "CASCADE" },
			[]string{"table characters: foreign key guild → guilds.id is ON DELETE CASCADE, not no action"}},
		{"view", func(c *catalog.Catalog) { c.Views = nil }, []string{"view online missing"}},
		{"routine", func(c *catalog.Catalog) { c.Routines[0].Body = "" }, []string{"PROCEDURE tidy is empty, not DELETE FROM x"}},
		{"not read", func(c *catalog.Catalog) { c.Skipped = nil }, []string{"table log that is not read missing"}},
		{"engine", func(c *catalog.Catalog) { c.Engine = "mysql" }, []string{"engine is mysql, not mariadb"}},
	} {
		model, c := outlinedCatalog().Outline(), outlinedCatalog()
		tt.change(c)
		is := c.Outline()
		if diff := cmp.Diff(tt.want, is.Drift(model)); diff != "" {
			t.Errorf("%s:\n%s", tt.what, diff)
		}
		if same := is.Fingerprint() == model.Fingerprint(); same != (tt.want == nil) {
			t.Errorf("%s: same fingerprint: %v", tt.what, same)
		}
		if back := model.Drift(is); (back == nil) != (tt.want == nil) {
			t.Errorf("%s, the other way round: %q", tt.what, back)
		}
	}
}
