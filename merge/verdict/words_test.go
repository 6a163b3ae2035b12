package verdict

import (
	"testing"

	"mergesafe/merge/rules"
)

// Of the rows that no when covers it is said which line covers them: those of one condition with its values turned round.
func TestOthersText(t *testing.T) {
	of := func(column string, is ...string) *rules.Ref {
		return &rules.Ref{When: &rules.When{Column: column, Is: is}}
	}
	const text = `its [[check.reference]] covers some rows only: others = "plain" there, if the other rows refer to nothing; or a [[check.reference]] ` +
		`of their own: at = ["mail.sender"], to = the key that they name`
	for _, tt := range []struct {
		refs []*rules.Ref
		want string
	}{
		{[]*rules.Ref{of("kind", "0"), of("kind", "1", "2")}, text + `, when = { column = "kind", not = [0, 1, 2] }`},
		{[]*rules.Ref{of("kind", "0"), of("type", "1")}, text},
		{[]*rules.Ref{{}}, text},
	} {
		if got := OthersText(tt.refs, "mail", "sender"); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}
