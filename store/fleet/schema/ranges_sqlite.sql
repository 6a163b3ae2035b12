-- The ranges of integers that worlds have for their keys, for SQLite. See
-- ranges.go. Rows are never deleted: what was given is not given again. Each row
-- has the number after that of the row before, so that who adds one has seen all
-- others. A range with an empty space is for keys of every kind.

CREATE TABLE IF NOT EXISTS fleet_ranges (
  number       INTEGER NOT NULL PRIMARY KEY,
  world        TEXT    NOT NULL CHECK (length(world) <= 200),
  space        TEXT    NOT NULL CHECK (length(space) <= 200),
  first_key    INTEGER NOT NULL,
  last_key     INTEGER NOT NULL CHECK (first_key <= last_key),
  merge_id     TEXT    NOT NULL,
  given_ms     INTEGER NOT NULL,
  who          TEXT    NOT NULL CHECK (length(who) <= 255),
  why          TEXT    NOT NULL CHECK (length(why) <= 1024),
  released_ms  INTEGER NOT NULL DEFAULT 0,
  released_by  TEXT    NOT NULL DEFAULT '' CHECK (length(released_by) <= 255),
  released_why TEXT    NOT NULL DEFAULT '' CHECK (length(released_why) <= 1024)
);
