#!/usr/bin/env bash
# 2: a person who writes to a fenced world past its fence isn't seen by verify or open.
# Right: open reads every world once, fenced or not. -reread goes.
. "$(dirname "$0")/lib.sh"

worlds 1 2
run 0 servermerge plan -into new -o plan.json s1 s2
run 0 servermerge apply plan.json
lite s1.db 'UPDATE pl SET gold = gold + 1000 WHERE id = 5'
lite s2.db 'UPDATE pl SET gold = gold + 1000 WHERE id = 10005'
run 0 servermerge verify plan.json
said PASS
run 0 servermerge open plan.json
said DONE
equal "gold in the worlds" "$(lite s1.db 'SELECT gold FROM pl WHERE id = 5') $(lite s2.db 'SELECT gold FROM pl WHERE id = 10005')" "1100 1100"
equal "gold in the opened database" "$(lite new.db 'SELECT group_concat(gold) FROM pl WHERE id IN (5, 10005)')" 100,100
