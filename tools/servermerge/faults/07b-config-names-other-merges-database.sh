#!/usr/bin/env bash
# 7: if config's new leads to a database with another merge's record, apply and open say DONE.
# apply a (s1+s2) was killed when only its record was in a.db. b (s3+s4) was planned into b.db; then
# new in config.toml becomes a.db: apply DONE, open DONE; undo a then drops it. Right: refused; a
# database with another merge's record is neither empty nor ours.
. "$(dirname "$0")/lib.sh"

worlds 1 2 3 4
slow_fence s1.db
config s{1,2,3,4}=sqlite:sN.db a=sqlite:a.db new=sqlite:b.db
for n in 1 2 3 4; do sed -i "/name = \"s$n\"/{n;s/sN/s$n/}" config.toml; done
run 0 servermerge plan -into a -o a.json s1 s2
run 0 servermerge plan -into new -o b.json s3 s4
start servermerge apply a.json
until_true yes a.db "SELECT count(*) FROM mergesafe_merges WHERE state = 'copying'"
stop
sed -i 's/b\.db/a.db/' config.toml
run 0 servermerge apply b.json
run 0 servermerge verify b.json
run 0 servermerge open b.json
said DONE
equal "states of the records in a.db" "$(lite a.db 'SELECT group_concat(state) FROM (SELECT state FROM mergesafe_merges ORDER BY state)')" copied,copying
equal "rows in a.db" "$(lite a.db 'SELECT count(*) FROM pl')" 40
run 0 servermerge undo a.json
[ ! -e a.db ] || not_shown "undo a keeps the opened database"
