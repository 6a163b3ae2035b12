#!/usr/bin/env bash
# 3: after two applies at once into one name each merge refuses the other's undo, even with -force.
# Plans a (s1+s2) and b (s1+s3), with registries, run at the same time: records of both are in new,
# and fences of both in the worlds. Right: of two applies one wins; undo or open leads out.
. "$(dirname "$0")/lib.sh"

worlds 1 2 3
run 0 servermerge plan -into new -o a.json s1 s2
run 0 servermerge plan -into new -o b.json s1 s3
for n in 1 2 3; do cp s$n.db s$n.kept; done
for round in {1..30}; do
	rm -f new.db* s?.db s?.db-*
	for n in 1 2 3; do cp s$n.kept s$n.db; done
	servermerge apply -patience 2s a.json >a.out 2>&1 &
	servermerge apply -patience 2s b.json >b.out 2>&1 &
	wait
	locked=
	for plan in b a b a; do
		servermerge undo -patience 2s -force $plan.json >$plan.undo 2>&1 && { locked= && break; } || locked+=$plan
	done
	[ "$locked" = baba ] && yes s1.db "SELECT count(*) FROM gameid_servers WHERE holder LIKE '%fence:%'" && break || :
done
[ "$locked" = baba ] || not_shown "in $round rounds"
cat ./*.out ./*.undo
yes new.db "SELECT count(*) FROM mergesafe_merges" || not_shown "no record in new"
echo "records in new: $(lite new.db 'SELECT group_concat(state) FROM mergesafe_merges'), fences in s1, s2, s3: $(gates s1.db), $(gates s2.db), $(gates s3.db), in round $round"
