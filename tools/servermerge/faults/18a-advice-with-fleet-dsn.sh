#!/usr/bin/env bash
# 18: after a changed world the advised command has -into "$FLEET_DSN", and 'NEW WORLD...' as one word.
# A DSN with a secret was given for new; there is no fleet registry. Right: "$NEW_DSN" or the like, and
# the worlds. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb
for n in 1 2; do sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, gold INT) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}0, 3), (${n}1, 4)"; done
run 0 servermerge plan -into "$(dsn new)" -o plan.json "$(dsn s1)" "$(dsn s2)"
sql s2 'DELETE FROM pl WHERE id = 20'
run 1 servermerge apply plan.json "$(dsn new)" "$(dsn s1)" "$(dsn s2)"
said "servermerge plan -into \"\$FLEET_DSN\" -o plan-2.json 'NEW WORLD...'"
tail -2 out
