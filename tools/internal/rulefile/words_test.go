package rulefile

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/strict"
)

// word is a word of docs/words.md.
type word struct {
	text  string // its sentence
	whole string // with what stands below it
}

// words are those of the page: lists and tables, and words inside them.
type words struct {
	lists, inside map[string]word
	page          string
}

func readWords(t *testing.T) (w words) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/words.md")
	if err != nil {
		t.Fatal(err)
	}
	w = words{make(map[string]word), make(map[string]word), string(text)}
	for _, part := range strings.Split(w.page, "\n## ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		sentence, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		if !strings.Contains(rest, "```toml\n") {
			t.Errorf("%s has no example", name)
		}
		w.lists[strings.Trim(name, "`")] = word{sentence, rest}
		for _, m := range regexp.MustCompile("(?m)^\\* `([a-z_]+)`: (.+)$").FindAllStringSubmatch(rest, -1) {
			if _, twice := w.inside[m[1]]; twice {
				t.Errorf("%s is defined twice", m[1])
			}
			i := strings.LastIndex(strings.TrimSuffix(m[2], "`"), "`")
			if !strings.HasSuffix(m[2], "`") || i < 0 || !strings.HasPrefix(m[2][i+1:], m[1]+" = ") {
				t.Errorf("%s has no example at the end of its line", m[1])
				continue
			}
			w.inside[m[1]] = word{strings.TrimSpace(m[2][:i]), m[2]}
		}
	}
	return w
}

// The page has every word that the readers of rules know, and no other: the lists and tables, and the words
// inside them. What stands in braces is in the sentence or the example of its word.
func TestWords(t *testing.T) {
	page := readWords(t)
	lists, inside := make(map[string]bool), make(map[string]bool)
	within := func(s *strict.Shape, in string) {
		for _, k := range s.Keys {
			inside[k.Name] = true
			for _, t1 := range k.Types {
				for _, form := range slices.Concat(k.Words, formsOf(t1.Section)) {
					if said := page.inside[k.Name].whole; !strings.Contains(said, form) {
						t.Errorf("%s.%s: the page does not say %q", in, k.Name, form)
					}
				}
			}
		}
	}
	list := func(k *strict.Key) {
		lists[k.Name] = true
		for _, t := range k.Types {
			if t.Section != nil {
				within(t.Section, k.Name)
			}
			for _, i := range t.Items {
				if i.Section != nil {
					within(i.Section, k.Name)
				}
			}
		}
	}
	for _, k := range strict.ShapeOf(new(Rules).Reader("rules.toml")).Keys {
		switch k.Name {
		case "fleet": // is of config.toml
		case "check", "merge":
			for _, below := range k.Types[0].Section.Keys {
				list(below)
			}
		default:
			list(k)
		}
	}
	for name, is := range map[string][2]map[string]bool{"lists and tables": {lists, wordNames(page.lists)}, "words inside them": {inside, wordNames(page.inside)}} {
		for k := range is[0] {
			if !is[1][k] {
				t.Errorf("%s: the page lacks %s, which the reader knows", name, k)
			}
		}
		for k := range is[1] {
			if !is[0][k] {
				t.Errorf("%s: the page has %s, which no reader knows", name, k)
			}
		}
	}
	want := fmt.Sprintf("There are %d lists and tables, and %d words inside them", len(page.lists), len(page.inside))
	if !strings.Contains(page.page, want) {
		t.Errorf("the page does not say %q", want)
	}
	if len(page.lists) > 15 || len(page.inside) > 25 {
		t.Errorf("%d lists and tables, want 15 at most; %d words inside them, want 25 at most", len(page.lists), len(page.inside))
	}
}

// The examples of the page are what the reader takes.
func TestWordsExamples(t *testing.T) {
	examples := 0
	for name, word := range readWords(t).lists {
		_, text, _ := strings.Cut(word.whole, "```toml\n")
		text, _, _ = strings.Cut(text, "```")
		err := strict.Read("words.md", text, new(Rules).Reader("words.md"))
		if examples++; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if examples < 13 {
		t.Errorf("%d examples", examples)
	}
}

func formsOf(s *strict.Shape) (all []string) {
	if s != nil {
		for _, k := range s.Keys {
			all = append(all, k.Name)
		}
	}
	return all
}

func wordNames(all map[string]word) map[string]bool {
	set := make(map[string]bool)
	for k := range maps.Keys(all) {
		set[k] = true
	}
	return set
}
