CREATE TABLE mergesafe_schema (
		application VARCHAR(32) NOT NULL PRIMARY KEY,
		version     INT         NOT NULL
	);
CREATE TABLE players (
  id         BLOB     NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  account    TEXT     NOT NULL CHECK (length(account) <= 64),
  name       TEXT     NOT NULL COLLATE NOCASE UNIQUE CHECK (length(name) BETWEEN 1 AND 32),
  level      INTEGER  NOT NULL CHECK (typeof(level) = 'integer' AND level BETWEEN 1 AND 2147483647),
  gold       INTEGER  NOT NULL CHECK (typeof(gold) = 'integer' AND gold >= 0),
  created_at DATETIME NOT NULL CHECK (typeof(created_at) = 'integer'),
  updated_at DATETIME NOT NULL CHECK (typeof(updated_at) = 'integer')
, number INTEGER NULL CHECK (number IS NULL OR typeof(number) = 'integer' AND number BETWEEN 1 AND 999999999999999)) WITHOUT ROWID;
CREATE INDEX players_account ON players (account);
CREATE TABLE items (
  id         BLOB     NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  owner_id   BLOB     NOT NULL REFERENCES players (id),
  template   INTEGER  NOT NULL CHECK (typeof(template) = 'integer' AND template BETWEEN 1 AND 2147483647),
  count      INTEGER  NOT NULL CHECK (typeof(count) = 'integer' AND count >= 0),
  created_at DATETIME NOT NULL CHECK (typeof(created_at) = 'integer')
) WITHOUT ROWID;
CREATE INDEX items_owner_id ON items (owner_id);
CREATE TABLE guilds (
  id         BLOB     NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  name       TEXT     NOT NULL COLLATE NOCASE UNIQUE CHECK (length(name) BETWEEN 1 AND 32),
  leader_id  BLOB     NOT NULL REFERENCES players (id),
  founded_at DATETIME NOT NULL CHECK (typeof(founded_at) = 'integer')
) WITHOUT ROWID;
CREATE INDEX guilds_leader_id ON guilds (leader_id);
CREATE TABLE guild_members (
  player_id BLOB     NOT NULL PRIMARY KEY REFERENCES players (id),
  guild_id  BLOB     NOT NULL REFERENCES guilds (id),
  "rank"    TEXT     NOT NULL CHECK ("rank" IN ('member', 'officer', 'leader')),
  joined_at DATETIME NOT NULL CHECK (typeof(joined_at) = 'integer')
) WITHOUT ROWID;
CREATE INDEX guild_members_guild_id ON guild_members (guild_id);
CREATE TABLE gameid_servers (
  server_id      INTEGER NOT NULL PRIMARY KEY CHECK (server_id BETWEEN 1 AND 1048575),
  name           TEXT    NOT NULL DEFAULT '' CHECK (length(name) <= 64),
  world          TEXT    NOT NULL UNIQUE,
  role           TEXT    NOT NULL CHECK (role IN ('own', 'merged')),
  epoch          INTEGER NOT NULL,
  reserved_ms    INTEGER NOT NULL,
  holder         TEXT    NOT NULL DEFAULT '',
  lease_until_ms INTEGER NOT NULL,
  created_ms     INTEGER NOT NULL,
  updated_ms     INTEGER NOT NULL,
  fleet          TEXT    NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX players_number ON players (number);
CREATE TABLE gameid_numbers (
  server_id   INTEGER NOT NULL,
  name        TEXT    NOT NULL CHECK (length(name) <= 64),
  next_number INTEGER NOT NULL,
  check_digit TEXT    NOT NULL CHECK (check_digit IN ('', 'damm')),
  updated_ms  INTEGER NOT NULL,
  PRIMARY KEY (server_id, name)
) WITHOUT ROWID;
INSERT INTO mergesafe_schema VALUES ('mergesafe', 2);
INSERT INTO players VALUES (x'0030bfc83fb0000c0003', 'acc-2', 'Bea', 9, 5, 1748779200123000, 1748779200123000, 91120003);
INSERT INTO players VALUES (x'0030c33727b000070001', 'acc-1', 'Aria', 3, 1234567890123, 1748779200123000, 1748782800123000, 9170000);
INSERT INTO players VALUES (x'0030c33727b000070002', 'acc-1', 'Śrī 🍣 ''x''', 1, 0, 1748779200123000, 1748779200123000, NULL);
INSERT INTO items VALUES (x'0030c33727b000070001', x'0030c33727b000070001', 17, 2, 1748779200123000);
INSERT INTO items VALUES (x'0030c33727b0000c0002', x'0030bfc83fb0000c0003', 4, 0, 1748779200123000);
INSERT INTO guilds VALUES (x'0030c33727b000070001', 'Dawn', x'0030c33727b000070001', 1748779200123000);
INSERT INTO guild_members VALUES (x'0030bfc83fb0000c0003', x'0030c33727b000070001', 'member', 1748779200123000);
INSERT INTO guild_members VALUES (x'0030c33727b000070001', x'0030c33727b000070001', 'leader', 1748779200123000);
INSERT INTO gameid_servers VALUES (7, 'Älder 7', '15b18b7ec2c82b3e9ae65c4b5f82b98e', 'own', 1, 13089660123, '{"token":"ABCDEFGH","host":"host-a","pid":4711,"program":"game","since":"2025-06-01T12:00:00.123Z","process":"boot-1 4711 99"}', 1748779260123, 1748779260123, 1748779260123, '');
INSERT INTO gameid_servers VALUES (8, '', '25536b44e50f6310d825facccf733799', 'own', 1, 13089660123, '{"token":"IJKLMNOP","host":"host-a","pid":4711,"program":"game","since":"2025-06-01T12:00:00.123Z","process":"boot-1 4711 99"}', 1748779260123, 1748779260123, 1748779260123, '0123456789abcdef0123456789abcdef');
INSERT INTO gameid_servers VALUES (12, '', 'a1ae3fd092bc10f850b3d6afa74cb821', 'merged', 1, 13089660123, '', 1748779260123, 1748779260123, 1748779260123, '');
INSERT INTO gameid_numbers VALUES (7, 'player', 9170005, '', 1748779260123);
INSERT INTO gameid_numbers VALUES (7, 'quest', 9170005, 'damm', 1748779260123);
