package report

import (
	"encoding/json"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mergesafe/internal/printable"
)

// What a view says, its text, its page and its JSON form say.
func TestViewsSayTheSame(t *testing.T) {
	all := map[string]*Outcome{"hostile": hostileOutcome()}
	for word, o := range sampleOutcomes() {
		all[word] = o.Outcome
	}
	for word, o := range all {
		saysTheSame(t, word, o.View(), func(w io.Writer) error { return o.WriteText(w, TextOptions{}) }, o.WriteHTML, o.WriteJSON)
		p := &Planned{Plan: o.Plan, Then: o.Then, Check: sample1()}
		saysTheSame(t, word+" planned", p.View(), func(w io.Writer) error { return p.WriteText(w, TextOptions{}) }, p.WriteHTML, p.WriteJSON)
	}
}

var tags = regexp.MustCompile(`</?(bdi|b|span|i)( [^>]*)?>|<[^>]*>`)

func saysTheSame(t *testing.T, name string, v *View, asText, asPage, asJSON func(io.Writer) error) {
	t.Helper()
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	text := words(written(t, asText))
	page := words(html.UnescapeString(tags.ReplaceAllStringFunc(written(t, asPage), func(tag string) string {
		if tags.FindStringSubmatch(tag)[1] != "" {
			return "" // within a word
		}
		return " "
	})))
	var doc struct{ View *View }
	if err := json.Unmarshal([]byte(written(t, asJSON)), &doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if diff := cmp.Diff(v, doc.View, cmpopts.IgnoreUnexported(Section{}), cmpopts.IgnoreFields(View{}, "Color"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: the JSON form differs (-view +JSON):\n%s", name, diff)
	}
	facts := []string{v.Word, v.Sentence}
	for _, s := range v.Sections {
		facts = slices.Concat(facts, []string{s.Title, s.Where}, s.Words, s.Items, s.Commands, slices.Concat(s.Rows...))
		if len(s.Rows) > 0 {
			facts = append(facts, s.Head...)
		}
		if s.More == 0 && len(s.Rows)+len(s.Items) <= 6 {
			facts = slices.DeleteFunc(facts, func(f string) bool { return f == s.Where })
		}
	}
	for _, s := range v.Next {
		facts = append(append(facts, s.Text), s.Commands...)
	}
	for _, fact := range facts {
		fact = words(printable.Text(fact))
		if !strings.Contains(text, fact) {
			t.Errorf("%s: the text does not say %q", name, fact)
		}
		if !strings.Contains(page, fact) {
			t.Errorf("%s: the page does not say %q", name, fact)
		}
	}
}
