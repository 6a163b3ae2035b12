#!/usr/bin/env bash
# 2: a value changed in the first world of a game without a registry is lost under PASS and DONE.
# The same change in s2 is found. Right: open reads every world once, the first as well.
. "$(dirname "$0")/lib.sh"

worlds -bare 1 2
run 0 servermerge plan -into new -o plan.json s1 s2
run 0 servermerge apply plan.json
lite s1.db 'UPDATE pl SET gold = gold + 1000 WHERE id = 5'
run 0 servermerge verify plan.json
said PASS
run 0 servermerge open plan.json
said DONE
equal "gold in s1" "$(lite s1.db 'SELECT gold FROM pl WHERE id = 5')" 1100
equal "gold in the opened database" "$(lite new.db 'SELECT gold FROM pl WHERE id = 5')" 100
