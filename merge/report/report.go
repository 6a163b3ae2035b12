// Package report presents a check, a plan and the outcome of a merge to
// people: one view of each, written as text, HTML and JSON.
package report

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/verdict"
)

// codes returns the documentation of each code.
func codes() map[string]verdict.Code {
	all := make(map[string]verdict.Code)
	for _, c := range verdict.Codes() {
		all[c.Code] = c
	}
	return all
}

// where names the table and the columns of a result.
func where(r verdict.Result) string { return strings.TrimSpace(r.Table + "  " + r.Subject) }

// byCode names results briefly, each code once with the places where they are:
// "server-unlisted (5 tables)", "world-cloned".
func byCode(results []verdict.Result, place func(verdict.Result) string, write func(places []string) string) (codes []string) {
	for code, of := range slice.Groups(results, func(r verdict.Result) string { return r.Code }) {
		if places := slices.DeleteFunc(slice.Map(of, place), func(p string) bool { return p == "" }); len(places) > 0 {
			code += write(places)
		}
		codes = append(codes, code)
	}
	return codes
}

func rowsOf(s verdict.Summary) (n int64) {
	for _, t := range s.Tables {
		n += t.Rows
	}
	return n
}

func writeJSON(w io.Writer, v any, escapeHTML bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(escapeHTML)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// by names the program that made a report, if it is known.
func by(program string) string {
	if program == "" {
		return ""
	}
	return " by " + program
}
