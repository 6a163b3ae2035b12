package printable

import "strings"

// List joins the first parts, at most so many, and counts the others: "a, b, c,
// and 2 more".
func List(parts []string, by string, most int) string {
	if len(parts) > most {
		parts = append(parts[:most:most], "and "+Number(int64(len(parts)-most))+" more")
	}
	return strings.Join(parts, by)
}

// Names joins names for a sentence: "s1, s2 and s3". Of more than nine it writes
// eight and counts the others.
func Names(names []string) string {
	const most = 8
	var all []string
	for i, name := range names {
		if i == most && len(names) > most+1 {
			all = append(all, Number(int64(len(names)-i))+" more")
			break
		}
		all = append(all, Text(name))
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}
