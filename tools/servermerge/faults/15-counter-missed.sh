#!/usr/bin/env bash
# 15: a counter kept in a row is missed, and the game gives out existing keys behind PASS.
# counters('item', next_id): at max+1 the proposal lists it as plain, with a comment; at max+2, +6, +101
# (newest rows deleted) and +1700 (raised by an undo) nothing is said. Right: it is open (DESIGN 7).
. "$(dirname "$0")/lib.sh"

for above in 1 2 6 101 1700; do
	rm -f s?.db rules.toml plan.json* new.db*
	for n in 1 2; do
		lite s$n.db "CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, grade REAL NOT NULL);
			CREATE TABLE counters (name TEXT PRIMARY KEY, next_id INTEGER NOT NULL);
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 300*$n) INSERT INTO item (grade) SELECT 0.5 FROM n;
			INSERT INTO counters VALUES ('item', 300*$n + $above)"
	done
	config s1=sqlite:s1.db s2=sqlite:s2.db new=sqlite:new.db
	run 1 mergecheck -rekey -propose -o rules.toml s1 s2
	grep -qF '"counters.name", "counters.next_id",' rules.toml || not_shown "next_id isn't proposed as plain"
	case $above in
	1) grep -qF '# Perhaps a counter kept in a row: counters.next_id' rules.toml || not_shown "no comment" ;;
	*) ! grep -qi 'counter kept' rules.toml out || not_shown "it is called a counter, at +$above" ;;
	esac
	# the keys collide in counters; the first world's row stays
	printf '[[merge.table]]\ntables = ["counters"]\npolicy = "skip"\n[[merge.space]]\nkeys = ["item.id"]\noffset = { s2 = %s }\n' $((300 + above - 1)) >>rules.toml
	made -rules rules.toml
	said PASS
	unsaid next_id
	run 0 servermerge open plan.json
	next=$(lite new.db "SELECT next_id FROM counters WHERE name = 'item'")
	equal "rows with the next key that the game gives out, $next" "$(lite new.db "SELECT count(*) FROM item WHERE id = $next")" 1
	! lite new.db "INSERT INTO item VALUES ($next, 1)" 2>/dev/null || not_shown "the game's next INSERT works"
done
