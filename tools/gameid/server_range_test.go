package main

import (
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/store"
)

func TestParseServerRange(t *testing.T) {
	for text, want := range map[string]store.ServerRange{"40-59": {First: 40, Last: 59}, " 40 - 59 ": {First: 40, Last: 59}, "7-7": {First: 7, Last: 7}, "1-1048575": {First: 1, Last: gameid.MaxServer}} {
		if got, err := parseServerRange(text); got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"": "not a range", "40": "not a range", "40-": "not a range", "0-9": "not a range", "40-50-59": "not a range", "40-1048576": "not a range", "59-40": "ends before it begins"} {
		if got, err := parseServerRange(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
}
