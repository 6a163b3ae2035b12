package apply

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/change/counters"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
)

// moved says how registries and counters of the worlds differ from the plan, which has to be made again then; "" if they
// do not.
func moved(ctx context.Context, r *job.Run) (reason string, err error) {
	for i, w := range r.Plan.Worlds {
		if len(w.Servers) > 0 {
			now, err := ledger.Servers(ctx, r.Worlds[i].Database)
			if err != nil {
				return "", fmt.Errorf("database %q: %w", w.Name, err)
			}
			if reason := ledger.ChangedServers(w, now); reason != "" {
				return reason, nil
			}
		}
		s, err := rowio.OpenSource(ctx, r.Worlds[i].Database)
		if err != nil {
			return "", err
		}
		all, err := counters.Moved(ctx, r.Plan, i, s)
		s.Close()
		if err != nil || len(all) > 0 {
			return fmt.Sprint(all), err
		}
	}
	return "", nil
}
