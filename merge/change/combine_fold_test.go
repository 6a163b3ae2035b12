package change

import (
	"strings"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// A sum is what the type takes or is refused, to the last unit; a decimal keeps its digits.
func TestFoldSum(t *testing.T) {
	b := func(s string) any { return []byte(s) }
	for _, c := range []struct {
		declared string
		values   []any
		want     any // nil: refused
	}{
		{"tinyint", []any{int64(100), int64(27)}, int64(127)},
		{"tinyint", []any{int64(100), int64(28)}, nil},
		{"tinyint(4)", []any{int64(-100), int64(-28)}, int64(-128)},
		{"tinyint(4)", []any{int64(-100), int64(-29)}, nil},
		{"tinyint(3) unsigned", []any{int64(255), int64(0)}, int64(255)},
		{"tinyint unsigned", []any{int64(255), int64(1)}, nil},
		{"smallint", []any{int64(32767), int64(1)}, nil},
		{"mediumint unsigned", []any{int64(16777215), int64(1)}, nil},
		{"int(11)", []any{int64(2147483647), int64(1), int64(-1)}, int64(2147483647)},
		{"int", []any{int64(2147483647), int64(1)}, nil},
		{"bigint", []any{int64(1<<63 - 1), int64(1)}, nil},
		{"bigint(20) unsigned", []any{int64(1<<63 - 1), int64(1)}, uint64(1 << 63)},
		{"bigint unsigned", []any{uint64(1<<64 - 1), int64(1)}, nil},
		{"", []any{int64(1<<63 - 2), int64(1)}, int64(1<<63 - 1)},
		{"", []any{int64(1), 1.5}, nil},
		{"decimal(6,2)", []any{b("9999.98"), b("0.01")}, b("9999.99")},
		{"decimal(6,2)", []any{b("9999.98"), b("0.02")}, nil},
		{"decimal(6,2)", []any{b("-0.05"), b("0.02")}, b("-0.03")},
		{"decimal(6,2)", []any{b("1.005"), b("0.02")}, nil},
		{"decimal(6,2) unsigned", []any{b("1.00"), b("-2.00")}, nil},
		{"decimal(30,0)", []any{b("99999999999999999999"), b("1")}, b("100000000000000000000")},
	} {
		got, why := foldColumn(rules.Formula{Op: rules.FormulaSum}, c.declared, append(c.values, nil))
		if c.want == nil && why == "" || c.want != nil && !world.Same(got, c.want) {
			t.Errorf("%s %v: %v, %s, want %v", c.declared, c.values, got, why, c.want)
		}
		// What verify asks of it says the same.
		if c.want != nil && !fulfils(rules.FormulaSum, 0, c.declared, c.want, c.values) {
			t.Errorf("%s %v: the proof does not take %v", c.declared, c.values, c.want)
		}
		if c.want != nil && fulfils(rules.FormulaSum, 0, c.declared, c.want, append(c.values, c.values[0])) && world.Printed(c.values[0])[0] != '0' {
			t.Errorf("%s %v: the proof takes %v for one value more", c.declared, c.values, c.want)
		}
	}
}

// The largest is the largest as the column compares: numbers by their value, texts by their bytes.
func TestFoldMax(t *testing.T) {
	b := func(s string) any { return []byte(s) }
	for _, c := range []struct {
		declared   string
		low, high  any
		comparable bool
	}{
		{"int", int64(-3), int64(2), true},
		{"bigint unsigned", int64(9), uint64(1 << 63), true},
		{"decimal(6,2)", b("9.50"), b("10.25"), true},
		{"varchar(9)", b("10"), b("9"), true},
		{"datetime", b("2023-12-31 23:59:59"), b("2024-01-01 00:00:00"), true},
		{"double", -1.5, 2.0, true},
		{"NUMERIC", int64(1), "2", false},
	} {
		for _, values := range [][]any{{c.low, c.high, nil}, {nil, c.high, c.low}} {
			high, why := foldColumn(rules.Formula{Op: rules.FormulaMax}, c.declared, values)
			low, _ := foldColumn(rules.Formula{Op: rules.FormulaMin}, c.declared, values)
			if !c.comparable {
				if !strings.Contains(why, "several types") {
					t.Errorf("%s %v: %v, %s", c.declared, values, high, why)
				}
				continue
			}
			if !world.Same(high, c.high) || !world.Same(low, c.low) {
				t.Errorf("%s %v: %v and %v", c.declared, values, low, high)
			}
			if !fulfils(rules.FormulaMax, 0, c.declared, c.high, values) || fulfils(rules.FormulaMax, 0, c.declared, c.low, values) ||
				!fulfils(rules.FormulaMin, 0, c.declared, c.low, values) || fulfils(rules.FormulaMin, 0, c.declared, c.high, values) {
				t.Errorf("%s %v: the proof says something else", c.declared, values)
			}
		}
	}
}

// A row that is not to be combined is never taken for one that is, nor is it left out.
func TestFoldWhen(t *testing.T) {
	c := &combiner{table: &plan.Table{Combine: &plan.Combine{Combining: rules.Combining{When: &rules.When{Column: "season", Is: []string{"3"}}}}}, When: 1, Formulas: make([]rules.Formula, 2),
		L: &world.Layout{Columns: []string{"id", "season"}, Types: []string{"", ""}, Key: []int{0}}}
	in, out := []any{int64(1), int64(3)}, []any{int64(1), int64(4)}
	for _, g := range []struct {
		combineGroup
		refused bool
	}{{combineGroup{in, in}, false}, {combineGroup{out, in}, true}, {combineGroup{in, out}, true}, {combineGroup{out}, false}} {
		if _, err := c.Result(g.combineGroup); (err != nil) != g.refused || err != nil && !strings.Contains(err.Error(), "when season is 3") {
			t.Errorf("%v: %v", g.combineGroup, err)
		}
	}
}
