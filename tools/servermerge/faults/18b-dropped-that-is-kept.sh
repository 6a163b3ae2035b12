#!/usr/bin/env bash
# 18: undo says "n was dropped" of an empty database that it keeps.
# n was there before apply; its tables are dropped, it stays. Right: say that. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb
for n in 1 2; do sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, gold INT) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}0, 3), (${n}1, 4)"; done
sql '' 'CREATE DATABASE new'
made
run 0 servermerge undo plan.json
said 'DONE  new was dropped'
equal "databases of that name, and tables" "$(sql '' "SELECT COUNT(*), (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'new') FROM information_schema.schemata WHERE schema_name = 'new'")" "1	0"
