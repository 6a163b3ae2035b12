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
	only := slice.Map(o.Only, func(s declare.Selection) string { return s.Code })
	for _, named := range []struct {
		option string
		codes  []string
	}{{"fail on", o.FailOn}, {"only", only}} {
		for _, code := range named.codes {
			if !slices.Contains(codes, code) {
				return declare.Unsuitable("%s: no rule has the code %q%s", named.option, code, nearest.Hint(code, codes))
			}
		}
	}
	for _, pattern := range slices.Concat(o.Include, o.Exclude) {
		if _, err := path.Match(pattern, ""); err != nil {
			return declare.Unsuitable("the pattern %q is malformed", pattern)
		}
	}
	return nil
}
