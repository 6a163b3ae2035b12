-- The next number of each sequence, for PostgreSQL. See row.go.
--
-- One row for every sequence of numbers that a server takes from its share.
-- next_number is without check digit. No number from it on has been taken.
CREATE TABLE IF NOT EXISTS gameid_numbers (
  server_id   INTEGER     NOT NULL,
  name        VARCHAR(64) NOT NULL,
  next_number BIGINT      NOT NULL,
  check_digit VARCHAR(8)  NOT NULL,
  updated_ms  BIGINT      NOT NULL,
  PRIMARY KEY (server_id, name),
  CONSTRAINT gameid_numbers_check CHECK (check_digit IN ('', 'damm'))
);
