package check

import (
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
)

func TestServers(t *testing.T) {
	registry := catalog.Catalog{HasRegistry: true}
	const none, one, both = "", "aaaa", "bbbb"
	for name, tt := range map[string]struct {
		a, b *declare.Database
		want map[string]int64
	}{
		"no registry at all": {described("a", catalog.Catalog{}), described("b", catalog.Catalog{}), map[string]int64{}},
		"two worlds": {
			described("a", registry, catalog.Server{Server: 1, World: one, Own: true}), described("b", registry, catalog.Server{Server: 2, World: both, Own: true}),
			map[string]int64{"server-conflict  ": 0, "world-cloned  ": 0, "world-merged  ": 0},
		},
		"one number": {
			described("a", registry, catalog.Server{Server: 1, World: one, Own: true}), described("b", registry, catalog.Server{Server: 1, World: both, Own: true}),
			map[string]int64{"server-conflict  ": 1, "world-cloned  ": 0, "world-merged  ": 0},
		},
		"a clone": {
			described("a", registry, catalog.Server{Server: 1, World: one, Own: true}), described("b", registry, catalog.Server{Server: 1, World: one, Own: true}),
			map[string]int64{"server-conflict  ": 0, "world-cloned  ": 1, "world-merged  ": 0},
		},
		"merged before": {
			described("a", registry, catalog.Server{Server: 1, World: one, Own: true}, catalog.Server{Server: 2, World: both}), described("b", registry, catalog.Server{Server: 2, World: both, Own: true}),
			map[string]int64{"server-conflict  ": 0, "world-cloned  ": 0, "world-merged  ": 1},
		},
		"a world without identity": {
			described("a", registry, catalog.Server{Server: 1, World: none, Own: true}), described("b", registry, catalog.Server{Server: 2, World: both, Own: true}),
			map[string]int64{"server-conflict  ": -1, "world-cloned  ": -1, "world-merged  ": -1},
		},
		"one registry": {
			described("a", registry, catalog.Server{Server: 1, World: one, Own: true}), described("b", catalog.Catalog{}),
			map[string]int64{"server-conflict  ": -1, "world-cloned  ": -1, "world-merged  ": -1},
		},
	} {
		t.Run(name, func(t *testing.T) { expect(t, judgeServers(factsOf(tt.a, tt.b)), tt.want) })
	}
}
