package store

import (
	"errors"
	"fmt"

	"mergesafe/gameid"
)

// explainMark adds to an error that refuses a mark in the far future where the
// way out is.
func (db *DB) explainMark(server gameid.ServerID, err error) error {
	if _, ok := errors.AsType[*gameid.MarkError](err); ok {
		return fmt.Errorf("%w; for the ways out: gameid servers repair-mark %s -server %s", err, shellWord(db.name), server)
	}
	return err
}
