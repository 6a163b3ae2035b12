#!/usr/bin/env bash
# 8: after the undo of an opened merge status says NOT BEGUN, and apply copies rows before it says CHANGED.
# The undo raised the counter of s1, so that the plan doesn't hold any more; the fences are set again and
# most rows are copied first. Right: PLAN AGAIN at once.
. "$(dirname "$0")/lib.sh"

for n in 1 2; do
	{
		registry $n
		echo "CREATE TABLE pl (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 5000) INSERT INTO pl (name) SELECT 'x' || i FROM n;
			CREATE TABLE seq (name TEXT PRIMARY KEY, next INTEGER NOT NULL); INSERT INTO seq VALUES ('pl', 5001);"
	} | lite s$n.db
done
config s1=sqlite:s1.db s2=sqlite:s2.db new=sqlite:new.db
cat >>config.toml <<'E'
[check]
plain = ["pl.name"]
[[merge.counter]]
at = "seq.next"
when = { column = "name", is = ["pl"] }
to = "pl.id"
[[merge.table]]
tables = ["seq"]
policy = "skip"
E
made -rekey
run 0 servermerge open plan.json
lite new.db "INSERT INTO pl (name) VALUES ('new'); UPDATE seq SET next = (SELECT max(id) + 1 FROM pl)"
run 0 servermerge undo -force plan.json
equal "fences" "$(gates s1.db) $(gates s2.db)" "0 0"
run 0 servermerge status plan.json
said 'NOT BEGUN'
run 1 servermerge apply plan.json
said 'CHANGED  database "s1", table "seq"'
equal "rows that were copied, and fences" "$(lite new.db 'SELECT count(*) FROM pl') $(gates s1.db) $(gates s2.db)" "10000 1 1"
