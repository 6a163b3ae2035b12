#!/usr/bin/env bash
# 13: key 0 in an AUTO_INCREMENT column gets another number, when LOAD DATA converts a column.
# (0,'Zero') becomes (2,'Zero') with a column in latin1, utf8mb3, ENUM, UUID or INET6: LOAD DATA (id, @v1) SET
# ignores NO_AUTO_VALUE_ON_ZERO. Right: AUTO_INCREMENT columns are set explicitly. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb
types=("VARCHAR(20) CHARACTER SET latin1|'Zero'" "VARCHAR(20) CHARACTER SET utf8mb3|'Zero'" "ENUM('Zero','One')|'Zero'" "INET6|'::1'" "UUID|'00000000-0000-4000-8000-000000000001'" "VARCHAR(20)|'Zero'")
for type in "${types[@]}"; do
	rm -f plan.json*
	sql '' 'DROP DATABASE IF EXISTS new; DROP DATABASE s1; DROP DATABASE s2; CREATE DATABASE s1; CREATE DATABASE s2'
	for n in 1 2; do
		sql s$n "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; CREATE TABLE pl (id INT AUTO_INCREMENT PRIMARY KEY, v ${type%%|*} NOT NULL) ENGINE=InnoDB"
	done
	sql s1 "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; INSERT INTO pl VALUES (0, ${type#*|})"
	sql s2 "INSERT INTO pl VALUES (50, ${type#*|})"
	run 0 servermerge plan -into new -o plan.json s1 s2
	code=0
	servermerge apply plan.json >out 2>&1 || code=$?
	ids=$(sql new 'SELECT GROUP_CONCAT(id ORDER BY id) FROM pl')
	echo "${type%%|*}: apply $code, keys $ids"
	case $type in
	'VARCHAR(20)|'*) equal "keys, no conversion" "$ids" 0,50 ;;
	*) [ "$ids" != 0,50 ] || not_shown "0 is kept: ${type%%|*}" ;;
	esac
done
