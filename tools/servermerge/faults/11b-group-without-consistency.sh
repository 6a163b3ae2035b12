#!/usr/bin/env bash
# 11: sessions in a group of MySQL read without a consistency level.
# A group of one member, as 11a: no session sets group_replication_consistency, whose default gives no
# read what another member has committed. Right: BEFORE_AND_AFTER, read back.
. "$(dirname "$0")/lib.sh"

member=127.0.0.1:$((15000 + RANDOM % 16000))
on_server mysql --log-bin=bin --server-id=1 --gtid-mode=ON --enforce-gtid-consistency=ON --performance-schema=ON --report-host=127.0.0.1 \
	--plugin-load-add=group_replication.so --loose-group-replication-group-name=00000000-0000-4000-8000-000000000001 --loose-group-replication-start-on-boot=OFF \
	--loose-group-replication-local-address=$member --loose-group-replication-group-seeds=$member --loose-group-replication-ip-allowlist=127.0.0.1 \
	--general-log=ON --general-log-file="$work/general.log"
sql '' 'SET GLOBAL group_replication_bootstrap_group = ON; START GROUP_REPLICATION'
for n in 1 2; do sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, gold INT) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}0, 3), (${n}1, 4)"; done
equal "state of the member, and the default" "$(sql '' 'SELECT member_state, @@GLOBAL.group_replication_consistency FROM performance_schema.replication_group_members')" "ONLINE	BEFORE_ON_PRIMARY_FAILOVER"
: >general.log
made
run 0 servermerge open plan.json
grep -q 'FROM `pl`' general.log || not_shown "the log has no statement of the tools"
! grep -i 'group_replication_consistency' general.log || not_shown "a session sets it"
