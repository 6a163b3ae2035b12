# shellcheck shell=bash
# Helpers of the scripts beside this file. A script sources it and is then in an
# empty folder of its own, with the tools of the folder BIN on its PATH. A command
# that fails ends the script with 1: the fault isn't shown.
set -euo pipefail
: "${BIN:?the folder with the built tools; run.sh sets it}"
PATH=$BIN:$PATH:/usr/sbin:/usr/local/sbin
work=$(mktemp -d "${TMPDIR:-/tmp}/faults-XXXXXX")
top=$work args=("$@") pids=() # of what this script started
cd "$work"
trap 'code=$?; set +e; for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; done; wait 2>/dev/null; cd /; umount "$top/disk" 2>/dev/null; rm -rf "$top"; exit $code' EXIT

not_shown() { echo "NOT SHOWN: $*" >&2; exit 1; }

# equal WHAT GOT WANT
equal() { [ "$2" = "$3" ] || not_shown "$1: got '$2', want '$3'"; }

# run CODE COMMAND... keeps the output in the file "out"; another exit code ends the script.
run() {
	local want=$1 got=0
	shift
	"$@" >out 2>&1 || got=$?
	[ "$got" = "$want" ] || { cat out >&2; not_shown "exit code $got of '$*', want $want"; }
}

# said TEXT: the last run printed it. unsaid TEXT: it did not.
said() { grep -qF -e "$1" out || { cat out >&2; not_shown "it did not say '$1'"; }; }
unsaid() { ! grep -qF -e "$1" out || { cat out >&2; not_shown "it said '$1'"; }; }

# config NAME=DSN... writes config.toml.
config() {
	local entry
	for entry; do printf '[[source]]\nname = "%s"\ndsn = "%s"\n' "${entry%%=*}" "${entry#*=}"; done >config.toml
}

# lite FILE SQL on a database of SQLite; sql DATABASE SQL on the server of server().
lite() { sqlite3 -batch "$@"; }
sql() { mysql --no-defaults -h127.0.0.1 -P"$port" -ugame -ppw -N --default-character-set=utf8mb4 --local-infile=1 "$1" -e "$2" 2>err || { cat err >&2; false; }; }
dsn() { echo "mysql:game:pw@tcp(127.0.0.1:$port)/$1"; }

# registry SERVER prints the SQL of a registry as a game server leaves it that was stopped.
registry() {
	gameid servers schema "${2:--sqlite}"
	echo "INSERT INTO gameid_servers (server_id, name, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms, fleet, window_ms)
		VALUES ($1, 's$1', '$(printf '%032x' "$1")', 'own', 3, 20000000000, '', 0, 1760000000000, 1760000000000, '', 64);"
}

# server mariadb|mysql [OPTION...] starts a private server on loopback, in this folder, and
# sets port. Without its program the script ends with 77.
server() {
	local kind=$1 data=$work/data program root loader tries=0
	shift
	program=() port=$((15000 + RANDOM % 16000))
	local me=()
	[ "$(id -u)" != 0 ] || me=(--user=root)
	if [ "$kind" = mariadb ]; then
		command -v mariadbd >/dev/null || { echo "needs mariadb: .ci/server mariadb" >&2; exit 77; }
		program=(mariadbd --no-defaults "${me[@]}")
		mariadb-install-db --no-defaults --datadir="$data" --skip-test-db --auth-root-authentication-method=normal --innodb-log-file-size=8M "${me[@]}" >init.log 2>&1
	else
		root=${TEST_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/mergesafe-servers}/mysql
		[ -d "$root" ] || { echo "needs mysql: .ci/server mysql" >&2; exit 77; }
		loader=$(compgen -G "$root/usr/lib/*-linux-gnu*/ld-linux*.so.*" | sed 1q)
		program=("$loader" --library-path "${loader%/*}" "$root/usr/sbin/mysqld" --no-defaults "${me[@]}" --basedir="$root/usr" --lc-messages-dir="$root/usr/share/mysql"
			--character-sets-dir="$root/usr/share/mysql/charsets" --plugin-dir="$root/usr/lib/mysql/plugin" --loose-mysqlx=OFF)
		"${program[@]}" --initialize-insecure --datadir="$data" --innodb-redo-log-capacity=8M >init.log 2>&1
	fi
	printf "CREATE USER game@'127.0.0.1' IDENTIFIED BY 'pw';\nGRANT ALL ON *.* TO game@'127.0.0.1' WITH GRANT OPTION;\n" >init.sql
	"${program[@]}" --datadir="$data" --tmpdir="$work" --socket="$work/socket" --pid-file="$work/pid" --init-file="$work/init.sql" --bind-address=127.0.0.1 --port=$port --skip-name-resolve \
		--skip-log-bin --character-set-server=utf8mb4 --innodb-buffer-pool-size=64M --performance-schema=OFF --loose-secure-file-priv= "$@" >server.log 2>&1 &
	pids+=($!)
	until sql '' 'SELECT 1' >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || { tail server.log >&2; not_shown "$kind did not start"; }
		sleep 0.2
	done
}

