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
