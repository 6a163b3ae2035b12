#!/usr/bin/env bash
# 4: open, killed behind its fleet step, locks the world out.
# The fleet registry has the new generation, the record doesn't say so; undo raises nothing, so the
# old world is refused as superseded, by undo itself; open is refused then. Right: the record says opening before the fleet is told,
# and from then on each undo raises.
. "$(dirname "$0")/lib.sh"

fleet_worlds 1 2
made
hold new.db # open reads it, tells the fleet, and waits at its first write
start servermerge open plan.json
until_true yes fleet.db "SELECT count(*) FROM fleet_history WHERE action = 'move'"
stop
let_go
run 4 servermerge status plan.json
run 2 servermerge undo plan.json
said 'generation 0 of the world, where the fleet registry has seen 1'
run 2 servermerge undo -force plan.json
run 1 servermerge open plan.json
equal "generation of s1, in the fleet and in its database" \
	"$(lite fleet.db 'SELECT world_epoch >> 40 FROM fleet_servers WHERE server_id = 1') $(lite s1.db 'SELECT epoch >> 40 FROM gameid_servers WHERE server_id = 1')" "1 0"
! play s1 1 || not_shown "the game server starts on s1"
! play new 1 || not_shown "the game server starts on new"
