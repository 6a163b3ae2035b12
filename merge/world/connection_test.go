package world_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A statement ends with its context on the server as well, where it would keep
// others from the tables.
func TestCancelledStatementEnds(t *testing.T) { servertest.OnMySQLToo(t, testCancelledStatementEnds) }

func testCancelledStatementEnds(t *testing.T) {
	d := worldtest.Engines()[1].Fresh(t, "s1")
	worldtest.Exec(t, d, "CREATE TABLE many (id INT PRIMARY KEY)")
	for start := range 5 {
		var rows []string
		for i := range 1000 {
			rows = append(rows, fmt.Sprintf("(%d)", start*1000+i))
		}
		worldtest.Exec(t, d, "INSERT INTO many VALUES "+strings.Join(rows, ", "))
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

// A command opens many connections, from far away perhaps: each is ready after a dozen statements.
func TestConnectionAsksLittle(t *testing.T) { servertest.OnMySQLToo(t, testConnectionAsksLittle) }

func testConnectionAsksLittle(t *testing.T) {
	c := &world.Connection{Database: worldtest.Engines()[1].Fresh(t, "s1")}
	defer c.Close()
	err := c.Rows(t.Context(), "SHOW SESSION STATUS LIKE 'Questions'", false, nil, func(row []any) (bool, error) {
		asked, err := world.IntIn(row[1], "Questions")
		if asked > 12 {
			t.Errorf("%d statements before the first of its own, want 12 at most", asked)
		}
		return true, err
	})
	if err != nil {
		t.Error(err)
	}
}
