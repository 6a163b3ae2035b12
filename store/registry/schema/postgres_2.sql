-- Version 2 of the registry, for PostgreSQL: how far ahead of the clock
-- the processes of a server reserve times, in milliseconds. 0 is a row that was
-- written before this was noted.

ALTER TABLE gameid_servers
  ADD COLUMN window_ms BIGINT NOT NULL DEFAULT 0;
