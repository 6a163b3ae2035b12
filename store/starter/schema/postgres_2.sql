-- Version 2 of the starter tables, for PostgreSQL: the short numbers
-- of players.

ALTER TABLE players
  ADD COLUMN number BIGINT NULL,
  ADD CONSTRAINT players_number_key UNIQUE (number),
  ADD CONSTRAINT players_number CHECK (number BETWEEN 1 AND 999999999999999);
