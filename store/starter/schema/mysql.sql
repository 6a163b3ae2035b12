-- The starter tables of a game, for MySQL and MariaDB.
--
-- IDs are BINARY(10): SELECT HEX(id), and WHERE id = 0x... to look one up.
-- Times are UTC. Names are unique whatever their case and accents: the
-- collation is one that both MySQL and MariaDB have, and that tells emoji apart.
-- number is the short number of a player.

CREATE TABLE IF NOT EXISTS players (
  id         BINARY(10)   NOT NULL,
  account    VARCHAR(64)  NOT NULL COLLATE utf8mb4_bin,
  name       VARCHAR(32)  NOT NULL,
  level      INT          NOT NULL,
  gold       BIGINT       NOT NULL,
  created_at DATETIME(3)  NOT NULL,
  updated_at DATETIME(3)  NOT NULL,
  number     BIGINT       NULL,
  PRIMARY KEY (id),
  UNIQUE KEY name (name),
  UNIQUE KEY number (number),
  KEY account (account),
  CONSTRAINT players_name  CHECK (CHAR_LENGTH(name) >= 1),
  CONSTRAINT players_level CHECK (level >= 1),
  CONSTRAINT players_gold  CHECK (gold >= 0),
  CONSTRAINT players_number CHECK (number BETWEEN 1 AND 999999999999999)
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
