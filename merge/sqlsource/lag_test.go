package sqlsource

import (
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
)

// The slowest channel counts, without the delay that it is told to keep.
func TestLagWithDelay(t *testing.T) {
	for _, tt := range []struct {
		rows [][2]any
		want time.Duration
	}{
		{[][2]any{{"3603", "3600"}, {"1", "0"}}, 3 * time.Second},
		{[][2]any{{"10", "3600"}}, 0},
		{[][2]any{{"7", nil}}, 7 * time.Second},
	} {
		db, mock, err := sqlmock.New()
		if err != nil {
			t.Fatal(err)
		}
		rows := sqlmock.NewRows([]string{"Seconds_Behind_Master", "SQL_Delay"})
		for _, r := range tt.rows {
			rows.AddRow(r[0], r[1])
		}
		mock.ExpectQuery("SHOW REPLICA STATUS").WillReturnRows(rows)
		if got, err := (&Source{pool: db}).Lag(t.Context()); err != nil || got != tt.want {
			t.Errorf("%v: %s, %v, want %s", tt.rows, got, err, tt.want)
		}
		db.Close()
	}
}
