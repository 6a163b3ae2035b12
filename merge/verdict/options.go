package verdict

import (
	"path"
	"slices"

	"mergesafe/merge/declare"
)

// Validate checks what needs no database.
func Validate(o declare.Options) error {
	for _, pattern := range slices.Concat(o.Include, o.Exclude) {
		if _, err := path.Match(pattern, ""); err != nil {
			return declare.Unsuitable("the pattern %q is malformed", pattern)
		}
	}
	return nil
}
