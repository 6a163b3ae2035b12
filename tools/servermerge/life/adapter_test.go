package life

import (
	"encoding/json"
	"regexp"
	"strings"
)

// What this file has is all that the model reads of the product's own tables.

// recordTable is that of a merge in its new database.
const recordTable = "mergesafe_merge"

var label = regexp.MustCompile(`(merge|try) ([0-9a-f]{32}) [A-Z2-7]+ (made|found)`)

// recorded are the merges that a database has on record, with their states: one, or none. A record without a row is COPYING
// or TRIED.
func (i *image) recorded() map[string]string {
	of := label.FindStringSubmatch(i.objects["table "+recordTable])
	if of == nil {
		return nil
	}
	state := copying
	if of[1] == "try" {
		state = tried
	}
	all := map[string]string{of[2]: state}
	for _, row := range i.rows[recordTable] {
		all[cells(row)[0]] = words[cells(row)[1]]
	}
	return all
}

// found reports whether a database was there, empty, before its merge, which then drops its tables and not the file.
func (i *image) found() bool {
	of := label.FindStringSubmatch(i.objects["table "+recordTable])
	return of != nil && of[3] == "found"
}

// rehearsal reports whether a database was made by one, whose undo asks no world.
func (i *image) rehearsal() bool {
	of := label.FindStringSubmatch(i.objects["table "+recordTable])
	return of != nil && of[1] == "try"
}

// words are the states of the record as the design names them.
var words = map[string]string{"none": none, "tried": tried, "copying": copying, "made": made, "opening": opening, "open": opened, "undoing": undoing, "plan again": planAgain}

// fenceOf is the merge of a fence, and what the fence says of it; no merge if the holder is no fence.
func fenceOf(holder string) (merge, says string) {
	var h struct {
		Token, Process string
	}
	if json.Unmarshal([]byte(holder), &h) != nil {
		return "", ""
	}
	merge, is := strings.CutPrefix(h.Token, "fence:")
	if !is {
		return "", ""
	}
	return merge, h.Process
}
