package printable

import "testing"

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"plan.json": "plan.json", "sqlite:a/b.db": "sqlite:a/b.db", "Ä一.json": "Ä一.json",
		"": "''", "my plan": "'my plan'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "a\x1bb": `'a\x1bb'`,
	} {
		if got := Quoted(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
