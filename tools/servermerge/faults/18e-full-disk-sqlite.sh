#!/usr/bin/env bash
# 18: error 4874 of SQLite doesn't say that the disk is full.
# apply on a full disk: "disk I/O error (4874)". Right: "the disk is full", and where.
. "$(dirname "$0")/lib.sh"

small_disk 4m
worlds 1 2
made
head -c 1G /dev/zero >ballast 2>/dev/null || :
run 4 servermerge undo -patience 2s plan.json
said '(4874)'
! grep -qi 'disk.* full\|full.* disk\|no space' out || not_shown "it says that the disk is full"
tail -1 out
