package keys

import (
	"fmt"
	"strings"
	"testing"
)

// A condition holds for a value, in SQL and here alike. NULL is none of the values.
func TestWhen(t *testing.T) {
	for _, c := range []struct {
		when      When
		holds     string // the values among NULL, 0, 4, 04, x of which it is true
		text, sql string
	}{
		{When{"kind", []string{"4", "x"}, nil}, "4 x", "kind is 4, x", "(k IS NOT NULL AND k IN (4))"},
		{When{"kind", []string{"x", "04"}, nil}, "04 x", "kind is x, 04", "1 = 0"},
		{When{"kind", nil, []string{"4", "x"}}, "NULL 0 04", "kind is not 4, x", "(k IS NULL OR k NOT IN (4))"},
		{When{"kind", nil, []string{"x"}}, "NULL 0 4 04", "kind is not x", "1 = 1"},
	} {
		var holds []string
		for _, v := range []string{"NULL", "0", "4", "04", "x"} {
			value := []byte(v)
			if v == "NULL" {
				value = nil
			}
			if c.when.Holds(value) {
				holds = append(holds, v)
			}
		}
		if got := strings.Join(holds, " "); got != c.holds {
			t.Errorf("%+v holds for %s, want %s", c.when, got, c.holds)
		}
		if got := c.when.String(); got != c.text || c.when.Text() != c.text {
			t.Errorf("got %q and %q, want %q", got, c.when.Text(), c.text)
		}
		if got := c.when.IntegerSQL("k"); got != c.sql {
			t.Errorf("%+v: got %s, want %s", c.when, got, c.sql)
		}
	}
	if got := (*When)(nil).Text(); got != "" {
		t.Errorf("no condition: %q", got)
	}
}

// Two conditions exclude each other if no value meets both, whatever the values are.
func TestWhenExcludes(t *testing.T) {
	var all []*When
	for _, values := range [][]string{{"1"}, {"2"}, {"1", "2"}, {"2", "3"}} {
		all = append(all, &When{"a", values, nil}, &When{"a", nil, values})
	}
	for _, x := range all {
		for _, y := range all {
			both := x.Holds(nil) && y.Holds(nil)
			for _, v := range []string{"1", "2", "3", "4"} {
				both = both || x.Holds([]byte(v)) && y.Holds([]byte(v))
			}
			if got := x.Excludes(y); got == both {
				t.Errorf("%s excludes %s: %v", x, y, got)
			}
		}
	}
	for _, pair := range [][2]*When{{nil, all[0]}, {all[0], nil}, {all[0], {"b", []string{"9"}, nil}}} {
		if pair[0].Excludes(pair[1]) {
			t.Errorf("%v excludes %v", pair[0].Text(), pair[1].Text())
		}
	}
}

func TestWhenValidate(t *testing.T) {
	for want, c := range map[string]*When{
		"":                nil,
		"names no column": {"", []string{"1"}, nil},
		"one of the two":  {"a", []string{"1"}, []string{"2"}},
		"is or under not": {"a", nil, nil},
	} {
		if got := fmt.Sprint(c.Validate()); want == "" && got != "<nil>" || !strings.Contains(got, want) {
			t.Errorf("%v: got %s, want %q", c, got, want)
		}
	}
	for _, good := range []*When{{"a", []string{"1"}, nil}, {"a", nil, []string{"1"}}} {
		if err := good.Validate(); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}
