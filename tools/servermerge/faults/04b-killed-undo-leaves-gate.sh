#!/usr/bin/env bash
# 4: a killed undo of an opened merge leaves the gate on a played database, and status says DONE.
# Right: status says the truth about the gate, and what leads out; undo or open does.
. "$(dirname "$0")/lib.sh"

fleet_worlds 1 2
made
run 0 servermerge open plan.json
play new 1
lite new.db 'UPDATE pl SET gold = 9999 WHERE id = 10005'
start servermerge undo -pause 2s plan.json # it closes the gate, then compares, batch by batch
until_true yes new.db "SELECT count(*) FROM gameid_servers WHERE holder LIKE '%fence:%'"
sleep 0.3
stop
equal "gates of new" "$(gates new.db)" 1
run 0 servermerge status plan.json
said DONE
cat out
! play new 1 || not_shown "the game server starts on new"
tail -1 game
