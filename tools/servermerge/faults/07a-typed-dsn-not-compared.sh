#!/usr/bin/env bash
# 7: a DSN typed behind PLAN isn't compared with the plan's database.
# The plan names sqlite:new.db. Commands with another DSN make the merge there, twice, and say that
# "sqlite:new.db is open". No registry. Right: a typed DSN is compared with the plan's database.
. "$(dirname "$0")/lib.sh"

worlds -bare 1 2
run 0 servermerge plan -into sqlite:new.db -o plan.json s1 s2
for other in other third; do
	run 0 servermerge apply plan.json sqlite:$other.db s1 s2
	said 'DONE  merging s1 and s2 into the new database sqlite:new.db: sqlite:new.db is made'
	run 0 servermerge verify plan.json sqlite:$other.db s1 s2
	run 0 servermerge open plan.json sqlite:$other.db s1 s2
	said 'DONE  sqlite:new.db is open'
	equal "rows of $other.db" "$(lite $other.db 'SELECT count(*) FROM pl')" 40
done
[ ! -e new.db ] || not_shown "new.db is made"
