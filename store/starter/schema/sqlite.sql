-- The starter tables of a game, for SQLite.
--
-- IDs are BLOBs of 10 bytes: SELECT hex(id), and WHERE id = x'...' to look one
-- up. Times are UTC as integers, in microseconds of Unix time:
-- SELECT datetime(created_at / 1000000, 'unixepoch'). NOCASE knows the letters
-- A to Z only: "Ä" and "ä" are two names here, and one in MySQL.
-- number is the short number of a player.

CREATE TABLE IF NOT EXISTS players (
  id         BLOB     NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  account    TEXT     NOT NULL CHECK (length(account) <= 64),
  name       TEXT     NOT NULL COLLATE NOCASE UNIQUE CHECK (length(name) BETWEEN 1 AND 32),
  level      INTEGER  NOT NULL CHECK (typeof(level) = 'integer' AND level BETWEEN 1 AND 2147483647),
  gold       INTEGER  NOT NULL CHECK (typeof(gold) = 'integer' AND gold >= 0),
  created_at DATETIME NOT NULL CHECK (typeof(created_at) = 'integer'),
  updated_at DATETIME NOT NULL CHECK (typeof(updated_at) = 'integer'),
  number     INTEGER  NULL CHECK (number IS NULL OR typeof(number) = 'integer' AND number BETWEEN 1 AND 999999999999999)
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS players_account ON players (account);

CREATE UNIQUE INDEX IF NOT EXISTS players_number ON players (number);

CREATE TABLE IF NOT EXISTS items (
  id         BLOB     NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  owner_id   BLOB     NOT NULL REFERENCES players (id),
  template   INTEGER  NOT NULL CHECK (typeof(template) = 'integer' AND template BETWEEN 1 AND 2147483647),
  count      INTEGER  NOT NULL CHECK (typeof(count) = 'integer' AND count >= 0),
  created_at DATETIME NOT NULL CHECK (typeof(created_at) = 'integer')
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS items_owner_id ON items (owner_id);

CREATE TABLE IF NOT EXISTS guilds (
  id         BLOB     NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 10),
  name       TEXT     NOT NULL COLLATE NOCASE UNIQUE CHECK (length(name) BETWEEN 1 AND 32),
  leader_id  BLOB     NOT NULL REFERENCES players (id),
  founded_at DATETIME NOT NULL CHECK (typeof(founded_at) = 'integer')
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS guilds_leader_id ON guilds (leader_id);

CREATE TABLE IF NOT EXISTS guild_members (
  player_id BLOB     NOT NULL PRIMARY KEY REFERENCES players (id),
  guild_id  BLOB     NOT NULL REFERENCES guilds (id),
  "rank"    TEXT     NOT NULL CHECK ("rank" IN ('member', 'officer', 'leader')),
  joined_at DATETIME NOT NULL CHECK (typeof(joined_at) = 'integer')
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS guild_members_guild_id ON guild_members (guild_id);
