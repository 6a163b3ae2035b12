package record

import "mergesafe/merge/world"

// Statements make the record and the tables beside it.
func Statements(d world.Dialect) []string {
	return append([]string{createRecord(d, Label{ID: "x"})}, createTables(d)...)
}
