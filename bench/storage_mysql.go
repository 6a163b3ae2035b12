package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/mariadbtest"
)

// mariadbStorage starts a server of its own, whose commits are on the disk
// before they return.
func mariadbStorage(ctx context.Context, o options) ([]section, error) {
	s := section{
		title: "Storage on MariaDB",
		intro: "Rows a second; the ratio is to the same over database/sql, written by hand, with the same driver and settings.",
	}
	if !o.wantsStorage(s.title) {
		return nil, nil
	}
	o.log("%s: starting the server", s.title)
	starting, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	server, err := mariadbtest.Start(starting, mariadbtest.Options{
		Args: []string{"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=256M"},
	})
	if errors.Is(err, mariadbtest.ErrNoProgram) {
		s.rows = []row{{what: "not measured", note: err.Error()}}
		return []section{s}, nil
	}
	if err != nil {
		return nil, err
	}
	defer server.Stop()

	cfg, err := mysql.ParseDSN(server.DSN())
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("mysql", server.DSN())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return nil, err
	}
	s.intro += " The server is " + version + ", which writes every commit to the disk."
	const name = "bench"
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	cfg.DBName = name
	s, err = storage(ctx, o, s, "mysql:"+cfg.FormatDSN())
	return []section{s}, err
}
