-- The fleet registry, for SQLite. See fleet.go.
--
-- mark_ms counts from 2025-01-01, like the IDs. The other times are Unix time
-- in milliseconds by this database's clock, and 0 is never.

CREATE TABLE IF NOT EXISTS fleet_registry (
  one        INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  id         TEXT    NOT NULL,
  created_ms INTEGER NOT NULL
);

-- One row for every server number that was ever claimed. Rows are never
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
  lease_until_ms INTEGER NOT NULL DEFAULT 0,
  claimed_ms     INTEGER NOT NULL,
  bound_ms       INTEGER NOT NULL DEFAULT 0,
  seen_ms        INTEGER NOT NULL DEFAULT 0
);

-- Who changed what a number is bound to, and why. epoch is what the row of the
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
