package merge

// Proposal is something that the schema does not declare, but names, types and
// data suggest: config for the operator to judge and to paste. One of Unique
// and Reference is set.
type Proposal struct {
	Unique    *DeclaredUnique    `json:"unique,omitempty"`
	Reference *DeclaredReference `json:"reference,omitempty"`

	// Evidence says what speaks for it: "distinct in every database: 12,345 of
	// 12,345".
	Evidence string `json:"evidence"`

	// Conflicts is how much a check would find if it were declared.
	Conflicts int64 `json:"conflicts"`
}
