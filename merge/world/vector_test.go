package world

import (
	"database/sql/driver"
	"math"
	"strconv"
	"testing"
)

// TestNumbers has integers that come as numbers, and a batch with one beyond them.
func TestNumbers(t *testing.T) {
	v := vector{column: "n", encode: encodeDigits, digits: true, asNumbers: true}
	for _, test := range []struct {
		name    string
		values  []driver.Value
		numbers bool
	}{
		{"numbers", []driver.Value{int64(7), int64(-12), int64(math.MinInt64)}, true},
		{"with NULL", []driver.Value{int64(7), nil, int64(-12)}, true},
		{"NULL first", []driver.Value{nil, int64(7)}, true},
		{"beyond int64", []driver.Value{nil, int64(7), int64(123), uint64(math.MaxUint64), nil, int64(5)}, false},
		{"beyond int64, as the driver has it in a prepared statement", []driver.Value{int64(7), []byte("18446744073709551615")}, false},
		{"numbers again", []driver.Value{int64(1)}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			v.reset()
			for _, value := range test.values {
				if err := v.add([]driver.Value{value}); err != nil {
					t.Fatal(err)
				}
			}
			got := v.finish()
			if (got.Numbers != nil) != test.numbers {
				t.Errorf("got the numbers %v", got.Numbers)
			}
			for i, value := range test.values {
				want := ""
				switch n := value.(type) {
				case int64:
					want = strconv.FormatInt(n, 10)
				case uint64:
					want = strconv.FormatUint(n, 10)
				case []byte:
					want = string(n)
				}
				if at := got.At(i); string(at) != want || (at == nil) != (value == nil) {
					t.Errorf("value %d: got %q, want %v", i, at, value)
				}
			}
		})
	}
	v.reset()
	for i, value := range []driver.Value{int64(1), "no number"} {
		if err := v.add([]driver.Value{value}); (err == nil) != (i == 0) {
			t.Errorf("%v: got %v", value, err)
		}
	}
}
