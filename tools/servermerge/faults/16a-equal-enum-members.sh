#!/usr/bin/env bash
# 16: ENUM and SET members that are equal in the collation are READY, and apply stops.
# enum('a','A'), made with sql_mode=''. Right: new is made in a mode that takes what exists. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb
for type in ENUM SET; do
	rm -f plan.json*
	sql '' 'DROP DATABASE IF EXISTS new; DROP DATABASE s1; DROP DATABASE s2; CREATE DATABASE s1; CREATE DATABASE s2'
	for n in 1 2; do
		sql s$n "SET sql_mode = ''; CREATE TABLE pl (id INT PRIMARY KEY, v $type('a','A') NOT NULL) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}0, 1), (${n}1, 2)"
	done
	run 0 servermerge plan -into new -o plan.json s1 s2
	said READY
	run 2 servermerge apply plan.json
	said "Error 1291 (HY000): Column 'v' has duplicated value 'a' in $type"
	equal "state of the record" "$(sql new 'SELECT state FROM mergesafe_merges')" copying
done
