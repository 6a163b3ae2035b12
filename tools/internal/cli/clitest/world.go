package clitest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"

	"mergesafe/gameid"
	"mergesafe/store/storetest"
)

// Program makes a program for scripts of a function.
func Program(run func(args []string) error) func() {
	return func() {
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func makeWorld(args []string) error {
	server, _ := strconv.Atoi(args[1])
	count, _ := strconv.Atoi(args[2])
	return storetest.MakeWorld(context.Background(), args[0], gameid.ServerID(server), count, args[3])
}

func changeSQLite(args []string) error {
	db, err := sql.Open("sqlite", args[0])
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(strings.Join(args[1:], ";"))
	return err
}
