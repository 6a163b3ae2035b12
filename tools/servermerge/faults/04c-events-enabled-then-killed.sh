#!/usr/bin/env bash
# 4: open, killed behind enabling the events, makes each later proof fail.
# The event of new is enabled, the record still says proved; verify then says FAIL for ever.
# Right: events are enabled last, in state OPEN. On MariaDB.
. "$(dirname "$0")/lib.sh"

server mariadb
config s1="$(dsn s1)" s2="$(dsn s2)" new="$(dsn new)"
for n in 1 2; do
	sql '' "CREATE DATABASE s$n"
	sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, gold INT NOT NULL) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}01, 5), (${n}02, 6); $(registry $n -mysql)"
done
sql s1 'CREATE EVENT daily ON SCHEDULE EVERY 1 DAY DO UPDATE pl SET gold = gold + 1'
made
# holds the row of the record, behind which open waits with its events enabled
sql new 'BEGIN; SELECT * FROM mergesafe_merges FOR UPDATE; SELECT SLEEP(30)' >/dev/null &
pids+=($!)
sleep 1
start servermerge open plan.json
enabled() { [ "$(sql '' "SELECT status FROM information_schema.events WHERE event_schema = 'new'")" = ENABLED ]; }
until_true enabled
sleep 0.5
stop
sql '' "$(sql '' "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND db = 'new'")"
equal "state of the record" "$(sql new 'SELECT state FROM mergesafe_merges')" proved
run 1 servermerge verify plan.json
said FAIL
cat out
run 1 servermerge verify plan.json
