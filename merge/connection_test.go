package merge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/world"
)

// A statement ends with its context on the server as well, where it would keep
// others from the tables.
func TestCancelledStatementEnds(t *testing.T) {
	d := engines()[1].fresh(t, "s1")
	exec(t, d, "CREATE TABLE many (id INT PRIMARY KEY)")
	for start := range 5 {
		var rows []string
		for i := range 1000 {
			rows = append(rows, fmt.Sprintf("(%d)", start*1000+i))
		}
		exec(t, d, "INSERT INTO many VALUES "+strings.Join(rows, ", "))
	}
	c := &world.Connection{Database: d}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const slow = "SELECT SUM(a.id = d.id) FROM many AS a, many AS b, many AS c, many AS d"
	done := make(chan error, 1)
	go func() {
		_, err := c.Number(ctx, slow, false)
		done <- err
	}()
	dsn := strings.TrimPrefix(d.DSN, "mysql:")
	servertest.AwaitRunning(t, dsn, slow, true)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	servertest.AwaitRunning(t, dsn, slow, false)
}
