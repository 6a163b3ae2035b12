#!/usr/bin/env bash
# 10: verify passes and open says DONE although the view mergesafe_moved was dropped from new.
# Right: the proof asks for our views too.
. "$(dirname "$0")/lib.sh"

for n in 1 2; do
	{ registry $n; echo "CREATE TABLE pl (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL); INSERT INTO pl (name) VALUES ('a$n'), ('b$n');"; } | lite s$n.db
done
config s1=sqlite:s1.db s2=sqlite:s2.db new=sqlite:new.db
run 0 servermerge plan -rekey -into new -o plan.json s1 s2
run 0 servermerge apply plan.json
lite new.db 'DROP VIEW mergesafe_moved'
run 0 servermerge verify plan.json
said PASS
run 0 servermerge open plan.json
said DONE
equal "views" "$(lite new.db "SELECT count(*) FROM sqlite_master WHERE type = 'view'")" 0
