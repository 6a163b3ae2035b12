package world

import (
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
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
		pool, _, mock := mocked(t)
		rows := sqlmock.NewRows([]string{"Seconds_Behind_Master", "SQL_Delay"})
		for _, r := range tt.rows {
			rows.AddRow(r[0], r[1])
		}
		mock.ExpectQuery("SHOW ALL REPLICAS STATUS").WillReturnRows(rows)
		if got, err := (&Source{pool: pool}).Lag(t.Context()); err != nil || got != tt.want {
			t.Errorf("%v: %s, %v, want %s", tt.rows, got, err, tt.want)
		}
	}
}

// A server is asked in the words that it knows.
func TestLagWords(t *testing.T) {
	unknown := &mysql.MySQLError{Number: 1064, Message: "You have an error in your SQL syntax"}
	for known, column := range []string{"Seconds_Behind_Master", "Seconds_Behind_Source", "Seconds_Behind_Master"} {
		pool, _, mock := mocked(t)
		for _, words := range replicaStatus[:known] {
			mock.ExpectQuery("^" + words + "$").WillReturnError(unknown)
		}
		mock.ExpectQuery("^" + replicaStatus[known] + "$").WillReturnRows(sqlmock.NewRows([]string{column}).AddRow("5"))
		if got, err := (&Source{pool: pool}).Lag(t.Context()); err != nil || got != 5*time.Second {
			t.Errorf("%s: %s, %v", replicaStatus[known], got, err)
		}
	}
}
