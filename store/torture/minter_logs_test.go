//go:build linux

package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mergesafe/gameid"
)

const logSuffix = ".ids"

// logs are the IDs of a world: of each server, of each process in the order of
// their start, of each goroutine in the order in which it got them.
type logs struct {
	servers map[gameid.ServerID][]process
	torn    int
	all     map[gameid.ServerID][]gameid.ID // sorted by check
}

type process struct {
	number     int
	goroutines [][]gameid.ID
}

// readLogs reads SERVER-PROCESS-GOROUTINE.ids, as [World.Start] and newLog
// name them.
func readLogs(dir string) (logs, error) {
	l := logs{servers: make(map[gameid.ServerID][]process)}
	paths, err := filepath.Glob(filepath.Join(dir, "*"+logSuffix))
	if err != nil {
		return l, err
	}
	slices.Sort(paths)
	for _, path := range paths {
		var server gameid.ServerID
		var number, goroutine int
		if _, err := fmt.Sscanf(filepath.Base(path), "%d-%d-%d"+logSuffix, &server, &number, &goroutine); err != nil {
			return l, fmt.Errorf("%s: %w", path, err)
		}
		ids, torn, err := readLog(path)
		if err != nil {
			return l, err
		}
		if torn {
			l.torn++
		}
		all := l.servers[server]
		if len(all) == 0 || all[len(all)-1].number != number {
			all = append(all, process{number: number})
		}
		last := &all[len(all)-1]
		last.goroutines = append(last.goroutines, ids)
		l.servers[server] = all
	}
	return l, nil
}

// readLog reads one log. The kill of a process can end a write half-way: an ID
// of which not all is there has not left.
func readLog(path string) (ids []gameid.ID, torn bool, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, false, err
	}
	for at := 0; at+gameid.Size <= len(b); at += gameid.Size {
		id, err := gameid.FromBytes(b[at : at+gameid.Size])
		if err != nil {
			return nil, false, fmt.Errorf("%s, byte %d: %w", path, at, err)
		}
		ids = append(ids, id)
	}
	return ids, len(b)%gameid.Size != 0, nil
}

// check looks at every ID and reports what is wrong, a few of each kind.
func (l *logs) check(report func(format string, args ...any)) Tally {
	tally := Tally{Torn: l.torn}
	few := func(count *int, format string, args ...any) {
		if *count++; *count <= 5 {
			report(format, args...)
		}
	}
	foreign := 0
	l.all = make(map[gameid.ServerID][]gameid.ID)
	for server, processes := range l.servers {
		var all []gameid.ID
		var newest gameid.ID // of the earlier processes
		var whose int
		for _, p := range processes {
			before, from := newest, whose
			for goroutine, ids := range p.goroutines {
				var last gameid.ID
				for _, id := range ids {
					if id.Server() != server {
						few(&foreign, "process %d of server %d minted %s of server %d", p.number, server, id, id.Server())
					}
					if id.Compare(before) <= 0 {
						few(&tally.Disorder, "process %d of server %d minted %s after process %d had minted %s", p.number, server, id, from, before)
					} else if id.Compare(last) <= 0 {
						few(&tally.Disorder, "process %d of server %d minted %s after %s in goroutine %d", p.number, server, id, last, goroutine)
					}
					last = id
					if id.Compare(newest) > 0 {
						newest, whose = id, p.number
					}
				}
				all = append(all, ids...)
			}
		}
		slices.SortFunc(all, gameid.ID.Compare)
		for i := 1; i < len(all); i++ {
			if all[i] == all[i-1] {
				few(&tally.Duplicates, "%s was minted twice", all[i])
			}
		}
		l.all[server] = all
		tally.IDs += len(all)
	}
	return tally
}

// has reports whether an ID is in the logs, after check.
func (l *logs) has(id gameid.ID) bool {
	_, found := slices.BinarySearchFunc(l.all[id.Server()], id, gameid.ID.Compare)
	return found
}
