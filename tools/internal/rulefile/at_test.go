package rulefile

import (
	"strings"
	"testing"
)

// In every table at is one text or a list. Where it names one thing a list of two is a problem.
func TestAtTakesTextOrList(t *testing.T) {
	for table, c := range map[string]struct {
		rest string
		many bool
	}{
		"check.reference": {"to = 'hero.id'", true}, "check.unique": {"", true}, "check.id": {"", false}, "check.world": {"by = 'id / 16'", false},
		"merge.counter": {"to = 'hero.id'", false}, "merge.name": {"", false},
	} {
		for _, at := range []string{"'pet.owner'", "['pet.owner']", "['pet.owner', 'pet.name']"} {
			text := "[[" + table + "]]\nat = " + at + "\n" + c.rest + "\n[[merge.space]]\nkeys = ['hero.id']\n"
			_, err := parse(text)
			if refused := strings.Contains(at, ",") && !c.many; (err != nil) != refused {
				t.Errorf("%s%v", text, err)
			}
		}
	}
}
