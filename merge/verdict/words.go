package verdict

import (
	"cmp"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/declare"
)

// ProposeRules is the command that writes a file of rules, and the one that uses it.
func ProposeRules(rekey bool) string {
	option := ""
	if rekey {
		option = "-rekey "
	}
	return "run mergecheck " + option + "-propose -o rules.toml with the same sources, read the file, and check again with " + option + "-rules rules.toml"
}

// ChooseText writes the declarations to choose from.
func ChooseText(open *OpenColumn, table, column string) string {
	at := printable.TOML(declare.Place(table, column))
	text := "declare in [check] plain = [" + at + "], or natural, or shared"
	if key := cmp.Or(open.Likely, strings.Join(open.Keys[:min(1, len(open.Keys))], "")); key != "" {
		text += "; or [[check.reference]] at = [" + at + "], to = " + printable.TOML(key)
	}
	if open.Repeats {
		text += "; if the names were changed by hand, change them in this column too, or change them back and let the merge do it ([[merge.name]])"
	}
	return text
}

// Without says of a result without a conflict what message does, if all of it was
// compared.
func (r *Result) Without(message string) {
	switch {
	case len(r.Gaps) == 0:
		r.Message = message
	case r.Read == 0:
		r.Message = "nothing could be compared"
	default:
		r.Message = message + ", as far as it could be compared"
	}
}
