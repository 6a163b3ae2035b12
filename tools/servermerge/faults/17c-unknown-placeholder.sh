#!/usr/bin/env bash
# 17: an unknown placeholder in a template is taken as text.
# template = "{name}.{n}": the player is called "Aria.{n}", behind PASS. Right: refused.
. "$(dirname "$0")/lib.sh"

for n in 1 2; do lite s$n.db "CREATE TABLE pl (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE); INSERT INTO pl VALUES (${n}0, 'Aria'), (${n}1, 'p$n')"; done
config s1=sqlite:s1.db s2=sqlite:s2.db new=sqlite:new.db
printf '[[merge.name]]\nat = "pl.name"\ntemplate = "{name}.{n}"\nmax = 32\n' >>config.toml
made
said PASS
equal "name" "$(lite new.db 'SELECT name FROM pl WHERE id = 20')" 'Aria.{n}'
