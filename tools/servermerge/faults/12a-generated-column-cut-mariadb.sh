#!/usr/bin/env bash
# 12: a STORED generated column that is too narrow for a new key or name is cut, and verify says PASS.
# bucket tinyint unsigned as (id div 1000) stored: 250000 becomes 1250000, bucket 255. tag varchar(6) as
# (name) stored: 'Annabe.s2' has 'Annabe'. Right: the plan has the server compute it in strict mode, and
# refuses. On MariaDB.
. "$(dirname "$0")/lib.sh"

on_server "${1:-mariadb}" ${2:+"$2"}
for n in 1 2; do
	sql s$n "CREATE TABLE pl (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, gold INT NOT NULL,
		bucket TINYINT UNSIGNED AS (id DIV 1000) STORED, tag VARCHAR(6) AS (name) STORED) ENGINE=InnoDB;
		INSERT INTO pl (id, name, gold) VALUES (250000, 'Annabe', $n), (1, 'p$n', 5)"
done
cat >>config.toml <<'E'
[check]
plain = ["pl.gold", "pl.tag"]
[[merge.name]]
at = "pl.name"
template = "{name}.{source}"
[[merge.space]]
keys = ["pl.id"]
offset = { s2 = 1_000_000 }
E
made -rekey
said PASS
run 0 servermerge open plan.json
row=$(sql new 'SELECT id, name, bucket, tag, id DIV 1000 FROM pl WHERE id > 1200000')
equal "id, name, bucket, tag and what bucket should be" "$row" "1250000	Annabe.s2	255	Annabe	1250"
