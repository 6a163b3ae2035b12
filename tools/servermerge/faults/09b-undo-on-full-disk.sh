#!/usr/bin/env bash
# 9: a made merge in SQLite can't be undone on a full disk.
# Right: undo of what isn't opened needs no room. Needs root, for a small tmpfs of its own.
. "$(dirname "$0")/lib.sh"

small_disk 4m
worlds 1 2
made
cat /dev/zero >ballast 2>/dev/null || :
run 4 servermerge undo -patience 3s plan.json
cat out
run 4 servermerge undo -force -patience 3s plan.json
rm ballast
equal "rows of new, fences" "$(lite new.db 'SELECT count(*) FROM pl') $(gates s1.db) $(gates s2.db)" "40 1 1"
