//go:build linux

package torture

import (
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
)

// crowd has processes take servers of a range, and kills them.
func crowd(t *testing.T, w *World, dsn string) {
	w.Crowd(store.ServerRange{First: 40, Last: 40 + gameid.ServerID(times(5, 100)) - 1}, times(2, 25), dsn)
}

// crowdedServer is a MariaDB that has a connection for every process, also of a crowd of hundreds.
func crowdedServer(t *testing.T) string {
	if !*long {
		return mariadbDSN(t)
	}
	dsn, err := servertest.Private(t, "--max-connections=3000", "--innodb-flush-log-at-trx-commit=1").Database(t.Context())
	must(t, err)
	return "mysql:" + dsn
}

func crowdedPostgres(t *testing.T) string {
	if !*long {
		return postgresDSN(t)
	}
	return servertest.PrivatePostgres(t, "max_connections=3000").DSN()
}
