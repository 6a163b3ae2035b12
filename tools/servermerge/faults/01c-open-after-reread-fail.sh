#!/usr/bin/env bash
# 1: open opens although verify -reread said FAIL, because a world had changed.
# Right: open reads each world once and refuses.
. "$(dirname "$0")/lib.sh"

worlds 1 2
made
lite s2.db 'UPDATE pl SET gold = 777 WHERE id = 10005'
run 1 servermerge verify -reread plan.json
said FAIL
run 0 servermerge open plan.json
said DONE
equal "gold in s2" "$(lite s2.db 'SELECT gold FROM pl WHERE id = 10005')" 777
equal "gold in the opened database" "$(lite new.db 'SELECT gold FROM pl WHERE id = 10005')" 100
equal "gates of the new database" "$(gates new.db)" 0
