package keys

import "testing"

func TestValues(t *testing.T) {
	n, err := ParseValues([]string{"0", "-1", "<-100", ">=5000", "x"})
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{
		"0": true, "-1": true, "1": false, "-100": false, "-101": true, "-9223372036854775808": true, "4999": false, "5000": true,
		"18446744073709551615": true, "x": true, "y": false, "": false, "00": false, "\x00\x00": true, "-5000": true,
	} {
		if got := n.Has([]byte(value)); got != want {
			t.Errorf("%q: %v", value, got)
		}
		if number, ok := ParseInteger([]byte(value)); ok && number.Is([]byte(value)) != (value != "00") {
			t.Errorf("%q is not the number %s", value, number)
		} else if got := n.HasInteger(number); ok && value != "00" && got != want {
			t.Errorf("the number %s: %v", value, got)
		}
	}
	zero, _ := ParseValues([]string{"0", ""})
	for value, want := range map[string]bool{"0": true, "": true, "\x00": true, "1": false} {
		if got := zero.Has([]byte(value)); got != want {
			t.Errorf("with zero, %q: %v", value, got)
		}
	}
}
