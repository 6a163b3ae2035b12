-- The ranges of integers that worlds have for their keys, for PostgreSQL.
-- See ranges.go. Rows are never deleted: what was given is not given again. Each
-- row has the number after that of the row before, so that who adds one has seen
-- all others. A range with an empty space is for keys of every kind.

CREATE TABLE IF NOT EXISTS fleet_ranges (
  number       BIGINT        NOT NULL,
  world        VARCHAR(200)  NOT NULL,
  space        VARCHAR(200)  NOT NULL,
  first_key    BIGINT        NOT NULL,
  last_key     BIGINT        NOT NULL,
  merge_id     VARCHAR(32)   NOT NULL,
  given_ms     BIGINT        NOT NULL,
  who          VARCHAR(255)  NOT NULL,
  why          VARCHAR(1024) NOT NULL,
  released_ms  BIGINT        NOT NULL DEFAULT 0,
  released_by  VARCHAR(255)  NOT NULL DEFAULT '',
  released_why VARCHAR(1024) NOT NULL DEFAULT '',
  PRIMARY KEY (number),
  CONSTRAINT fleet_ranges_order CHECK (first_key <= last_key)
);
