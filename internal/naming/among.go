package naming

import (
	"slices"
	"strings"
)

// Among reports whether a name is among others. Case does not count.
func Among(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
