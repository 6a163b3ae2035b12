#!/usr/bin/env bash
# 17: LIST partitions with DEFAULT FAIL, and can't be allowed.
# target-partition says that rows of s2 would be refused, which the server takes. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb
for n in 1 2; do
	sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, gold INT) ENGINE=InnoDB
		PARTITION BY LIST (id) (PARTITION p1 VALUES IN (10, 11), PARTITION p2 VALUES IN (20), PARTITION d DEFAULT); INSERT INTO pl VALUES (${n}0, 3), (${n}1, 4), (${n}9, 9)"
done
run 1 servermerge plan -into new s1 s2
said 'target-partition: LIST(`id`): 2 rows would be refused by s1 for its LIST(`id`)'
run 1 servermerge plan -allow target-partition -into new s1 s2
said 'target-partition: LIST(`id`): 2 rows would be refused'
equal "rows of s2 that s1 took" "$(sql s1 'INSERT INTO pl SELECT * FROM s2.pl; SELECT ROW_COUNT()')" 3
