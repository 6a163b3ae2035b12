package sqlite

import (
	"context"
	"strings"

	"mergesafe/internal/sqldb"
)

// Durability implements [sqldb.Engine]: how a session of ours is set up needs no look.
func (engine) Durability(ctx context.Context, s *sqldb.Session) ([]sqldb.Lossy, error) {
	var mode string
	if err := s.Get(ctx, &mode, "PRAGMA journal_mode"); err != nil {
		return nil, err
	}
	if mode = strings.ToLower(mode); mode == "off" || mode == "memory" {
		return []sqldb.Lossy{{
			Variable: "journal_mode", Value: mode, Serious: true,
			Risk: "when the process ends in the middle of a transaction, the file is damaged",
			Mend: "PRAGMA journal_mode = WAL",
		}}, nil
	}
	return nil, nil
}
