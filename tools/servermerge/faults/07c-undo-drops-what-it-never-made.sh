#!/usr/bin/env bash
# 7: undo drops an empty database at the place of new, which this merge never made.
# It says "nothing is to be undone" and ends with 2. Right: undo drops by its record alone, and
# exit 2 changes nothing.
. "$(dirname "$0")/lib.sh"

worlds 1 2
run 0 servermerge plan -into new -o plan.json s1 s2
lite new.db 'PRAGMA user_version = 7' # somebody made it for something else
[ -s new.db ] || not_shown "no file"
run 2 servermerge undo plan.json
said 'nothing is to be undone'
[ ! -e new.db ] || not_shown "new.db is still there"
