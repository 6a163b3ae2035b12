package databases

import (
	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/sqldb"
	"mergesafe/tools/internal/cli"
)

// Inputs are the files that a command reads and must not write: those of -config,
// -rules, -since and -worlds, as far as it has these flags, the files of rules that the
// configuration names, and the databases that are files.
func Inputs(cmd *cliv3.Command, dsns ...string) (all []cli.Input) {
	for _, flag := range []string{"config", "since", "worlds"} {
		all = append(all, cli.Input{What: "the file of -" + flag, Name: cmd.String(flag)})
	}
	for _, name := range cmd.StringSlice("rules") {
		all = append(all, cli.Input{What: "the file of -rules", Name: name})
	}
	for _, name := range NewConfig(cmd.String("config"), nil).named() {
		all = append(all, cli.Input{What: "a file of rules", Name: name})
	}
	for _, dsn := range dsns {
		if dialect, path, err := sqldb.SplitDSN(dsn); err == nil && dialect == sqldb.SQLite {
			all = append(all, cli.Input{What: "a database", Name: path})
		}
	}
	return all
}
