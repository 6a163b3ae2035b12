package gameid

import (
	"context"
	"errors"
)

// release gives the lease back and lowers the mark to the last time used.
func (n *Node) release(ctx context.Context, used int64) error {
	n.mu.Lock()
	unsure, row := n.lease.unsure, n.row()
	used = min(used, n.lease.mark) // beyond the mark nothing was issued
	n.mu.Unlock()
	if unsure {
		rec, err := n.reserver.Load(ctx, n.server)
		if err != nil {
			return err
		}
		if rec.Holder.Token != n.holder.Token {
			return &LostError{Server: n.server, Holder: rec.Holder}
		}
		row = rec
	}
	ok, err := n.reserver.CompareAndSet(ctx, n.server, row, Claim{Reserved: used, Window: n.window})
	if err == nil && !ok {
		err = errors.New("the registry row was changed by another process")
	}
	return err
}
