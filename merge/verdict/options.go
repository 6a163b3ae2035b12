package verdict

import (
	"path"
	"slices"

	"mergesafe/internal/nearest"
	"mergesafe/internal/slice"
	"mergesafe/merge/declare"
)

// Validate checks what needs no database.
func Validate(o declare.Options) error {
	codes := slice.Map(Codes(), func(c Code) string { return c.Code })
	for _, code := range o.FailOn {
		if !slices.Contains(codes, code) {
			return declare.Unsuitable("fail on: no rule has the code %q%s", code, nearest.Hint(code, codes))
		}
	}
	for _, pattern := range slices.Concat(o.Include, o.Exclude) {
		if _, err := path.Match(pattern, ""); err != nil {
			return declare.Unsuitable("the pattern %q is malformed", pattern)
		}
	}
	return nil
}
