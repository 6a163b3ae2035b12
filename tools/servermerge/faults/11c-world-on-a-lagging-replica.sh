#!/usr/bin/env bash
# 11: a world on a lagging replica is planned.
# The server of the worlds is a replica that doesn't reach its primary. Right: refused unless it is caught
# up and can't change. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb --server-id=2 --read-only=ON
sql '' "GRANT READ_ONLY ADMIN ON *.* TO game@'127.0.0.1'" || :
for n in 1 2; do sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, gold INT) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}0, 3), (${n}1, 4)"; done
sql '' "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1, MASTER_USER = 'x', MASTER_PASSWORD = 'x'; START SLAVE; SELECT SLEEP(1)" >/dev/null
mysql --no-defaults -h127.0.0.1 -P"$port" -ugame -ppw -e 'SHOW SLAVE STATUS\G' >status
grep -q 'Slave_IO_Running: Connecting' status || { cat status; not_shown "it is no replica"; }
grep -q 'Seconds_Behind_Master: NULL' status || not_shown "it knows how far it lags"
run 0 servermerge plan -into new -o plan.json s1 s2
said READY
unsaid replica
