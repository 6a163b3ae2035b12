-- The fleet registry, for PostgreSQL. See fleet.go.
--
-- mark_ms counts from 2025-01-01, like the IDs. The other times are Unix time
-- in milliseconds by this database's clock, and 0 is never.

CREATE TABLE IF NOT EXISTS fleet_registry (
  one        INTEGER     NOT NULL,
  id         VARCHAR(32) NOT NULL,
  created_ms BIGINT      NOT NULL,
  PRIMARY KEY (one),
  CONSTRAINT fleet_registry_one CHECK (one = 1)
);

-- One row for every server that was ever claimed. Rows are never
-- deleted.
CREATE TABLE IF NOT EXISTS fleet_servers (
  server_id      INTEGER       NOT NULL,
  name           VARCHAR(64)   NOT NULL,
  state          VARCHAR(16)   NOT NULL,
  world          VARCHAR(32)   NULL,
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
  CONSTRAINT fleet_servers_name_key UNIQUE (name),
  CONSTRAINT fleet_servers_world_key UNIQUE (world),
  CONSTRAINT fleet_servers_id    CHECK (server_id BETWEEN 1 AND 1048575),
  CONSTRAINT fleet_servers_state CHECK (state IN ('claimed', 'bound', 'retired'))
);

-- Who changed what a server is bound to, and why. epoch is what the row of the
-- server has from that change on.
CREATE TABLE IF NOT EXISTS fleet_history (
  server_id INTEGER       NOT NULL,
  epoch     BIGINT        NOT NULL,
  at_ms     BIGINT        NOT NULL,
  action    VARCHAR(16)   NOT NULL,
  world     VARCHAR(32)   NULL,
  who       VARCHAR(255)  NOT NULL,
  why       VARCHAR(1024) NOT NULL,
  PRIMARY KEY (server_id, epoch)
);

-- The sequences of numbers that all worlds of a fleet share, for PostgreSQL.
-- See package store/numbers. next_number is without check digit. No number from it on
-- has been taken. server_id is 0.

CREATE TABLE IF NOT EXISTS fleet_numbers (
  server_id   INTEGER     NOT NULL,
  name        VARCHAR(64) NOT NULL,
  next_number BIGINT      NOT NULL,
  check_digit VARCHAR(8)  NOT NULL,
  updated_ms  BIGINT      NOT NULL,
  PRIMARY KEY (server_id, name),
  CONSTRAINT fleet_numbers_server CHECK (server_id = 0),
  CONSTRAINT fleet_numbers_check  CHECK (check_digit IN ('', 'damm'))
);

-- Where the databases of worlds are, for PostgreSQL. See places.go. place is
-- a DSN without user and password, labels an object of JSON.

CREATE TABLE IF NOT EXISTS fleet_places (
  world  VARCHAR(200)  NOT NULL,
  place  VARCHAR(1024) NOT NULL,
  labels VARCHAR(2048) NOT NULL,
  set_ms BIGINT        NOT NULL,
  who    VARCHAR(255)  NOT NULL,
  why    VARCHAR(1024) NOT NULL,
  PRIMARY KEY (world)
);
