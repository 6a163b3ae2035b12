#!/usr/bin/env bash
# 18: error 1114 doesn't say that the disk is full. On MariaDB.
# apply stops with "The table is full". Right: "the disk is full", and where.
. "$(dirname "$0")/lib.sh"

small_disk "${2:-260m}"
on_server "${1:-mariadb}"
for n in 1 2; do
	sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, v VARCHAR(1000) NOT NULL) ENGINE=InnoDB;
		INSERT INTO pl WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i+1 FROM n WHERE i < 999) SELECT ${n}000000 + 1000 * (a.i % 10) + b.i, REPEAT('x', 1000) FROM n AS a JOIN n AS b WHERE a.i < 9"
done
run 0 servermerge plan -into new -o plan.json s1 s2
head -c 1G /dev/zero >ballast 2>/dev/null || :
truncate -s -6M ballast
code=0
servermerge apply -patience 3s plan.json >out 2>&1 || code=$?
tail -2 out
[ $code != 0 ] || not_shown "apply is done"
said 'Error 1114'
! grep -qi 'disk.* full\|full.* disk\|no space' out || not_shown "it says that the disk is full"
