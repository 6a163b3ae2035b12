#!/usr/bin/env bash
# 8: a world that is changed past its fence makes undo ask for -force, although no one wrote to new.
# Its words are "40 rows where 40 were made ... would be lost". Right: undo compares new with what was
# written to it, never with the worlds.
. "$(dirname "$0")/lib.sh"

worlds -bare 1 2
run 0 servermerge plan -into new -o plan.json s1 s2
run 0 servermerge apply plan.json
before=$(sha256sum new.db)
lite s2.db 'UPDATE pl SET gold = gold + 1 WHERE id = 10005'
run 1 servermerge undo plan.json
cat out
said 'table "pl": it has 40 rows where 40 were made'
said '-force drops it'
equal "new" "$(sha256sum new.db)" "$before"
