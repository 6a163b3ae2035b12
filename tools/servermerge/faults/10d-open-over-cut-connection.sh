#!/usr/bin/env bash
# 10: open over a cut connection ends with 2 (could not), not with 4 (the same command continues).
# The server is away when open begins; apply of the same plan ends with 4 then. Right: 4. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb
for n in 1 2; do
	sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, gold INT NOT NULL) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}01, 5), (${n}02, 6); $(registry $n -mysql)"
done
made
kill -9 "${pids[0]}" # the server
wait "${pids[0]}" || :
run 4 servermerge apply -patience 1s plan.json
said 'Nothing is lost. To resume: servermerge apply plan.json'
run 2 servermerge open -patience 1s plan.json
unsaid 'Nothing is lost'
cat out
