#!/usr/bin/env bash
# 17: [[merge.name]] on a VARBINARY, BINARY or TINYBLOB column: Error 1064, no plan.
# Without max its advice is "such as max = 32", for a varbinary(24). Right: the plan changes such names,
# or refuses them with the reason. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server mariadb
for type in 'VARBINARY(24)' 'BINARY(24)' TINYBLOB; do
	sql '' 'DROP DATABASE s1; DROP DATABASE s2; CREATE DATABASE s1; CREATE DATABASE s2'
	for n in 1 2; do
		sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, name $type NOT NULL, UNIQUE (name$([ $type != TINYBLOB ] || echo '(255)'))) ENGINE=InnoDB;
			INSERT INTO pl VALUES (${n}0, 'Aria'), (${n}1, 'p$n')"
	done
	for max in '' 'max = 24'; do
		config s1="$(dsn s1)" s2="$(dsn s2)" new="$(dsn new)"
		printf '[[merge.name]]\nat = "pl.name"\ntemplate = "{name}.{source}"\n%s\n' "$max" >>config.toml
		if [ -n "$max" ]; then
			run 2 servermerge plan -into new s1 s2
			said 'Error 1064 (42000)'
			said 'There is no plan.'
		elif [ $type = 'VARBINARY(24)' ]; then
			run 1 servermerge plan -into new s1 s2
			said '"varbinary(24)", does not say how many characters it holds: set max in its [[merge.name]], such as max = 32'
		fi
	done
done
