package rules

import (
	"fmt"
	"testing"

	"mergesafe/merge/catalog"
)

// A value that no row can have is refused with the type of its column, and what would be right.
func TestTakes(t *testing.T) {
	kind := &catalog.Column{Name: "kind", Type: "enum('player','auction house')", Kind: catalog.KindText}
	n := Names{"mail": {
		"kind": kind, "any": either(kind, &catalog.Column{Type: "enum('player')", Kind: catalog.KindText}),
		"text": {Type: "varchar(9)", Kind: catalog.KindText}, "sender": {Type: "int(11)", Kind: catalog.KindInteger}, "price": {Type: "decimal(9,2)", Kind: catalog.KindDecimal},
	}}
	when := func(column string, is ...string) error { return neverHolds(&When{Column: column, Is: is}, "mail", n) }
	none := func(value string, columns ...string) error {
		var at []ColumnName
		for _, c := range columns {
			at = append(at, ColumnName{"mail", c})
		}
		return n.takes("none", []string{value}, at...)
	}
	for i, tt := range []struct {
		got  error
		want string
	}{
		{when("kind", "player", "auction house", ""), "<nil>"},
		{when("any", "guild"), "<nil>"}, // each database has other words
		{when("text", "guild"), "<nil>"},
		{when("kind", "plaier"), `when: "plaier" is not a value of it, but column "kind" of table "mail" is enum('player','auction house'): no row can have that value; want one of its words (did you mean "'player'"?)`},
		{when("price", "x"), `when: "x" is not a value of it, but column "price" of table "mail" is decimal(9,2): no row can have that value; want numbers`},
		{none("-1", "sender"), "<nil>"},
		{none("<32", "sender"), "<nil>"},
		{none("1.5", "price"), "<nil>"},
		{none("abc", "sender", "text"), "<nil>"}, // for one of them
		{none("abc", "sender"), `none has "abc", but mail.sender is int(11): no row can have that value; want numbers`},
		{none("", "sender"), `none has "", but mail.sender is int(11): no row can have that value; want numbers`},
	} {
		if got := fmt.Sprint(tt.got); got != tt.want {
			t.Errorf("%d: %s, want %s", i, got, tt.want)
		}
	}
}
