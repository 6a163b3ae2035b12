#!/usr/bin/env bash
# 16: a name for new with %, ?, ", 65 characters or a trailing space is READY, and apply stops.
# With the first three it also leaves an empty database. Right: the plan refuses the name. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb
for n in 1 2; do sql s$n "CREATE TABLE pl (id INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}0)"; done
for name in 'ne%25w' 'ne%3Fw' 'ne%22w' "$(printf 'n%.0s' {1..65})" 'new%20'; do
	rm -f plan.json*
	config s1="$(dsn s1)" s2="$(dsn s2)" new="$(dsn "$name")"
	run 0 servermerge plan -into new -o plan.json s1 s2
	said READY
	run 2 servermerge apply plan.json
	tail -2 out
done
equal "databases that are left" "$(sql '' "SELECT GROUP_CONCAT(schema_name ORDER BY 1) FROM information_schema.schemata WHERE schema_name LIKE 'n%'")" 'ne"w,ne%w,ne?w'
equal "their tables" "$(sql '' "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema LIKE 'n%'")" 0
