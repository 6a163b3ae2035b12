#!/usr/bin/env bash
# 18: the refusal of -into on another kind of server names the wrong side.
# 'database "s1": the server: it is mariadb 10.12 ...' means the server of new. Right: it names new.
# On MariaDB; the other server is the same behind a proxy that tells another version of equal length.
. "$(dirname "$0")/lib.sh"

on_server mariadb
for n in 1 2; do sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, gold INT) ENGINE=InnoDB; INSERT INTO pl VALUES (${n}0, 3), (${n}1, 4)"; done
cat >proxy.py <<'E'
import socket, sys, threading
port = int(sys.argv[1])
listener = socket.create_server(("127.0.0.1", 0))
open("proxied", "w").write(str(listener.getsockname()[1]))
def copy(a, b, change):
    while data := a.recv(1 << 16):
        b.sendall(data.replace(b"10.11.", b"10.12.") if change else data)
    b.close()
while True:
    client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", port))
    threading.Thread(target=copy, args=(client, server, False), daemon=True).start()
    threading.Thread(target=copy, args=(server, client, True), daemon=True).start()
E
python3 proxy.py "$port" 2>proxy.err &
pids+=($!)
until_true test -s proxied
config s1="$(dsn s1)" s2="$(dsn s2)" new="mysql:game:pw@tcp(127.0.0.1:$(cat proxied))/new"
equal "version of the worlds' server" "$(sql '' "SELECT VERSION() LIKE '10.11.%'")" 1
run 1 servermerge plan -into new s1 s2
grep 'the server' out | sed 1q
said 'database "s1": the server: it is mariadb 10.12'
