#!/usr/bin/env bash
# 18: the plan is READY with less room on the disk than it says it needs.
# Right: it blocks the plan, or is said.
. "$(dirname "$0")/lib.sh"

small_disk 5m
worlds 1 2
for n in 1 2; do lite s$n.db "CREATE TABLE log (id INTEGER PRIMARY KEY, v TEXT NOT NULL); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1500) INSERT INTO log SELECT $n*1000000 + i, printf('%.1000c', 'x') FROM n"; done
run 0 servermerge plan -into new -o plan.json s1 s2
said READY
free=$(df --output=avail -k . | tail -1)
needs=$(grep -o 'It takes about [0-9.]* MiB' out | grep -o '[0-9.]*')
echo "free: $free KiB; the plan says that it takes $needs MiB, and up to twice that"
[ "$(echo "$needs * 1024 > $free" | awk '{print ($1 * $3 > $5)}')" = 1 ] || not_shown "there is room"
! grep -qi 'room\|too little\|not enough' out || { cat out; not_shown "it speaks of room"; }
run 4 servermerge apply -patience 2s plan.json
tail -2 out
