-- The registry of a game's database, for SQLite. See registry.go.
--
-- One row for every server whose IDs may be in this database.
-- reserved_ms counts from 2025-01-01, like the IDs. The other times are Unix
-- time in milliseconds by this database's clock. fleet is the identity of the
-- fleet registry that the world is bound in. window_ms is how far ahead of the
-- clock the processes of the server reserve times, 0 if none did.
CREATE TABLE IF NOT EXISTS gameid_servers (
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
  fleet          TEXT    NOT NULL DEFAULT '',
  window_ms      INTEGER NOT NULL DEFAULT 0
);
