#!/usr/bin/env bash
# 10: verify passes and open says DONE although the merged server's row is gone from new's registry.
# Right: the proof asks for the registry's rows too.
. "$(dirname "$0")/lib.sh"

worlds 1 2
run 0 servermerge plan -into new -o plan.json s1 s2
run 0 servermerge apply plan.json
equal "row of server 2" "$(lite new.db 'SELECT role FROM gameid_servers WHERE server_id = 2')" merged
lite new.db 'DELETE FROM gameid_servers WHERE server_id = 2'
run 0 servermerge verify plan.json
said PASS
run 0 servermerge open plan.json
said DONE
equal "servers in the opened database" "$(lite new.db 'SELECT group_concat(server_id) FROM gameid_servers')" 1
