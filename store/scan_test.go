package store

import (
	"math"
	"testing"
)

// Every value that a driver may deliver ends up in the int32, or is refused by
// an error; none is cut.
func TestInt32Column(t *testing.T) {
	for _, tt := range []struct {
		src  any
		want int32
		ok   bool
	}{
		{int64(0), 0, true},
		{int64(math.MaxInt32), math.MaxInt32, true},
		{int64(math.MinInt32), math.MinInt32, true},
		{int64(math.MaxInt32) + 1, 0, false},
		{int64(math.MinInt32) - 1, 0, false},
		{int64(math.MaxInt64), 0, false},
		{[]byte("-12"), -12, true},
		{"34", 34, true},
		{[]byte("2147483648"), 0, false},
		{"seven", 0, false},
		{1.5, 0, false},
		{nil, 0, false},
	} {
		got := int32(-1)
		err := destination(&got).(*int32Column).Scan(tt.src)
		if (err == nil) != tt.ok || tt.ok && got != tt.want || !tt.ok && got != -1 {
			t.Errorf("%T %v: got %d, %v", tt.src, tt.src, got, err)
		}
	}
}

// The same of an int64.
func TestInt64Column(t *testing.T) {
	for _, tt := range []struct {
		src  any
		want int64
		ok   bool
	}{
		{int64(0), 0, true},
		{int64(math.MaxInt64), math.MaxInt64, true},
		{int64(math.MinInt64), math.MinInt64, true},
		{uint64(math.MaxInt64), math.MaxInt64, true},
		{uint64(math.MaxInt64) + 1, 0, false},
		{[]byte("-12"), -12, true},
		{"34", 34, true},
		{[]byte("9223372036854775808"), 0, false},
		{"seven", 0, false},
		{1.5, 0, false},
		{nil, 0, false},
	} {
		got := int64(-1)
		err := destination(&got).(*int64Column).Scan(tt.src)
		if (err == nil) != tt.ok || tt.ok && got != tt.want || !tt.ok && got != -1 {
			t.Errorf("%T %v: got %d, %v", tt.src, tt.src, got, err)
		}
	}
}
