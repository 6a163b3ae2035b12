package naming

import "strings"

// Nearest returns the known name that is closest to given, and whether it is
// close enough to be worth suggesting: at most a third of its letters differ.
// Case does not count. Of equally close names the first one wins.
func Nearest(given string, known []string) (name string, ok bool) {
	if len(given) > 64 {
		return "", false // nobody types that, and the distance takes length times length
	}
	best := len(given) + 1
	for _, k := range known {
		if d := distance(strings.ToLower(given), strings.ToLower(k)); d < best {
			best, name = d, k
		}
	}
	if 3*best > max(len(name), 3) {
		return "", false
	}
	return name, true
}

// Hint returns a question to append to a message about an unknown name,
// ` (did you mean "name"?)`, or nothing if no known name is close.
func Hint(given string, known []string) string {
	if name, ok := Nearest(given, known); ok {
		return ` (did you mean "` + name + `"?)`
	}
	return ""
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
