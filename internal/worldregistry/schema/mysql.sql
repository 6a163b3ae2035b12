-- The registry of a game's database, for MySQL and MariaDB. See registry.go.
--
-- One row for every server whose IDs may be in this database.
-- reserved_ms counts from 2025-01-01, like the IDs. The other times are Unix
-- time in milliseconds by this database's clock. fleet is the identity of the
-- fleet registry that the world is bound in. window_ms is how far ahead of the
-- clock the processes of the server reserve times, 0 if none did.
CREATE TABLE IF NOT EXISTS gameid_servers (
  server_id      INT           NOT NULL,
  name           VARCHAR(64)   NOT NULL DEFAULT '',
  world          CHAR(32)      NOT NULL,
  role           VARCHAR(16)   NOT NULL,
  epoch          BIGINT        NOT NULL,
  reserved_ms    BIGINT        NOT NULL,
  holder         VARCHAR(4096) NOT NULL DEFAULT '',
  lease_until_ms BIGINT        NOT NULL,
  created_ms     BIGINT        NOT NULL,
  updated_ms     BIGINT        NOT NULL,
  fleet          VARCHAR(32)   NOT NULL DEFAULT '',
  window_ms      BIGINT        NOT NULL DEFAULT 0,
  PRIMARY KEY (server_id),
  UNIQUE KEY world (world),
  CONSTRAINT gameid_servers_id   CHECK (server_id BETWEEN 1 AND 1048575),
  CONSTRAINT gameid_servers_role CHECK (role IN ('own', 'merged'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
