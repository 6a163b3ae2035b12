#!/usr/bin/env bash
# 6: a byte-identical copy of a world is merged with it, and every character is there twice.
# No registry, -rekey: READY, PASS, DONE. Right: over half of the shared keys have equal rows, at least
# 50: world-copied, NOT VERIFIED.
. "$(dirname "$0")/lib.sh"

lite s1.db "CREATE TABLE pl (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500) INSERT INTO pl (name) SELECT 'p' || i FROM n"
cp s1.db s2.db
config s1=sqlite:s1.db s2=sqlite:s2.db new=sqlite:new.db
made -rekey
run 0 servermerge open plan.json
equal "characters and names in new" "$(lite new.db 'SELECT count(*), count(DISTINCT name) FROM pl')" "1000|500"
