package ledger

import "mergesafe/merge/transfer/rowio"

// Statements make the record and the tables beside it.
func Statements(d rowio.Dialect) []string {
	return append([]string{createRecord(d, Label{ID: "x"})}, createTables(d)...)
}
