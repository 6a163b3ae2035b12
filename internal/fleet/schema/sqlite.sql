-- The fleet registry, for SQLite. See fleet.go.
--
-- mark_ms counts from 2025-01-01, like the IDs. The other times are Unix time
-- in milliseconds by this database's clock, and 0 is never.

CREATE TABLE IF NOT EXISTS fleet_registry (
  one        INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  id         TEXT    NOT NULL,
  created_ms INTEGER NOT NULL
);

-- One row for every server that was ever claimed. Rows are never
-- deleted.
CREATE TABLE IF NOT EXISTS fleet_servers (
  server_id      INTEGER NOT NULL PRIMARY KEY CHECK (server_id BETWEEN 1 AND 1048575),
  name           TEXT    NOT NULL UNIQUE CHECK (length(name) <= 64),
  state          TEXT    NOT NULL CHECK (state IN ('claimed', 'bound', 'retired')),
  world          TEXT    NULL UNIQUE,
  epoch          INTEGER NOT NULL,
  world_epoch    INTEGER NOT NULL DEFAULT 0,
  mark_ms        INTEGER NOT NULL DEFAULT 0,
  holder         TEXT    NOT NULL DEFAULT '',
  place          TEXT    NOT NULL DEFAULT '' CHECK (length(place) <= 512),
  gone_into      TEXT    NOT NULL DEFAULT '' CHECK (length(gone_into) <= 512),
  lease_until_ms INTEGER NOT NULL DEFAULT 0,
  claimed_ms     INTEGER NOT NULL,
  bound_ms       INTEGER NOT NULL DEFAULT 0,
  seen_ms        INTEGER NOT NULL DEFAULT 0
);

-- Who changed what a server is bound to, and why. epoch is what the row of the
-- server has from that change on.
CREATE TABLE IF NOT EXISTS fleet_history (
  server_id INTEGER NOT NULL,
  epoch     INTEGER NOT NULL,
  at_ms     INTEGER NOT NULL,
  action    TEXT    NOT NULL,
  world     TEXT    NULL,
  who       TEXT    NOT NULL CHECK (length(who) <= 255),
  why       TEXT    NOT NULL CHECK (length(why) <= 1024),
  PRIMARY KEY (server_id, epoch)
) WITHOUT ROWID;

-- The sequences of numbers that all worlds of a fleet share, for SQLite. See
-- package store/numbers. next_number is without check digit. No number from it
-- on has been taken. server_id is 0.

CREATE TABLE IF NOT EXISTS fleet_numbers (
  server_id   INTEGER NOT NULL CHECK (server_id = 0),
  name        TEXT    NOT NULL CHECK (length(name) <= 64),
  next_number INTEGER NOT NULL,
  check_digit TEXT    NOT NULL CHECK (check_digit IN ('', 'damm')),
  updated_ms  INTEGER NOT NULL,
  PRIMARY KEY (server_id, name)
) WITHOUT ROWID;

-- Where the databases of worlds are, for SQLite. See places.go. place is a DSN
-- without user and password, labels an object of JSON.

CREATE TABLE IF NOT EXISTS fleet_places (
  world  TEXT    NOT NULL PRIMARY KEY CHECK (length(world) <= 200),
  place  TEXT    NOT NULL CHECK (length(place) <= 1024),
  labels TEXT    NOT NULL CHECK (length(labels) <= 2048),
  set_ms INTEGER NOT NULL,
  who    TEXT    NOT NULL CHECK (length(who) <= 255),
  why    TEXT    NOT NULL CHECK (length(why) <= 1024)
);
