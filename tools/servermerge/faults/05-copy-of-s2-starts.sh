#!/usr/bin/env bash
# 5: a restored copy of s2 starts beside the opened merge although there is a fleet registry.
# Only the first world's generation is raised there. Right: at open the fleet learns of every world
# that came, and a copy is refused by name.
. "$(dirname "$0")/lib.sh"

fleet_worlds 1 2
cp s1.db copy1.db
cp s2.db copy2.db
made
run 0 servermerge open plan.json
config new=sqlite:new.db copy1=sqlite:copy1.db copy2=sqlite:copy2.db
play new 1 || not_shown "the game server doesn't start on new"
! play copy1 1 || not_shown "a copy of s1 starts too"
play copy2 2 || { cat game >&2; not_shown "the copy of s2 is refused"; }
lite copy2.db "INSERT INTO pl VALUES (30000, 1)"
equal "generations in the fleet" "$(lite fleet.db 'SELECT group_concat(world_epoch >> 40) FROM fleet_servers ORDER BY server_id')" 1,0
equal "rows of s2 in the opened database and in the copy that ran" "$(lite new.db 'SELECT count(*) FROM pl WHERE id > 10000') $(lite copy2.db 'SELECT count(*) FROM pl WHERE id BETWEEN 10001 AND 10020')" "20 20"
