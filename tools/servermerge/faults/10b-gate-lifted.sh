#!/usr/bin/env bash
# 10: verify passes and open says DONE although the gate of new was lifted before.
# Right: the proof asks for the gate too.
. "$(dirname "$0")/lib.sh"

worlds 1 2
run 0 servermerge plan -into new -o plan.json s1 s2
run 0 servermerge apply plan.json
equal "gates" "$(gates new.db)" 1
lite new.db "UPDATE gameid_servers SET holder = '', lease_until_ms = 0 WHERE server_id = 1"
run 0 servermerge verify plan.json
said PASS
equal "gates after PASS" "$(gates new.db)" 0
run 0 servermerge open plan.json
said DONE
