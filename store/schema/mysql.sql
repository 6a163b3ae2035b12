-- The tables of a game database, for MySQL and MariaDB.
--
-- IDs are BINARY(10): SELECT HEX(id), and WHERE id = 0x... to look one up.
-- Times are UTC. Names are unique whatever their case and accents; the
-- collation is one that both MySQL and MariaDB have, and that tells emoji apart.

CREATE TABLE IF NOT EXISTS players (
  id         BINARY(10)   NOT NULL,
  account    VARCHAR(64)  NOT NULL COLLATE utf8mb4_bin,
  name       VARCHAR(32)  NOT NULL,
  level      INT          NOT NULL,
  gold       BIGINT       NOT NULL,
  created_at DATETIME(3)  NOT NULL,
  updated_at DATETIME(3)  NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY name (name),
  KEY account (account),
  CONSTRAINT players_name  CHECK (CHAR_LENGTH(name) >= 1),
  CONSTRAINT players_level CHECK (level >= 1),
  CONSTRAINT players_gold  CHECK (gold >= 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS items (
  id         BINARY(10)  NOT NULL,
  owner_id   BINARY(10)  NOT NULL,
  template   INT         NOT NULL,
  count      BIGINT      NOT NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (id),
  KEY owner_id (owner_id),
  CONSTRAINT items_owner    FOREIGN KEY (owner_id) REFERENCES players (id),
  CONSTRAINT items_template CHECK (template >= 1),
  CONSTRAINT items_count    CHECK (count >= 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS guilds (
  id         BINARY(10)  NOT NULL,
  name       VARCHAR(32) NOT NULL,
  leader_id  BINARY(10)  NOT NULL,
  founded_at DATETIME(3) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY name (name),
  KEY leader_id (leader_id),
  CONSTRAINT guilds_leader FOREIGN KEY (leader_id) REFERENCES players (id),
  CONSTRAINT guilds_name   CHECK (CHAR_LENGTH(name) >= 1)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS guild_members (
  player_id BINARY(10)  NOT NULL,
  guild_id  BINARY(10)  NOT NULL,
  `rank`    VARCHAR(16) NOT NULL COLLATE utf8mb4_bin,
  joined_at DATETIME(3) NOT NULL,
  PRIMARY KEY (player_id),
  KEY guild_id (guild_id),
  CONSTRAINT guild_members_player FOREIGN KEY (player_id) REFERENCES players (id),
  CONSTRAINT guild_members_guild  FOREIGN KEY (guild_id) REFERENCES guilds (id),
  CONSTRAINT guild_members_rank   CHECK (`rank` IN ('member', 'officer', 'leader'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- One row for every server whose IDs may be in this database. See registry.go.
-- reserved_ms counts from 2025-01-01, like the IDs; the other times are Unix
-- time in milliseconds by this database's clock. fleet is the identity of the
-- fleet registry that the world is bound in.
CREATE TABLE IF NOT EXISTS gameid_servers (
  server_id      INT           NOT NULL,
  name           VARCHAR(64)   NOT NULL DEFAULT '',
  world          CHAR(32)      NOT NULL,
  role           VARCHAR(16)   NOT NULL,
  epoch          BIGINT        NOT NULL,
  reserved_ms    BIGINT        NOT NULL,
  holder         VARCHAR(4096) NOT NULL DEFAULT '',
  lease_until_ms BIGINT        NOT NULL,
  created_ms     BIGINT        NOT NULL,
  updated_ms     BIGINT        NOT NULL,
  fleet          VARCHAR(32)   NOT NULL DEFAULT '',
  PRIMARY KEY (server_id),
  UNIQUE KEY world (world),
  CONSTRAINT gameid_servers_id   CHECK (server_id BETWEEN 1 AND 1048575),
  CONSTRAINT gameid_servers_role CHECK (role IN ('own', 'merged'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
