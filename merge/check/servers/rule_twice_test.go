package servers

import (
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule/ruletest"
)

func TestTwins(t *testing.T) {
	a, b, c := ruletest.Described("a", catalog.Catalog{}), ruletest.Described("b", catalog.Catalog{}), ruletest.Described("c", catalog.Catalog{})
	for name, tt := range map[string]struct {
		twins []read.Twin
		want  map[string]int64
	}{
		"apart":             {nil, map[string]int64{}},
		"one database":      {[]read.Twin{{A: a, B: b}}, map[string]int64{"world-twice  ": 1}},
		"three names":       {[]read.Twin{{A: a, B: b}, {A: a, B: c}, {A: b, B: c}}, map[string]int64{"world-twice  ": 3}},
		"not known":         {[]read.Twin{{A: a, B: b, Unclear: "a file on NFS may be the other one"}}, map[string]int64{"world-twice  ": -1}},
		"one and not known": {[]read.Twin{{A: a, B: b}, {A: b, B: c, Unclear: "two servers say the same"}}, map[string]int64{"world-twice  ": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			f := ruletest.Facts(a, b, c)
			f.Twins = tt.twins
			ruletest.Expect(t, judgeTwins(f), tt.want)
		})
	}
}
