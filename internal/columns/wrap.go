package columns

import "strings"

// Wrap divides a text into lines of at most width columns, at spaces. What stands before
// the words of the first line is prefix; the other lines begin below its end, as does the
// rest of a word that is wider than a line. Spaces between words that stay on one line are kept. A width
// of 0 or less is no limit.
func Wrap(prefix, text string, width int) (lines []string) {
	hang := Width(prefix)
	if hang > width/2 { // little would be left
		hang = min(2, hang)
	}
	line, used, gap := prefix, Width(prefix), ""
	empty := true // no word is on the line yet
	for text != "" {
		word := strings.TrimLeft(text, " ")
		gap, text = text[:len(text)-len(word)], word
		if word == "" {
			break
		}
		word, _, _ = strings.Cut(text, " ")
		text = text[len(word):]
		for width > 0 && used+len(gap)+Width(word) > width {
			room := ""
			if empty && (used <= hang || width-used > 1) { // not even alone
				room = terminal.Truncate(word, max(width-used, 2), "")
			}
			lines = append(lines, strings.TrimRight(line+room, " "))
			word = word[len(room):]
			line, used, gap, empty = strings.Repeat(" ", hang), hang, "", true
		}
		if word != "" {
			line, used, empty = line+gap+word, used+len(gap)+Width(word), false
		}
	}
	return append(lines, strings.TrimRight(line, " "))
}
