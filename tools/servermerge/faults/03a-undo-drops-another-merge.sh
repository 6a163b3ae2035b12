#!/usr/bin/env bash
# 3: undo of one merge drops the opened, played database of another.
# Plans a (s1+s2) and b (s1+s3) name the same new database; apply b is killed when only its record is
# there; a is applied, opened and played; undo b, without -force, drops it. No registries. Right: one
# record in a database, made before all else; another merge's database is neither empty nor ours.
. "$(dirname "$0")/lib.sh"

worlds -bare 1 2 3
for n in 1 2 3; do # so that reading them takes a while
	for t in {1..150}; do echo "CREATE TABLE t$t (id INTEGER PRIMARY KEY, v TEXT);"; done | lite s$n.db
done
run 0 servermerge plan -into new -o a.json s1 s2
run 0 servermerge plan -into new -o b.json s1 s3
only_record() { yes new.db "SELECT (SELECT state FROM mergesafe_merges) = 'copying' AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'mergesafe%')"; }
for try in {1..200}; do
	rm -f new.db*
	start servermerge apply b.json
	until [ -s new.db-wal ] || ! kill -0 "$running" 2>/dev/null; do :; done
	sleep "0.00$((RANDOM % 9))"
	kill -9 "$running" 2>/dev/null || :
	wait "$running" 2>/dev/null || :
	! only_record || break
done
only_record || not_shown "apply b wasn't caught with only its record in $try tries"
run 0 servermerge apply a.json
run 0 servermerge verify a.json
run 0 servermerge open a.json
lite new.db 'UPDATE pl SET gold = 9999 WHERE id = 10005; INSERT INTO pl VALUES (20001, 5)'
run 0 servermerge undo b.json
[ ! -e new.db ] || not_shown "new is still there: $(lite new.db .tables)"
echo "after $try tries"
