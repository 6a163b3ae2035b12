package keys

import (
	"strings"
	"testing"
)

func TestExpression(t *testing.T) {
	for text, want := range map[string]uint64{
		"id / 10_000_000 % 10_000": 42, "id": 420_004_711, "id >> 8 & 255": 420_004_711 >> 8 & 255, "(id-4711)/10000000": 42, "1 + id % 10 * 2": 3,
		"id & 15 | 16": 420_004_711&15 | 16, "id << 1": 840_009_422, "2 * (1 + id / 100000000)": 10, "id%(5*2)": 1,
	} {
		e, err := ParseExpression(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, ok := e.Of(Signed(420_004_711)); !ok || got != want || e.String() != text {
			t.Errorf("%s: %d, %v, want %d", text, got, ok, want)
		}
		if _, ok := e.Of(Signed(-1)); ok {
			t.Errorf("%s: a key below 0 has a world", text)
		}
	}
	for text, want := range map[string]string{
		"": "want id, a number or (", "7": "does not contain id", "id /": "want id", "id / 0": "above 0", "id / id": "above 0", "id % (3-3)": "above 0", "(id": "want )", "id id": "want an operator",
		"id ^ 2": "want an operator", "guid / 5": "want id", "id / 99999999999999999999": "want id", strings.Repeat("(", 99) + "id": "too many", "id)": "want an operator", "id / x": "want id",
	} {
		if _, err := ParseExpression(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzExpression(f *testing.F) {
	f.Add("id / 10_000_000 % 10_000", uint64(7))
	f.Add("(id >> 22 & 1023) | 5 - 3", uint64(1)<<63)
	f.Fuzz(func(t *testing.T, text string, id uint64) {
		if e, err := ParseExpression(text); err == nil {
			e.Of(Integer{Bits: id})
		}
	})
}
