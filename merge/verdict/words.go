package verdict

import (
	"cmp"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/rules"
)

// ProposeRules says which command writes a file of rules, and which one uses it.
const ProposeRules = "run mergecheck -propose -o rules.toml with the same worlds, read the file, and check again with -rules rules.toml"

// ChooseText writes the declarations to choose from.
func ChooseText(open *OpenColumn, table, column string) string {
	at := printable.TOML(rules.Place(table, column))
	text := "declare in [check] plain = [" + at + "], or shared (the same in every world)"
	if key := cmp.Or(open.Likely, strings.Join(open.Keys[:min(1, len(open.Keys))], "")); key != "" {
		text += "; or [[check.reference]] at = [" + at + "], to = " + printable.TOML(key)
	}
	if open.Repeats {
		text += "; if the names were changed by hand, change them in this column too; or change them back and let the merge rename them ([[merge.name]])"
	}
	return text
}

// OthersText writes what to declare of the rows that the references of a column do not cover.
func OthersText(refs []*rules.Ref, table, column string) string {
	text := `its [[check.reference]] covers some rows only: others = "plain" there, if the other rows refer to nothing; or a [[check.reference]] ` +
		"of their own: at = [" + printable.TOML(rules.Place(table, column)) + "], to = the key that they name"
	rest := &rules.When{}
	for _, r := range refs {
		if r.When == nil || len(r.When.Is) == 0 || rest.Column != "" && rest.Column != r.When.Column {
			return text
		}
		rest.Column, rest.Not = r.When.Column, append(rest.Not, r.When.Is...)
	}
	return text + ", " + whenTOML(rest)
}

// AllowFlag is the flag that allows this result, quoted for a shell; "" if there is none.
func (r *Result) AllowFlag() string {
	flag := "-allow " + r.Code
	switch {
	case Documented(r.Code).OneColumn && (r.Table == "" || len(r.Columns) != 1):
		return ""
	case r.Table == "":
		return flag
	}
	at := strings.TrimSuffix(rules.Place(r.Table, "c"), ".c")
	if len(r.Columns) == 1 {
		at = rules.Place(r.Table, r.Columns[0])
	}
	if strings.ContainsAny(at, "`$'\" ") {
		return flag + ":'" + strings.ReplaceAll(at, "'", `'\''`) + "'"
	}
	return flag + ":" + at
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
