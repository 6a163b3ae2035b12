CREATE TABLE mergesafe_schema (
		application VARCHAR(32) NOT NULL PRIMARY KEY,
		version     INT         NOT NULL
	);
INSERT INTO mergesafe_schema VALUES('mergesafe-registry',2);
INSERT INTO mergesafe_schema VALUES('mergesafe-numbers',1);
INSERT INTO mergesafe_schema VALUES('mergesafe-starter',2);
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
, window_ms INTEGER NOT NULL DEFAULT 0);
INSERT INTO gameid_servers VALUES(7,'','d94d61b74d347be0106cbd75ddc2cff9','own',3,60052073712,'',1795741663740,1795741663707,1795741663740,'58b11ea21eaff9c129585996ab77fa81',10000);
CREATE TABLE gameid_numbers (
  server_id   INTEGER NOT NULL,
  name        TEXT    NOT NULL CHECK (length(name) <= 64),
  next_number INTEGER NOT NULL,
  check_digit TEXT    NOT NULL CHECK (check_digit IN ('', 'damm')),
  updated_ms  INTEGER NOT NULL,
  PRIMARY KEY (server_id, name)
) WITHOUT ROWID;
INSERT INTO gameid_numbers VALUES(7,'key53:mail',60129542150,'',1795741663740);
INSERT INTO gameid_numbers VALUES(7,'key63:item',61572651155462,'',1795741663740);
INSERT INTO gameid_numbers VALUES(7,'player',9170005,'',1795741663740);
CREATE TABLE players (
  id         BLOB     NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  account    TEXT     NOT NULL CHECK (length(account) <= 64),
  name       TEXT     NOT NULL COLLATE NOCASE UNIQUE CHECK (length(name) BETWEEN 1 AND 32),
  level      INTEGER  NOT NULL CHECK (typeof(level) = 'integer' AND level BETWEEN 1 AND 2147483647),
  gold       INTEGER  NOT NULL CHECK (typeof(gold) = 'integer' AND gold >= 0),
  created_at DATETIME NOT NULL CHECK (typeof(created_at) = 'integer'),
  updated_at DATETIME NOT NULL CHECK (typeof(updated_at) = 'integer')
, number INTEGER NULL CHECK (number IS NULL OR typeof(number) = 'integer' AND number BETWEEN 1 AND 999999999999999)) WITHOUT ROWID;
CREATE TABLE items (
  id         BLOB     NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  owner_id   BLOB     NOT NULL REFERENCES players (id),
  template   INTEGER  NOT NULL CHECK (typeof(template) = 'integer' AND template BETWEEN 1 AND 2147483647),
  count      INTEGER  NOT NULL CHECK (typeof(count) = 'integer' AND count >= 0),
  created_at DATETIME NOT NULL CHECK (typeof(created_at) = 'integer')
) WITHOUT ROWID;
CREATE TABLE guilds (
  id         BLOB     NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  name       TEXT     NOT NULL COLLATE NOCASE UNIQUE CHECK (length(name) BETWEEN 1 AND 32),
  leader_id  BLOB     NOT NULL REFERENCES players (id),
  founded_at DATETIME NOT NULL CHECK (typeof(founded_at) = 'integer')
) WITHOUT ROWID;
CREATE TABLE guild_members (
  player_id BLOB     NOT NULL PRIMARY KEY REFERENCES players (id),
  guild_id  BLOB     NOT NULL REFERENCES guilds (id),
  "rank"    TEXT     NOT NULL CHECK ("rank" IN ('member', 'officer', 'leader')),
  joined_at DATETIME NOT NULL CHECK (typeof(joined_at) = 'integer')
) WITHOUT ROWID;
CREATE INDEX players_account ON players (account);
CREATE INDEX items_owner_id ON items (owner_id);
CREATE INDEX guilds_leader_id ON guilds (leader_id);
CREATE INDEX guild_members_guild_id ON guild_members (guild_id);
CREATE UNIQUE INDEX players_number ON players (number);
