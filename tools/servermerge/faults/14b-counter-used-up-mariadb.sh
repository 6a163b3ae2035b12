#!/usr/bin/env bash
# 14: a merge that uses up AUTO_INCREMENT is PASS, and the game's next INSERT fails. On MariaDB.
# See 14a.
. "$(dirname "$0")/lib.sh"

on_server "${1:-mariadb}"
for n in 1 2; do sql s$n 'CREATE TABLE pl (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL) ENGINE=InnoDB'; done
sql s1 "INSERT INTO pl VALUES (1, 'a'), (2, 'b')"
sql s2 "INSERT INTO pl VALUES (100, 'c'), (2147483647, 'd')"
made
said PASS
run 0 servermerge open plan.json
sql s1 "INSERT INTO pl (name) VALUES ('next')" || not_shown "s1 takes no next row either"
! sql new "INSERT INTO pl (name) VALUES ('next')" || not_shown "new takes a next row"
