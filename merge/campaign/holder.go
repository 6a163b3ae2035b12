package campaign

import (
	"fmt"
	"os"
	"time"
)

// Holder is the process that works on a campaign.
type Holder struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Doing string    `json:"doing"` // see [campaign.Status]
}

// HeldError tells that another process works on the campaign.
type HeldError struct {
	Campaign string // the file
	Holder   Holder // as far as it is known
}

func (e *HeldError) Error() string {
	who := "another process is working on it"
	if h := e.Holder; h.PID != 0 {
		who = fmt.Sprintf("process %d on %s is working on it (%s, since %s)", h.PID, h.Host, h.Doing, h.Since.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("campaign %s: %s: wait for it, or end it first", e.Campaign, who)
}

// self is this process.
func self(doing string, now time.Time) Holder {
	host, _ := os.Hostname()
	return Holder{Host: host, PID: os.Getpid(), Since: now.UTC().Truncate(time.Second), Doing: doing}
}
