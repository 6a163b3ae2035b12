-- Where the databases of worlds are, for PostgreSQL. See places.go. place is
-- a DSN without user and password, labels an object of JSON.

CREATE TABLE IF NOT EXISTS fleet_places (
  world  VARCHAR(200)  NOT NULL,
  place  VARCHAR(1024) NOT NULL,
  labels VARCHAR(2048) NOT NULL,
  set_ms BIGINT        NOT NULL,
  who    VARCHAR(255)  NOT NULL,
  why    VARCHAR(1024) NOT NULL,
  PRIMARY KEY (world)
);
