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