# worlds N... makes sN.db of SQLite: 20 rows in pl(id, gold), from 1 in s1, 10001 in s2, and a
# registry, or none after "worlds -bare". It writes config.toml with them and new.
worlds() {
	local n bare='' all=()
	[ "$1" != -bare ] || { bare=1; shift; }
	for n; do
		[ -n "$bare" ] || registry "$n" | lite "s$n.db"
		lite "s$n.db" "CREATE TABLE pl (id INTEGER PRIMARY KEY, gold INTEGER NOT NULL); CREATE INDEX gold ON pl (gold);
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20) INSERT INTO pl SELECT ($n-1)*10000+i, 100 FROM n"
		all+=("s$n=sqlite:s$n.db")
	done
	config "${all[@]}" new=sqlite:new.db
}

# made [FLAG...]: plans s1 and s2 into new, applies and verifies.
made() {
	run 0 servermerge plan -into new -o plan.json "$@" s1 s2
	run 0 servermerge apply plan.json
	run 0 servermerge verify plan.json
}

# gates FILE, the number of servers that are fenced in a world of SQLite.
gates() { lite "$1" "SELECT count(*) FROM gameid_servers WHERE holder LIKE '%fence:%'"; }

# hold FILE takes the write lock of a database of SQLite, which stops a tool at its next write there,
# until let_go. One at a time.
hold() {
	mkfifo held
	sqlite3 -batch "$1" <held >holding 2>&1 &
	holder=$!
	pids+=("$holder")
	exec 9>held
	echo "PRAGMA busy_timeout = 20000; BEGIN IMMEDIATE; SELECT 'locked';" >&9
	until_true grep -q locked holding
}
let_go() { exec 9>&-; wait "$holder" || :; rm -f held; }

# start COMMAND... in the background, with its output in "bg"; stop kills it with SIGKILL.
start() { "$BIN/$1" "${@:2}" >bg 2>&1 & running=$!; pids+=("$running"); }
stop() { kill -9 "$running" 2>/dev/null || not_shown "it ended by itself: $(tail -3 bg)"; wait "$running" 2>/dev/null || :; }

# until_true COMMAND... waits up to 60 s.
until_true() {
	local end=$((SECONDS + 60))
	until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || not_shown "it never came to: $*"; sleep 0.02; done
}

# yes FILE SQL: the query gives a number other than 0.
yes() { local n; n=$(lite "$@" 2>/dev/null) && [ "${n:-0}" != 0 ]; }

# slow_fence FILE: each fence that is set in that world takes seconds, in which a tool can be killed.
slow_fence() {
	lite "$1" "CREATE TRIGGER slow AFTER UPDATE ON gameid_servers WHEN NEW.holder LIKE '%fence:%' AND OLD.holder NOT LIKE '%fence:%' BEGIN
		UPDATE gameid_servers SET name = name WHERE 0 = (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 15000000) SELECT max(i) FROM n); END"
}

# play NAME SERVER starts the example's game server on the database NAME of config.toml, with the fleet
# registry fleet.db if there is one, and stops it: 0 if it started. Its log is in "game".
play() {
	local dsn port=$((15000 + RANDOM % 16000)) game code=1
	dsn=$(sed -n "/name = \"$1\"/{n;s/dsn = //p}" config.toml)
	printf '[server]\nnumber = %s\nname = "s%s"\nlisten = "127.0.0.1:%s"\n[database]\ndsn = %s\n' "$2" "$2" "$port" "$dsn" >game.toml
	[ ! -e fleet.db ] || printf '[registry]\ndsn = "sqlite:fleet.db"\n' >>game.toml
	PUBLIC_ID_KEY=00112233445566778899aabbccddeeff "$BIN/gameserver" -config game.toml >game 2>&1 &
	game=$!
	while kill -0 $game 2>/dev/null; do
		if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then code=0; kill $game; break; fi
		sleep 0.05
	done
	wait $game 2>/dev/null || :
	return $code
}

# fleet_worlds N... makes worlds whose registry the example's game server made, bound in fleet.db.
fleet_worlds() {
	local n
	: >fleet.db
	gameid servers init -fleet sqlite:fleet.db >/dev/null
	worlds -bare "$@"
	for n; do
		gameid servers claim -fleet sqlite:fleet.db -name "s$n" -server "$n" >/dev/null
		play "s$n" "$n" || { cat game >&2; not_shown "the game server of s$n did not start"; }
	done
	echo '[registry]' >>config.toml
	echo 'dsn = "sqlite:fleet.db"' >>config.toml
}

# on_server KIND [OPTION...]: server, and config.toml with s1, s2 and new, of which s1 and s2 are there.
on_server() {
	server "$@"
	sql '' 'CREATE DATABASE s1; CREATE DATABASE s2'
	config s1="$(dsn s1)" s2="$(dsn s2)" new="$(dsn new)"
}

# small_disk SIZE goes into a small file system of its own; the script is run once more, in a mount
# namespace, so that nothing is left of it. Only root may.
small_disk() {
	[ "$(id -u)" = 0 ] || { echo "needs root: to mount a small file system" >&2; exit 77; }
	if [ -z "${INSIDE:-}" ]; then
		local code=0
		INSIDE=1 unshare -m bash "$0" "${args[@]}" || code=$?
		exit $code
	fi
	mkdir disk
	mount -t tmpfs -o size="$1" tmpfs disk
	cd disk
	work=$top/disk
}
