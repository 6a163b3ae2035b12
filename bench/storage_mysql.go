package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/mariadbtest"
)

// mariadbStorage measures on a server of its own.
func mariadbStorage(ctx context.Context, o options) ([]section, error) {
	s := section{
		title: "Storage on MariaDB",
		intro: "Rows a second; the ratio is to the same over database/sql, written by hand, with the same driver and settings.",
	}
	if !o.wantsStorage(s.title) {
		return nil, nil
	}
	server, err := startMariaDB(ctx, o, s.title)
	if errors.Is(err, mariadbtest.ErrNoProgram) {
		s.rows = []row{{what: "not measured", note: err.Error()}}
		return []section{s}, nil
	}
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	s.intro += " The server is " + server.version + ", which writes every commit to the disk."
	s, err = storage(ctx, o, s, server.dsn)
	return []section{s}, err
}

// mariadb is a server with an empty database.
type mariadb struct {
	*mariadbtest.Server
	version string
	dsn     string // as package store takes it
}

// startMariaDB starts a server whose commits are on the disk before they
// return. Further arguments win over those that it has by default.
func startMariaDB(ctx context.Context, o options, title string, args ...string) (m mariadb, err error) {
	o.log("%s: starting the server", title)
	starting, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	m.Server, err = mariadbtest.Start(starting, mariadbtest.Options{
		Args: append([]string{"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=256M"}, args...),
	})
	if err != nil {
		return m, err
	}
	defer func() {
		if err != nil {
			m.Stop()
		}
	}()
	db, err := sql.Open("mysql", m.DSN())
	if err != nil {
		return m, err
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&m.version); err != nil {
		return m, err
	}
	const name = "bench"
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return m, err
	}
	cfg, err := mysql.ParseDSN(m.DSN())
	if err != nil {
		return m, err
	}
	cfg.DBName = name
	m.dsn = "mysql:" + cfg.FormatDSN()
	return m, nil
}
