#!/usr/bin/env bash
# Usage: run.sh BIN [NN...]
# Runs the scripts of this folder, or those whose names begin so (01, 17a), with the tools of the
# folder BIN, and prints a line for each: SHOWN, NOT SHOWN, or NEEDS and the server.
# LOG=FOLDER keeps what each printed. Exit code 0 if every one is SHOWN.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "$1" && pwd)
export BIN
shift
log=${LOG:-$(mktemp -d)} failed=0
for script in "$here"/[0-9][0-9]*.sh; do
	name=$(basename "$script" .sh)
	wanted=$(($# == 0))
	for prefix; do case $name in "$prefix"*) wanted=1 ;; esac done
	[ "$wanted" = 1 ] || continue
	what=$(sed -n '2s/^# //p' "$script") code=0
	bash "$script" >"$log/$name.log" 2>&1 || code=$?
	case $code in
	0) result=SHOWN ;;
	77) result="NEEDS $(sed -n 's/^needs \([a-z]*\):.*/\1/p' "$log/$name.log" | tail -1)" failed=1 ;;
	*) result="NOT SHOWN" failed=1 ;;
	esac
	printf '%-9s  %-34s %s\n' "$result" "$name" "${what#*: }"
done
[ -n "${LOG:-}" ] || rm -rf "$log"
exit $failed
