package gameid

import (
	"context"
	"time"
)

// A Reserver is the registry as a node sees it: one row for each server,
// changed only by compare-and-set on a strictly increasing epoch and
// on the holder's token. It decides nothing: [OpenNode] and the node's renewals decide
// which claims to write, so every registry behaves alike.
//
// Uniqueness depends on two rules only. CompareAndSet must be atomic: of two
// callers that give the same row, at most one may succeed. And what it wrote
// must be durable before it returns true. With both, no clock is trusted.
//
// If a registry breaks the second rule, or is restored from an older copy, the
// clocks are a second defence: see [Node]. It needs the registry's clock to be
// right, and Record.Window to come back as it was claimed.
//
// Methods may be called from several goroutines. Package gameidtest has a
// Reserver in memory, and a test that every implementation must pass.
type Reserver interface {
	// Load reads the row of server and the registry's clock. If there is no row, it
	// returns a Record with Epoch 0, not an error.
	Load(ctx context.Context, server ServerID) (Record, error)

	// CompareAndSet writes c over the row of server if that row still has the Epoch
	// and the Holder.Token of row; the other fields of row are not compared. It then
	// raises the epoch by one and returns true. Epoch 0 means that there is no row:
	// CompareAndSet then inserts it. If the row has another epoch or token, it returns
	// false, and nothing has changed.
	//
	// The epoch alone is not enough: if a registry is restored from an older copy, the
	// same epoch is reached again, under another holder.
	//
	// An error means that the outcome is unknown: the change may have been
	// made, or may still be made until another call raises the epoch. If the error is
	// [ErrRegistryGone], the node ends.
	CompareAndSet(ctx context.Context, server ServerID, row Record, c Claim) (bool, error)
}

// A Floorer is a [Reserver] that can see the IDs of a server, for instance in the
// tables of its database. [OpenNode] asks it once, before it reads the row, and waits at
// most a minute. A node that runs never asks it: the node knows its IDs.
type Floorer interface {
	Reserver

	// Floor returns the largest time in the IDs of server, in milliseconds since
	// [EpochMillis], or 0 if there are none, or none above the mark in the row. The node
	// begins above it, even if the row was lost or restored and a clock is wrong.
	Floor(ctx context.Context, server ServerID) (int64, error)
}

// Record is the row of one server as a [Reserver] read it.
type Record struct {
	// Epoch counts the changes of the row. It is 0 if there is no row.
	Epoch int64

	// Reserved is the mark, in milliseconds since [EpochMillis]: every time up
	// to and including it may have been used by IDs of this server. It is 0 if no time
	// was used yet: time 0 is never used.
	Reserved int64

	// Window is the largest of all claims, or 0 if there was no claim: it never gets
	// smaller. A node claims with the larger of this and its Options.Window.
	Window time.Duration

	// Holder has the lease. The zero Holder means that no process has it.
	Holder Holder

	// LeaseUntil is the end of the lease, and Now the time at which the row
	// was read, both by the registry's clock.
	LeaseUntil, Now time.Time
}

// Claim is what a node writes into the row of its server.
type Claim struct {
	// Reserved is the new mark, in milliseconds since [EpochMillis]. A node
	// that closes lowers it to the last time that it used.
	Reserved int64

	// Window is how far ahead of the clock the node reserves: the larger of its
	// Options.Window and Record.Window, in whole milliseconds. The registry
	// keeps the largest.
	Window time.Duration

	// Holder takes or keeps the lease. The zero Holder gives it back.
	Holder Holder

	// Lease is how long the lease is to last from now, by the registry's clock.
	Lease time.Duration
}

// Holder describes the process that has, or had, the lease of a server, for the message
// that another process prints. The zero Holder means that there is no process.
type Holder struct {
	// Token is random and tells one opened node from every other.
	Token string `json:"token"`

	// Host, PID and Program say where to look for the process.
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Program string `json:"program"`

	// Since is when the node was opened, by its own clock.
	Since time.Time `json:"since"`

	// Process names the process so exactly that another process on the same
	// machine can tell that it has ended: boot, PID and time namespace, PID and
	// start time. It is empty if the system has no such identity.
	Process string `json:"process,omitempty"`
}

// IsZero reports whether h describes no process.
func (h Holder) IsZero() bool { return h.Token == "" }
