package check

import (
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
)

func TestServers(t *testing.T) {
	registry := catalog.Catalog{HasRegistry: true}
	const none, one, both = "", "aaaa", "bbbb"
	for name, tt := range map[string]struct {
		a, b *rules.Database
		want map[string]int64
	}{
		"no registry at all": {describedAs("a", catalog.Catalog{}), describedAs("b", catalog.Catalog{}), map[string]int64{}},
		"two worlds": {
			describedAs("a", registry, catalog.Server{Server: 1, World: one, Own: true}), describedAs("b", registry, catalog.Server{Server: 2, World: both, Own: true}),
			map[string]int64{"server-conflict  ": 0, "world-cloned  ": 0, "world-merged  ": 0},
		},
		"one server": {
			describedAs("a", registry, catalog.Server{Server: 1, World: one, Own: true}), describedAs("b", registry, catalog.Server{Server: 1, World: both, Own: true}),
			map[string]int64{"server-conflict  ": 1, "world-cloned  ": 0, "world-merged  ": 0},
		},
		"a clone": {
			describedAs("a", registry, catalog.Server{Server: 1, World: one, Own: true}), describedAs("b", registry, catalog.Server{Server: 1, World: one, Own: true}),
			map[string]int64{"server-conflict  ": 0, "world-cloned  ": 1, "world-merged  ": 0},
		},
		"merged before": {
			describedAs("a", registry, catalog.Server{Server: 1, World: one, Own: true}, catalog.Server{Server: 2, World: both}), describedAs("b", registry, catalog.Server{Server: 2, World: both, Own: true}),
			map[string]int64{"server-conflict  ": 0, "world-cloned  ": 0, "world-merged  ": 1},
		},
		"a world without identity": {
			describedAs("a", registry, catalog.Server{Server: 1, World: none, Own: true}), describedAs("b", registry, catalog.Server{Server: 2, World: both, Own: true}),
			map[string]int64{"server-conflict  ": -1, "world-cloned  ": -1, "world-merged  ": -1},
		},
		"one registry": {
			describedAs("a", registry, catalog.Server{Server: 1, World: one, Own: true}), describedAs("b", catalog.Catalog{}),
			map[string]int64{"server-conflict  ": -1, "world-cloned  ": -1, "world-merged  ": -1},
		},
	} {
		t.Run(name, func(t *testing.T) { expect(t, judgeServers(factsOf(tt.a, tt.b)), tt.want) })
	}
}
