package printable

import (
	"regexp"
	"strings"
)

var plainWord = regexp.MustCompile(`^[\pL\pN_./:@%+=-]+$`)

// Quoted quotes a word for a shell, if it needs quotes.
func Quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(Text(word), "'", `'\''`) + "'"
}
