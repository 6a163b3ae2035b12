package config

import (
	"errors"
	"fmt"
	"strings"

	"mergesafe/gameid"
)

// Numbers is a range of server numbers, both ends included. The zero Numbers is
// one that the file does not mention.
type Numbers struct{ First, Last gameid.ServerID }

// ParseNumbers reads a range such as "40-59".
func ParseNumbers(text string) (Numbers, error) {
	n, problem := parseNumbers(text)
	if problem != "" {
		return Numbers{}, errors.New(fmt.Sprintf("%.40q ", text) + problem)
	}
	return n, nil
}

func parseNumbers(text string) (n Numbers, problem string) {
	first, last, ranged := strings.Cut(text, "-")
	var errs [2]error
	n.First, errs[0] = gameid.ParseServerID(strings.TrimSpace(first))
	n.Last, errs[1] = gameid.ParseServerID(strings.TrimSpace(last))
	switch {
	case !ranged || errs[0] != nil || errs[1] != nil:
		problem = "is no range of server numbers"
	case n.First > n.Last:
		problem = "ends before it begins"
	default:
		return n, ""
	}
	return Numbers{}, problem + fmt.Sprintf(`: want two numbers from 1 to %d with a hyphen between them, the smaller first, such as "40-59"`, gameid.MaxServer)
}
