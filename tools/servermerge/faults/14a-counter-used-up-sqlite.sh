#!/usr/bin/env bash
# 14: a merge that uses up AUTO_INCREMENT is PASS, and the game's next INSERT fails. On SQLite.
# s1 has (1),(2), s2 (100) and the largest key. Right: FAIL if the next number doesn't fit; NOT VERIFIED if
# fewer remain than the worlds had given.
. "$(dirname "$0")/lib.sh"

for n in 1 2; do lite s$n.db 'CREATE TABLE pl (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL)'; done
lite s1.db "INSERT INTO pl VALUES (1, 'a'), (2, 'b')"
lite s2.db "INSERT INTO pl VALUES (100, 'c'), (9223372036854775807, 'd')"
config s1=sqlite:s1.db s2=sqlite:s2.db new=sqlite:new.db
made
said PASS
run 0 servermerge open plan.json
lite s1.db "INSERT INTO pl (name) VALUES ('next')" || not_shown "s1 takes no next row either"
! lite new.db "INSERT INTO pl (name) VALUES ('next')" 2>insert || not_shown "new takes a next row"
cat insert
