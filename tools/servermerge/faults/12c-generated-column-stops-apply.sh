#!/usr/bin/env bash
# 12: by INSERT, such a column is READY, and then apply stops.
# MySQL without local_infile. Right: the plan refuses, with the row and the ALTER.
. "$(dirname "$0")/lib.sh"

on_server mysql
for n in 1 2; do
	sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, bucket TINYINT UNSIGNED AS (id DIV 1000) STORED) ENGINE=InnoDB;
		INSERT INTO pl (id) VALUES (250000), (1)"
done
printf '[[merge.space]]\nkeys = ["pl.id"]\noffset = { s2 = 1_000_000 }\n' >>config.toml
run 0 servermerge plan -into new -rekey -o plan.json s1 s2
said READY
code=0
servermerge apply plan.json >out 2>&1 || code=$?
cat out
[ $code != 0 ] || not_shown "apply is done"
said 'Out of range value'
equal "state and rows of the second world" "$(sql new 'SELECT state, (SELECT COUNT(*) FROM pl WHERE id > 1000000) FROM mergesafe_merges')" "copying	0"
