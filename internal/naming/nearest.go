package naming

import "strings"

// Hint returns a question to append to a message about an unknown name,
// ` (did you mean "name"?)`, with the known name that is closest to it; or nothing if
// more than a third of its letters differ. Case does not count. Of equally close names the first one wins.
func Hint(given string, known []string) string {
	if len(given) > 64 {
		return "" // nobody types that, and the distance takes length times length
	}
	best, name := len(given)+1, ""
	for _, k := range known {
		if d := distance(strings.ToLower(given), strings.ToLower(k)); d < best {
			best, name = d, k
		}
	}
	if name == "" || 3*best > max(len(name), 3) {
		return ""
	}
	return ` (did you mean "` + name + `"?)`
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	// Three rows of the table of distances between all prefixes.
	older, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older, previous, row = previous, row, older
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, previous[j+1]+1, previous[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
