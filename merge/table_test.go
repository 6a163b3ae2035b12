package merge

import "testing"

// Columns are compared only where equal values stay equal in the target.
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
		if got := tt.a.comparable(&tt.b); got != tt.want {
			t.Errorf("%s and %s: got %v", tt.a.Type, tt.b.Type, got)
		}
		if got := tt.b.comparable(&tt.a); got != tt.want {
			t.Errorf("%s and %s: got %v", tt.b.Type, tt.a.Type, got)
		}
	}
}
