package check

import (
	"testing"

	"mergesafe/merge/catalog"
)

func TestTwins(t *testing.T) {
	a, b, c := describedAs("a", catalog.Catalog{}), describedAs("b", catalog.Catalog{}), describedAs("c", catalog.Catalog{})
	for name, tt := range map[string]struct {
		twins []twin
		want  map[string]int64
	}{
		"apart":             {nil, map[string]int64{}},
		"one database":      {[]twin{{A: a, B: b}}, map[string]int64{"world-twice  ": 1}},
		"three names":       {[]twin{{A: a, B: b}, {A: a, B: c}, {A: b, B: c}}, map[string]int64{"world-twice  ": 3}},
		"not known":         {[]twin{{A: a, B: b, Unclear: "a file on NFS may be the other one"}}, map[string]int64{"world-twice  ": -1}},
		"one and not known": {[]twin{{A: a, B: b}, {A: b, B: c, Unclear: "two servers say the same"}}, map[string]int64{"world-twice  ": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			f := factsOf(a, b, c)
			f.Twins = tt.twins
			expect(t, judgeTwins(f), tt.want)
		})
	}
}
