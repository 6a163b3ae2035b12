// Gamesql compares the rules of games with the SQL in the games' sources, and prints the tables of docs/profiles.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mergesafe/internal/gamesql"
)

// game is a game with a profile, of one file or several.
type game struct{ name, title string }

var games = []game{
	{"tfs", "The Forgotten Server"}, {"tfs canary", "Canary"}, {"hercules", "Hercules"}, {"rathena", "rAthena"},
	{"cosmic", "Cosmic"}, {"azerothcore", "AzerothCore"}, {"azerothcore trinitycore", "TrinityCore"}, {"l2jmobius", "L2J Mobius"},
	{"landsandboat", "LandSandBoat"},
}

// files are the files of the profile.
func (g game) files(folder string) (all []string) {
	for _, name := range strings.Fields(g.name) {
		all = append(all, filepath.Join(folder, name+".toml"))
	}
	return all
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `usage: gamesql FOLDER

FOLDER has the source of each game in a folder with the name of its profile: FOLDER/hercules. Prints the tables of
docs/profiles.md, from the profiles of this folder. On stderr: relations that are open, and values that are bound to
columns that move and to others.
`

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("gamesql", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	if flags.Parse(args) != nil || flags.NArg() != 1 {
		return 2
	}
	all, err := judgeAll(flags.Arg(0), "profiles")
	if err != nil {
		fmt.Fprintln(stderr, "gamesql:", err)
		return 2
	}
	code := 0
	for _, r := range all {
		r.doubtful(stderr)
		if len(r.open) > 0 {
			code = 1
		}
	}
	page(stdout, all)
	return code
}

// judgeAll compares the profile of each game that a folder has with its source.
func judgeAll(folder, profiles string) (all []*report, err error) {
	for _, g := range games {
		p, err := load(g.files(profiles)...)
		if err != nil {
			return nil, err
		}
		source := os.DirFS(filepath.Join(folder, g.name[strings.LastIndexByte(g.name, ' ')+1:]))
		r := gamesql.New(p.schema)
		err = fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return r.Add(source, name)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, p.compare(g.title, r.Found()))
	}
	return all, nil
}
