package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
)

// server is a server with the empty database bench, and connections to none.
type server struct {
	*servertest.Server
	*sql.DB
	cfg     *mysql.Config
	version string
}

// startServer starts a server whose commits are on the disk before they
// return, and stops it when the section ends. Further arguments win over those
// that it has by default.
func startServer(ctx context.Context, m *measuring, name string, args ...string) server {
	m.log("starting the server")
	starting, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	started, err := servertest.Start(starting, servertest.Options{
		Name: name,
		Args: append([]string{"--innodb-buffer-pool-size=256M", "--loose-innodb-parallel-read-threads=4"}, args...),
		Dir:  os.TempDir(), // a disk: what a durable commit costs is measured
	})
	if errors.Is(err, servertest.ErrNoProgram) {
		err = notInstalled{err}
	}
	m.must(err)
	m.cleanups = append(m.cleanups, started.Stop)
	cfg, err := mysql.ParseDSN(started.DSN())
	m.must(err)
	db, err := sql.Open("mysql", started.DSN())
	m.must(err)
	m.cleanups = append(m.cleanups, db.Close)
	m.must(execute(ctx, db, "CREATE DATABASE bench"))
	var version string
	m.must(db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version))
	return server{started, db, cfg, version}
}

// dsn is the address of a database as package store takes it.
func (s server) dsn(name string) string {
	cfg := s.cfg.Clone()
	cfg.DBName = name
	return "mysql:" + cfg.FormatDSN()
}

// executer is a connection, or a pool of them.
type executer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// execute runs statements, one after the other.
func execute(ctx context.Context, on executer, statements ...string) error {
	for _, statement := range statements {
		if _, err := on.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
