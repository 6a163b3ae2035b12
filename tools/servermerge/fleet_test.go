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
		locked := func(ctx context.Context, _ databases.Registry) error {
			<-ctx.Done()
			return ctx.Err()
		}
		s := surroundings{env: func(string) (string, bool) { return "", false }}
		place, err := s.placing(t.Context(), cmd, j)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := place(locked)(ctx); !errors.Is(err, merge.ErrStopped) || time.Since(began) != 3*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
