package odddsn

import "testing"

// There are more than 1,000, each has its password, and Shown finds it.
func TestEach(t *testing.T) {
	all := Each()
	if len(all) < 1000 {
		t.Errorf("there are only %d", len(all))
	}
	for _, dsn := range all {
		if Shown(dsn) == "" {
			t.Errorf("%q has no password", dsn)
		}
	}
}
