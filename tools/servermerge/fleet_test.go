package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge"
	"mergesafe/tools/internal/databases"
)

// A fleet registry that does not answer, such as one whose row a frozen process has locked, is waited for as long as
// -patience says, and no longer.
func TestPlacingHasPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cmd := &cliv3.Command{Name: "undo", Flags: []cliv3.Flag{fleetFlag(), databases.ConfigFlag()}}
		j := &work{job: &job{plan: &merge.Plan{Worlds: []merge.World{{}}}, worlds: []merge.Database{{}}}, options: merge.Options{RetryFor: 3 * time.Second}}
		locked := func(_ databases.Registry, ctx context.Context, _ *merge.Plan, _ merge.Database, _ []merge.Database, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		s := surroundings{env: func(string) (string, bool) { return "", false }}
		placing, err := s.moving(t.Context(), cmd, j, "", locked)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := placing(ctx); !errors.Is(err, merge.ErrStopped) || time.Since(began) != 3*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
