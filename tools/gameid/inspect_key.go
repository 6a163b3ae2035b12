package main

import (
	"fmt"
	"io"
	"strconv"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
)

// parseKey reads an integer key in decimal. It reports false for an integer that carries no server, and for what
// may be an ID, which has 20 digits.
func parseKey(s string) (key int64, is bool) {
	for _, r := range s {
		if r < '0' || r > '9' {
			return 0, false
		}
	}
	key, err := strconv.ParseInt(s, 10, 64)
	return key, err == nil && len(s) < gameid.TextSize && len(readings(key)) > 0
}

// reading is what a key says in one of the forms.
type reading struct {
	Bits    int             `json:"bits"` // of the whole key
	Server  gameid.ServerID `json:"server"`
	Counter int64           `json:"counter"`
}

func readings(key int64) (all []reading) {
	for _, f := range gameid.KeyForms {
		if server, counter, ok := f.Split(key); ok {
			all = append(all, reading{gameid.ServerBits + int(f), server, counter})
		}
	}
	return all
}

func printKeys(w io.Writer, keys []int64, asJSON bool) error {
	type object struct {
		Key      int64     `json:"key,string"` // too large for a number of JavaScript
		Readings []reading `json:"readings"`
	}
	var objects []object
	for _, key := range keys {
		objects = append(objects, object{key, readings(key)})
	}
	if asJSON {
		return cli.WriteJSON(w, objects)
	}
	for _, o := range objects {
		fmt.Fprintf(w, "%d\n", o.Key)
		for _, r := range o.Readings {
			fmt.Fprintf(w, "  as a key of %d bits: server %s, counter %s\n", r.Bits, r.Server, printable.Number(r.Counter))
		}
	}
	return nil
}
