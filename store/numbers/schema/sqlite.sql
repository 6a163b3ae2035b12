-- The next number of each sequence, for SQLite. See row.go.
--
-- One row for every sequence of numbers that a server takes from its share.
-- next_number is without check digit. No number from it on has been taken.
CREATE TABLE IF NOT EXISTS gameid_numbers (
  server_id   INTEGER NOT NULL,
  name        TEXT    NOT NULL CHECK (length(name) <= 64),
  next_number INTEGER NOT NULL,
  check_digit TEXT    NOT NULL CHECK (check_digit IN ('', 'damm')),
  updated_ms  INTEGER NOT NULL,
  PRIMARY KEY (server_id, name)
) WITHOUT ROWID;
