#!/usr/bin/env bash
# 16: a row of the first world that breaks its own CHECK is READY, and apply stops with a false reason.
# A row of s2 that does is refused by the plan. Right: the same for the first world. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb
for n in 1 2; do
	sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, t INT, CHECK (t > 0)) ENGINE=InnoDB;
		SET check_constraint_checks = 0; INSERT INTO pl (id, t) VALUES (${n}0, $n - 1), (${n}1, 5)"
done
run 0 servermerge plan -into new -o plan.json s1 s2
said READY
code=0
servermerge apply plan.json >out 2>&1 || code=$?
cat out
[ $code != 0 ] || not_shown "apply is done"
equal "state of the record" "$(sql new 'SELECT state FROM mergesafe_merges')" copying
said 'in the target already'
equal "rows of new" "$(sql new 'SELECT COUNT(*) FROM pl WHERE id < 20')" 0
