#!/usr/bin/env bash
# 16: stored columns that only a lax sql_mode computed are READY, and apply stops.
# cast('abc' as signed) is 0, a tinyint of 300 is 127 there. Right: the plan refuses the row, with the
# ALTER. On MySQL, where rows come by INSERT.
. "$(dirname "$0")/lib.sh"

on_server mysql
for column in "t VARCHAR(10), v INT AS (CAST(t AS SIGNED)) STORED|'abc'" "t INT, v TINYINT AS (t) STORED|300"; do
	rm -f plan.json*
	sql '' 'DROP DATABASE IF EXISTS new; DROP DATABASE s1; DROP DATABASE s2; CREATE DATABASE s1; CREATE DATABASE s2'
	for n in 1 2; do
		sql s$n "SET sql_mode = ''; CREATE TABLE pl (id INT PRIMARY KEY, ${column%%|*}) ENGINE=InnoDB; INSERT INTO pl (id, t) VALUES (${n}0, ${column#*|}), (${n}1, 5)"
	done
	run 0 servermerge plan -into new -o plan.json s1 s2
	said READY
	run 2 servermerge apply plan.json
	said 'value refused by the database'
	equal "state and rows" "$(sql new 'SELECT state, (SELECT COUNT(*) FROM pl) FROM mergesafe_merges')" "copying	0"
done
