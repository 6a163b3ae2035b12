#!/usr/bin/env bash
# 1: open opens after a later verify said FAIL.
# verify notes PASS; a row of the new database changes; verify says FAIL and "it stays closed", and
# still status says PROVED and open opens. Right: no PASS outlives its moment, open proves by itself.
. "$(dirname "$0")/lib.sh"

worlds 1 2
made
lite new.db 'UPDATE pl SET gold = gold + 1 WHERE id = 10005'
run 1 servermerge verify plan.json
said FAIL
said 'it stays closed'
run 4 servermerge status plan.json
said PROVED
run 0 servermerge open plan.json
said DONE
equal "gold in the opened database" "$(lite new.db 'SELECT gold FROM pl WHERE id = 10005')" 101
equal "gates of the new database" "$(gates new.db)" 0
