-- The starter tables of a game, for PostgreSQL.
--
-- IDs are BYTEA of 10 bytes: SELECT encode(id, 'hex'), and WHERE id = '\x...' to look
-- one up. Names are unique whatever their case and accents: the collation is one of
-- ICU, which the server must have been built with. number is the short number of a player.

CREATE COLLATION IF NOT EXISTS mergesafe_names (provider = icu, locale = 'und-u-ks-level1', deterministic = false);

CREATE TABLE IF NOT EXISTS players (
  id         BYTEA          NOT NULL CHECK (octet_length(id) = 10),
  account    VARCHAR(64)    NOT NULL,
  name       VARCHAR(32)    COLLATE mergesafe_names NOT NULL,
  level      INTEGER        NOT NULL,
  gold       BIGINT         NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL,
  updated_at TIMESTAMPTZ(3) NOT NULL,
  number     BIGINT         NULL,
  PRIMARY KEY (id),
  CONSTRAINT players_name_key UNIQUE (name),
  CONSTRAINT players_number_key UNIQUE (number),
  CONSTRAINT players_name  CHECK (char_length(name) >= 1),
  CONSTRAINT players_level CHECK (level >= 1),
  CONSTRAINT players_gold  CHECK (gold >= 0),
  CONSTRAINT players_number CHECK (number BETWEEN 1 AND 999999999999999)
);

CREATE INDEX IF NOT EXISTS players_account ON players (account);

CREATE TABLE IF NOT EXISTS items (
  id         BYTEA          NOT NULL CHECK (octet_length(id) = 10),
  owner_id   BYTEA          NOT NULL CHECK (octet_length(owner_id) = 10),
  template   INTEGER        NOT NULL,
  count      BIGINT         NOT NULL,
  created_at TIMESTAMPTZ(3) NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT items_owner    FOREIGN KEY (owner_id) REFERENCES players (id),
  CONSTRAINT items_template CHECK (template >= 1),
  CONSTRAINT items_count    CHECK (count >= 0)
);

CREATE INDEX IF NOT EXISTS items_owner_id ON items (owner_id);

CREATE TABLE IF NOT EXISTS guilds (
  id         BYTEA          NOT NULL CHECK (octet_length(id) = 10),
  name       VARCHAR(32)    COLLATE mergesafe_names NOT NULL,
  leader_id  BYTEA          NOT NULL CHECK (octet_length(leader_id) = 10),
  founded_at TIMESTAMPTZ(3) NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT guilds_name_key UNIQUE (name),
  CONSTRAINT guilds_leader FOREIGN KEY (leader_id) REFERENCES players (id),
  CONSTRAINT guilds_name   CHECK (char_length(name) >= 1)
);

CREATE INDEX IF NOT EXISTS guilds_leader_id ON guilds (leader_id);

CREATE TABLE IF NOT EXISTS guild_members (
  player_id BYTEA          NOT NULL CHECK (octet_length(player_id) = 10),
  guild_id  BYTEA          NOT NULL CHECK (octet_length(guild_id) = 10),
  rank      VARCHAR(16)    NOT NULL,
  joined_at TIMESTAMPTZ(3) NOT NULL,
  PRIMARY KEY (player_id),
  CONSTRAINT guild_members_player FOREIGN KEY (player_id) REFERENCES players (id),
  CONSTRAINT guild_members_guild  FOREIGN KEY (guild_id) REFERENCES guilds (id),
  CONSTRAINT guild_members_rank   CHECK (rank IN ('member', 'officer', 'leader'))
);

CREATE INDEX IF NOT EXISTS guild_members_guild_id ON guild_members (guild_id);
