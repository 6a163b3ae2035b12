-- The fleet registry, for MySQL and MariaDB. See fleet.go.
--
-- mark_ms counts from 2025-01-01, like the IDs. The other times are Unix time
-- in milliseconds by this database's clock, and 0 is never.

CREATE TABLE IF NOT EXISTS fleet_registry (
  one        INT      NOT NULL,
  id         CHAR(32) NOT NULL,
  created_ms BIGINT   NOT NULL,
  PRIMARY KEY (one),
  CONSTRAINT fleet_registry_one CHECK (one = 1)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- One row for every server that was ever claimed. Rows are never
-- deleted.
CREATE TABLE IF NOT EXISTS fleet_servers (
  server_id      INT           NOT NULL,
  name           VARCHAR(64)   NOT NULL,
  state          VARCHAR(16)   NOT NULL,
  world          CHAR(32)      NULL,
  epoch          BIGINT        NOT NULL,
  world_epoch    BIGINT        NOT NULL DEFAULT 0,
  mark_ms        BIGINT        NOT NULL DEFAULT 0,
  holder         VARCHAR(4096) NOT NULL DEFAULT '',
  place          VARCHAR(512)  NOT NULL DEFAULT '',
  gone_into      VARCHAR(512)  NOT NULL DEFAULT '',
  lease_until_ms BIGINT        NOT NULL DEFAULT 0,
  claimed_ms     BIGINT        NOT NULL,
  bound_ms       BIGINT        NOT NULL DEFAULT 0,
  seen_ms        BIGINT        NOT NULL DEFAULT 0,
  PRIMARY KEY (server_id),
  UNIQUE KEY name (name),
  UNIQUE KEY world (world),
  CONSTRAINT fleet_servers_id    CHECK (server_id BETWEEN 1 AND 1048575),
  CONSTRAINT fleet_servers_state CHECK (state IN ('claimed', 'bound', 'retired'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Who changed what a server is bound to, and why. epoch is what the row of the
-- server has from that change on.
CREATE TABLE IF NOT EXISTS fleet_history (
  server_id INT           NOT NULL,
  epoch     BIGINT        NOT NULL,
  at_ms     BIGINT        NOT NULL,
  action    VARCHAR(16)   NOT NULL,
  world     CHAR(32)      NULL,
  who       VARCHAR(255)  NOT NULL,
  why       VARCHAR(1024) NOT NULL,
  PRIMARY KEY (server_id, epoch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The sequences of numbers that all worlds of a fleet share, for MySQL and
-- MariaDB. See package store/numbers. next_number is without check digit. No number from
-- it on has been taken. server_id is 0.

CREATE TABLE IF NOT EXISTS fleet_numbers (
  server_id   INT         NOT NULL,
  name        VARCHAR(64) NOT NULL,
  next_number BIGINT      NOT NULL,
  check_digit VARCHAR(8)  NOT NULL,
  updated_ms  BIGINT      NOT NULL,
  PRIMARY KEY (server_id, name),
  CONSTRAINT fleet_numbers_server CHECK (server_id = 0),
  CONSTRAINT fleet_numbers_check  CHECK (check_digit IN ('', 'damm'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Where the databases of worlds are, for MySQL and MariaDB. See places.go. place is
-- a DSN without user and password, labels an object of JSON.

CREATE TABLE IF NOT EXISTS fleet_places (
  world  VARCHAR(200)  NOT NULL,
  place  VARCHAR(1024) NOT NULL,
  labels VARCHAR(2048) NOT NULL,
  set_ms BIGINT        NOT NULL,
  who    VARCHAR(255)  NOT NULL,
  why    VARCHAR(1024) NOT NULL,
  PRIMARY KEY (world)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
