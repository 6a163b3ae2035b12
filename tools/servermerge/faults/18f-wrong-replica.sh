#!/usr/bin/env bash
# 18: a wrong -replica is found after the first write.
# Nothing answers at its address: new is made and the worlds are fenced before apply says so. Right:
# before the first write.
. "$(dirname "$0")/lib.sh"

worlds 1 2
run 0 servermerge plan -into new -o plan.json s1 s2
run 4 servermerge apply -patience 2s -replica 'mysql:game:pw@tcp(127.0.0.1:1)/w' plan.json
said 'nothing answers at 127.0.0.1:1'
[ -e new.db ] || not_shown "new isn't made"
equal "state and fences" "$(lite new.db 'SELECT state FROM mergesafe_merges') $(gates s1.db) $(gates s2.db)" "copying 1 1"
