-- Version 2 of the starter tables, for SQLite: the short numbers of players.

ALTER TABLE players
  ADD COLUMN number INTEGER NULL CHECK (number IS NULL OR typeof(number) = 'integer' AND number BETWEEN 1 AND 999999999999999);

CREATE UNIQUE INDEX IF NOT EXISTS players_number ON players (number);
