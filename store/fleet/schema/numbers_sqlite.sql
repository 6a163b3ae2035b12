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
