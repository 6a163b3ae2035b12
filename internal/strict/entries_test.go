package strict

import "testing"

// The line is that of the text, and not of a comment or of another key that has it.
func TestLineOf(t *testing.T) {
	text := `# "deep"
[a]
other = ["deep"]
list = [
  'first', "se\"cond", # "third", and it's not here
  # "deep"

  "third", "a # b",
  { "deep" = 'deep' }, "deep",
]
one = "deep"
`
	err := Read("c.toml", text, func(root *Section) {
		root.Section("a", func(s *Section) {
			for _, c := range []struct {
				key, text string
				want      int
			}{
				{"list", "first", 5}, {"list", `se"cond`, 5}, {"list", "third", 8}, {"list", "a # b", 8}, {"list", "deep", 9},
				{"list", "absent", 4}, {"one", "deep", 11}, {"other", "deep", 3}, {"other", "first", 3}, {"none", "deep", 2},
			} {
				if got := s.LineOf(c.key, c.text); got != c.want {
					t.Errorf("%s %q: line %d, want %d", c.key, c.text, got, c.want)
				}
			}
			s.Know(s.Keys()...)
		})
	})
	if err != nil {
		t.Error(err)
	}
}
