#!/usr/bin/env bash
# 17: a regex format with two groups follows the first only.
# 'from 1 to 2' becomes 'from 1001 to 2', behind PASS: 2 is a player of the first world. Right: refused
# unless group says which.
. "$(dirname "$0")/lib.sh"

for n in 1 2; do
	lite s$n.db "CREATE TABLE pl (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL); INSERT INTO pl (name) VALUES ('Aria'), ('Bob');
		CREATE TABLE mail (n INTEGER PRIMARY KEY, body TEXT NOT NULL); INSERT INTO mail VALUES (${n}00, 'from 1 to 2')"
done
config s1=sqlite:s1.db s2=sqlite:s2.db new=sqlite:new.db
cat >>config.toml <<'E'
[check]
plain = ["pl.name", "mail.n"]
[[check.reference]]
to = "pl.id"
at = ["mail.body"]
format = "regex 'from ([0-9]+) to ([0-9]+)'"
E
made -rekey
said PASS
equal "bodies" "$(lite new.db 'SELECT group_concat(body) FROM mail')" 'from 1 to 2,from 1001 to 2'
