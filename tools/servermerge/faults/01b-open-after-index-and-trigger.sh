#!/usr/bin/env bash
# 1: open opens although verify found an index gone and a trigger that no world has.
# As 01a, with what hangs on the tables. Right: open compares it too, and refuses.
. "$(dirname "$0")/lib.sh"

for change in 'DROP INDEX gold' 'CREATE TRIGGER t AFTER UPDATE ON pl BEGIN DELETE FROM pl WHERE id = new.id; END'; do
	rm -f ./*.db ./plan.json*
	worlds 1 2
	made
	lite new.db "$change"
	run 1 servermerge verify plan.json
	run 0 servermerge open plan.json
	said DONE
	equal "gates of the new database" "$(gates new.db)" 0
	equal "indexes and triggers of pl" "$(lite new.db "SELECT group_concat(type) FROM sqlite_master WHERE tbl_name = 'pl' AND type <> 'table'")" \
		"$([ "${change%% *}" = DROP ] && echo '' || echo index,trigger)"
done
