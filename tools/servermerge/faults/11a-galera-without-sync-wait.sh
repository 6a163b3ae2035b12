#!/usr/bin/env bash
# 11: sessions on Galera read without wsrep_sync_wait.
# A cluster of one node; its general log has each statement of plan, apply, verify and open, none sets it,
# and by default it is 0: with more nodes a read may miss what was committed on another. Right: set, read back.
. "$(dirname "$0")/lib.sh"

provider=$(compgen -G '/usr/lib*/galera*/libgalera_smm.so' | sed 1q)
[ -n "$provider" ] || { echo "needs galera: Debian's galera-4" >&2; exit 77; }
ports=$((15000 + RANDOM % 16000))
on_server mariadb --innodb-autoinc-lock-mode=2 --binlog-format=ROW --wsrep-on=ON --wsrep-provider="$provider" --wsrep-cluster-name=w --wsrep-cluster-address=gcomm:// \
	--wsrep-node-address=127.0.0.1:$ports --wsrep-provider-options="gmcast.listen_addr=tcp://127.0.0.1:$ports;ist.recv_addr=127.0.0.1:$((ports + 1));gcache.size=16M" \
	--general-log=ON --general-log-file="$work/general.log"
for n in 1 2; do sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, gold INT) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}0, 3), (${n}1, 4)"; done
equal "state of the node, and its default" "$(sql '' "SELECT VARIABLE_VALUE, @@wsrep_on, @@GLOBAL.wsrep_sync_wait FROM information_schema.global_status WHERE VARIABLE_NAME = 'wsrep_local_state_comment'")" "Synced	1	0"
: >general.log
made
run 0 servermerge open plan.json
grep -q 'FROM `pl`' general.log || not_shown "the log has no statement of the tools"
! grep -i 'sync_wait' general.log || not_shown "a session sets it"
