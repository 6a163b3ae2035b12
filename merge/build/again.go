package build

import (
	"context"
	"fmt"

	"mergesafe/merge/change"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// moved says how registries and counters of the worlds differ from the plan, which has to be made again then; "" if they
// do not.
func moved(ctx context.Context, r *job.Run) (reason string, err error) {
	for i, w := range r.Plan.Worlds {
		if len(w.Servers) > 0 {
			now, err := record.Servers(ctx, r.Worlds[i].Database)
			if err != nil {
				return "", fmt.Errorf("database %q: %w", w.Name, err)
			}
			if reason := record.ChangedServers(w, now); reason != "" {
				return reason, nil
			}
		}
		s, err := world.OpenWorld(ctx, r.Worlds[i].Database)
		if err != nil {
			return "", err
		}
		all, err := change.MovedCounters(ctx, r.Plan, i, s)
		s.Close()
		if err != nil || len(all) > 0 {
			return fmt.Sprint(all), err
		}
	}
	return "", nil
}
