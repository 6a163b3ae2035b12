package catalog

import "testing"

// Columns are compared only where equal values stay equal in the first world.
func TestComparable(t *testing.T) {
	column := func(kind Kind, typ, collation string) Column {
		return Column{Kind: kind, Type: typ, Collation: collation}
	}
	for _, tt := range []struct {
		a, b Column
		want bool
	}{
		{column(KindText, "varchar(20)", "utf8mb4_general_ci"), column(KindText, "char(9)", "latin1_bin"), true},
		{column(KindInteger, "int(11)", ""), column(KindInteger, "bigint(20) unsigned", ""), true},
		{column(KindBytes, "varbinary(10)", ""), column(KindBytes, "blob", ""), true},
		{column(KindBytes, "binary(10)", ""), column(KindBytes, "BINARY(10)", ""), true},
		{column(KindBytes, "binary(10)", ""), column(KindBytes, "binary(12)", ""), false},
		{column(KindBytes, "binary(10)", ""), column(KindBytes, "varbinary(10)", ""), false},
		{column(KindInteger, "int(11)", ""), column(KindBytes, "varbinary(10)", ""), false},
		{column(KindDecimal, "decimal(9,2)", ""), column(KindDecimal, "decimal(9,3)", ""), false},
	} {
		if got := tt.a.Comparable(&tt.b); got != tt.want {
			t.Errorf("%s and %s: got %v", tt.a.Type, tt.b.Type, got)
		}
		if got := tt.b.Comparable(&tt.a); got != tt.want {
			t.Errorf("%s and %s: got %v", tt.b.Type, tt.a.Type, got)
		}
	}
}

// Only an index that covers all rows, and says which are equal, keeps values
// apart.
func TestUniqueIndexes(t *testing.T) {
	for unclear, want := range map[string]bool{"": true, "it covers only some rows": false} {
		table := &Table{Columns: []Column{{Name: "name"}, {Name: "slot"}}, Uniques: []Unique{{Columns: []string{"name"}, Unclear: unclear}}}
		if got := table.Unique([]string{"name", "slot"}, table); got != want {
			t.Errorf("an index of which is unclear %q: got %v, want %v", unclear, got, want)
		}
	}
}

// Of constraints the character set and the type of a literal are not compared, for MySQL changes them. What is inside a text stays.
func TestChecks(t *testing.T) {
	table := &Table{Conditions: []Condition{
		{Kind: ConditionCheck, Text: "(`a` <> _latin1'x _utf8mb4''y') and `_b` > '' and `time` < TIME'10:00:00'"},
		{Kind: ConditionCheck, Text: "`a` > 0", Off: true},
	}}
	all := table.Checks()
	if _, is := all["CHECK ((`a` <> 'x _utf8mb4''y') and `_b` > '' and `time` < '10:00:00')"]; !is || len(all) != 1 {
		t.Errorf("got %q", all)
	}
}
