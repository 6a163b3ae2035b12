package cli

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// What does not answer is named every 30 seconds, until it does.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text, doc bytes.Buffer
		stop := NewLog(&text, "prog", false).Waiting(t.Context(), "asking s1")
		stopDoc := NewLog(&doc, "prog", true).Waiting(t.Context(), "asking s1")
		time.Sleep(61 * time.Second)
		stop()
		stopDoc()
		time.Sleep(time.Minute)
		if want := "prog: asking s1: no answer for 30s\nprog: asking s1: no answer for 1m0s\n"; text.String() != want {
			t.Errorf("got %q, want %q", &text, want)
		}
		if want := `{"time":"2000-01-01T00:00:30Z","level":"INFO","msg":"asking s1: no answer for 30s","program":"prog","seconds":30}` + "\n" +
			`{"time":"2000-01-01T00:01:00Z","level":"INFO","msg":"asking s1: no answer for 1m0s","program":"prog","seconds":60}` + "\n"; doc.String() != want {
			t.Errorf("got %s, want %s", &doc, want)
		}
	})
}
