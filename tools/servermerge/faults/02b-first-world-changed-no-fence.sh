#!/usr/bin/env bash
# 2: with plan -no-fence, neither verify nor open sees a value changed in an unfenced world.
# s1 and s2 have registries; s2 isn't fenced, a row of s2 changes after apply. Right: open reads every world.
. "$(dirname "$0")/lib.sh"

worlds 1 2
run 0 servermerge plan -no-fence -into new -o plan.json s1 s2
run 0 servermerge apply plan.json
run 0 servermerge verify plan.json
lite s2.db 'UPDATE pl SET gold = gold + 1000 WHERE id = 10005'
run 0 servermerge open plan.json
said DONE
equal "gold in s2" "$(lite s2.db 'SELECT gold FROM pl WHERE id = 10005')" 1100
equal "gold in the opened database" "$(lite new.db 'SELECT gold FROM pl WHERE id = 10005')" 100
equal "fences of s2" "$(gates s2.db)" 0
