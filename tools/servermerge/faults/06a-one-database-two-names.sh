#!/usr/bin/env bash
# 6: one database under two names is merged with itself, and every character is there twice.
# tcp(127.0.0.1:PORT)/w and tcp(localhost:PORT)/w, a socket, [::ffff:127.0.0.1], a list of hosts;
# no registry, -rekey: READY, PASS, DONE. Right: two live connections of one command tell that it is
# one database, and the plan is refused. On MariaDB.
. "$(dirname "$0")/lib.sh"

server mariadb
sql '' "CREATE DATABASE w; CREATE USER game@localhost IDENTIFIED BY 'pw'; GRANT ALL ON *.* TO game@localhost"
sql w 'CREATE TABLE pl (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30) NOT NULL) ENGINE=InnoDB;
	INSERT INTO pl (name) SELECT CONCAT("p", seq) FROM seq_1_to_500'
for other in "tcp(localhost:$port)" "unix($work/socket)" "tcp([::ffff:127.0.0.1]:$port)" "tcp(127.0.0.1:$port,localhost:$port)"; do
	sql '' 'DROP DATABASE IF EXISTS new'
	rm -f plan.json*
	config a="$(dsn w)" b="mysql:game:pw@$other/w" new="$(dsn new)"
	run 0 servermerge plan -rekey -into new -o plan.json a b
	said READY
	run 0 servermerge apply plan.json
	run 0 servermerge verify plan.json
	said PASS
	run 0 servermerge open plan.json
	said DONE
	equal "characters in w, in new, and names in new, by $other" "$(sql w 'SELECT COUNT(*) FROM pl') $(sql new 'SELECT COUNT(*), COUNT(DISTINCT name) FROM pl')" "500 1000	500"
	echo "twice by $other"
done
