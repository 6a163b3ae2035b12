package servers

import (
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/rule/ruletest"
	"mergesafe/merge/declare"
)

func TestServers(t *testing.T) {
	registry := catalog.Catalog{HasRegistry: true}
	const none, one, both = "", "aaaa", "bbbb"
	for name, tt := range map[string]struct {
		a, b *declare.Database
		want map[string]int64
	}{
		"no registry at all": {ruletest.Described("a", catalog.Catalog{}), ruletest.Described("b", catalog.Catalog{}), map[string]int64{}},
		"two worlds": {
			ruletest.Described("a", registry, catalog.Server{Server: 1, World: one, Own: true}), ruletest.Described("b", registry, catalog.Server{Server: 2, World: both, Own: true}),
			map[string]int64{"server-conflict  ": 0, "world-cloned  ": 0, "world-merged  ": 0},
		},
		"one server": {
			ruletest.Described("a", registry, catalog.Server{Server: 1, World: one, Own: true}), ruletest.Described("b", registry, catalog.Server{Server: 1, World: both, Own: true}),
			map[string]int64{"server-conflict  ": 1, "world-cloned  ": 0, "world-merged  ": 0},
		},
		"a clone": {
			ruletest.Described("a", registry, catalog.Server{Server: 1, World: one, Own: true}), ruletest.Described("b", registry, catalog.Server{Server: 1, World: one, Own: true}),
			map[string]int64{"server-conflict  ": 0, "world-cloned  ": 1, "world-merged  ": 0},
		},
		"merged before": {
			ruletest.Described("a", registry, catalog.Server{Server: 1, World: one, Own: true}, catalog.Server{Server: 2, World: both}), ruletest.Described("b", registry, catalog.Server{Server: 2, World: both, Own: true}),
			map[string]int64{"server-conflict  ": 0, "world-cloned  ": 0, "world-merged  ": 1},
		},
		"a world without identity": {
			ruletest.Described("a", registry, catalog.Server{Server: 1, World: none, Own: true}), ruletest.Described("b", registry, catalog.Server{Server: 2, World: both, Own: true}),
			map[string]int64{"server-conflict  ": -1, "world-cloned  ": -1, "world-merged  ": -1},
		},
		"one registry": {
			ruletest.Described("a", registry, catalog.Server{Server: 1, World: one, Own: true}), ruletest.Described("b", catalog.Catalog{}),
			map[string]int64{"server-conflict  ": -1, "world-cloned  ": -1, "world-merged  ": -1},
		},
	} {
		t.Run(name, func(t *testing.T) { ruletest.Expect(t, judgeServers(ruletest.Facts(tt.a, tt.b)), tt.want) })
	}
}
