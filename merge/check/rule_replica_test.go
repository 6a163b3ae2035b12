package check

import (
	"testing"

	"mergesafe/merge/catalog"
)

func TestReplicas(t *testing.T) {
	alone, follows, lags := catalog.Catalog{}, catalog.Catalog{Replica: "it still follows its primary"}, catalog.Catalog{Replica: "it is 30s behind", Behind: true}
	for name, tt := range map[string]struct {
		a, b catalog.Catalog
		want map[string]int64
	}{
		"primaries":              {alone, alone, map[string]int64{}},
		"one that has caught up": {alone, follows, map[string]int64{"world-replica  ": -1}},
		"one that lags":          {lags, follows, map[string]int64{"world-replica  ": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, judgeReplicas(factsOf(describedAs("a", tt.a), describedAs("b", tt.b))), tt.want)
		})
	}
}
