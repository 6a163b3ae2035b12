package gameid_test

import (
	"testing"
	"time"

	"mergesafe/gameid"
)

// What Value gives to a database Scan reads, as text or bytes; no process is empty text.
func TestHolderValue(t *testing.T) {
	for _, h := range []gameid.Holder{{}, {Token: "t", Host: "host-a", PID: 4711, Program: "gameserver", Since: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)}} {
		v, err := h.Value()
		text, is := v.(string)
		if err != nil || !is || (text == "") != h.IsZero() {
			t.Fatalf("%v: %v, %v", h, v, err)
		}
		for _, src := range []any{text, []byte(text)} {
			var again gameid.Holder
			if err := again.Scan(src); err != nil || again != h {
				t.Errorf("%T: %v, %v, want %v", src, again, err, h)
			}
		}
	}
	for _, src := range []any{nil, 7, "{", []byte("x")} {
		h := gameid.Holder{Host: "before"}
		if err := h.Scan(src); err == nil {
			t.Errorf("%v is %v", src, h)
		}
	}
	if text := (gameid.Holder{}).String(); text != "no process" {
		t.Error(text)
	}
	h := gameid.Holder{Token: "t", Host: "host-a", PID: 4711, Program: "gameserver", Since: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)}
	if text := h.String(); text != "gameserver (pid 4711) on host-a since 2026-11-21T03:00:00.000Z" {
		t.Error(text)
	}
}
