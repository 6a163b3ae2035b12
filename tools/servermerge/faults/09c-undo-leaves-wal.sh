#!/usr/bin/env bash
# 9: undo puts s1 in WAL mode though it has nothing to write there, and says that its counters go on.
# Nothing was written to the opened database, no table counts. Right: what undo need not write it doesn't open
# for writing.
. "$(dirname "$0")/lib.sh"

worlds -bare 1 2
made
run 0 servermerge open plan.json
before="$(lite s1.db 'PRAGMA journal_mode') $(sha256sum s1.db)"
run 0 servermerge undo plan.json
cat out
said 'but counters of s1, which go on'
equal "journal mode of s1 before and after" "${before%% *} $(lite s1.db 'PRAGMA journal_mode')" "delete wal"
