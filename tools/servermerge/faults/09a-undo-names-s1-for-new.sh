#!/usr/bin/env bash
# 9: undo says 'database "s1": it has other tables than the merge made ... -force drops it' and means new.
# A column was added in s1; nothing was written to new. Right: undo compares new with what was written
# to it, and names new where it means new.
. "$(dirname "$0")/lib.sh"

worlds -bare 1 2
made
lite s1.db 'ALTER TABLE pl ADD COLUMN extra INTEGER' # past the fence
run 1 servermerge undo plan.json
cat out
said 'database "s1"'
said 'it has other tables than the merge made, which verify explains: what was written there would be lost; -force drops it'
equal "columns of new and s1" "$(lite new.db "SELECT count(*) FROM pragma_table_info('pl')") $(lite s1.db "SELECT count(*) FROM pragma_table_info('pl')")" "2 3"
