package main

import (
	"fmt"
	"strings"

	"mergesafe/gameid"
	"mergesafe/store"
)

// parseServerRange reads a range of servers such as "40-59".
func parseServerRange(text string) (n store.ServerRange, err error) {
	first, last, ranged := strings.Cut(text, "-")
	var errs [2]error
	n.First, errs[0] = gameid.ParseServerID(strings.TrimSpace(first))
	n.Last, errs[1] = gameid.ParseServerID(strings.TrimSpace(last))
	problem := ""
	switch {
	case !ranged || errs[0] != nil || errs[1] != nil:
		problem = "is not a range of servers"
	case n.First > n.Last:
		problem = "ends before it begins"
	default:
		return n, nil
	}
	return n, fmt.Errorf(`%.40q %s: want two numbers from 1 to %d, the smaller first, with a hyphen between them, such as "40-59"`, text, problem, gameid.MaxServer)
}
