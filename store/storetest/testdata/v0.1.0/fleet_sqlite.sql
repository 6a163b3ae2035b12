CREATE TABLE mergesafe_schema (
		application VARCHAR(32) NOT NULL PRIMARY KEY,
		version     INT         NOT NULL
	);
INSERT INTO mergesafe_schema VALUES('mergesafe-fleet',1);
CREATE TABLE fleet_registry (
  one        INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  id         TEXT    NOT NULL,
  created_ms INTEGER NOT NULL
);
INSERT INTO fleet_registry VALUES(1,'58b11ea21eaff9c129585996ab77fa81',1795741663685);
CREATE TABLE fleet_servers (
  server_id      INTEGER NOT NULL PRIMARY KEY CHECK (server_id BETWEEN 1 AND 1048575),
  name           TEXT    NOT NULL UNIQUE CHECK (length(name) <= 64),
  state          TEXT    NOT NULL CHECK (state IN ('claimed', 'bound', 'retired')),
  world          TEXT    NULL UNIQUE,
  epoch          INTEGER NOT NULL,
  world_epoch    INTEGER NOT NULL DEFAULT 0,
  mark_ms        INTEGER NOT NULL DEFAULT 0,
  holder         TEXT    NOT NULL DEFAULT '',
  place          TEXT    NOT NULL DEFAULT '' CHECK (length(place) <= 512),
  lease_until_ms INTEGER NOT NULL DEFAULT 0,
  claimed_ms     INTEGER NOT NULL,
  bound_ms       INTEGER NOT NULL DEFAULT 0,
  seen_ms        INTEGER NOT NULL DEFAULT 0
);
INSERT INTO fleet_servers VALUES(7,'w7','bound','d94d61b74d347be0106cbd75ddc2cff9',3,3,60052073712,'{"token":"H4GTAFSQS33N5BIM47UH53TG6H","host":"db1","pid":13109,"program":"gameserver","since":"2026-11-27T01:07:43.71Z","process":"00000000-0000-4000-8000-000000000001/pid:[4026531836]/13109/5089284"}','sqlite:/srv/w7.db',1795741663744,1795741663704,1795741663728,1795741663744);
INSERT INTO fleet_servers VALUES(40,'w40-40','claimed',NULL,1,0,0,'','',0,1795741663705,0,0);
INSERT INTO fleet_servers VALUES(41,'w40-41','claimed',NULL,1,0,0,'','',0,1795741663705,0,0);
INSERT INTO fleet_servers VALUES(42,'w40-42','claimed',NULL,1,0,0,'','',0,1795741663705,0,0);
CREATE TABLE fleet_history (
  server_id INTEGER NOT NULL,
  epoch     INTEGER NOT NULL,
  at_ms     INTEGER NOT NULL,
  action    TEXT    NOT NULL,
  world     TEXT    NULL,
  who       TEXT    NOT NULL CHECK (length(who) <= 255),
  why       TEXT    NOT NULL CHECK (length(why) <= 1024),
  PRIMARY KEY (server_id, epoch)
) WITHOUT ROWID;
INSERT INTO fleet_history VALUES(7,1,1795741663704,'claim',NULL,'ops','first release');
INSERT INTO fleet_history VALUES(7,2,1795741663728,'bind','d94d61b74d347be0106cbd75ddc2cff9','gameserver (pid 13109) on db1 since 2026-11-27T01:07:43.710Z','the first start, with the database sqlite:/srv/w7.db');
INSERT INTO fleet_history VALUES(40,1,1795741663705,'claim',NULL,'ops','first release');
INSERT INTO fleet_history VALUES(41,1,1795741663705,'claim',NULL,'ops','first release');
INSERT INTO fleet_history VALUES(42,1,1795741663705,'claim',NULL,'ops','first release');
CREATE TABLE fleet_numbers (
  server_id   INTEGER NOT NULL CHECK (server_id = 0),
  name        TEXT    NOT NULL CHECK (length(name) <= 64),
  next_number INTEGER NOT NULL,
  check_digit TEXT    NOT NULL CHECK (check_digit IN ('', 'damm')),
  updated_ms  INTEGER NOT NULL,
  PRIMARY KEY (server_id, name)
) WITHOUT ROWID;
CREATE TABLE fleet_ranges (
  number       INTEGER NOT NULL PRIMARY KEY,
  world        TEXT    NOT NULL CHECK (length(world) <= 200),
  space        TEXT    NOT NULL CHECK (length(space) <= 200),
  first_key    INTEGER NOT NULL,
  last_key     INTEGER NOT NULL CHECK (first_key <= last_key),
  merge_id     TEXT    NOT NULL,
  given_ms     INTEGER NOT NULL,
  who          TEXT    NOT NULL CHECK (length(who) <= 255),
  why          TEXT    NOT NULL CHECK (length(why) <= 1024),
  released_ms  INTEGER NOT NULL DEFAULT 0,
  released_by  TEXT    NOT NULL DEFAULT '' CHECK (length(released_by) <= 255),
  released_why TEXT    NOT NULL DEFAULT '' CHECK (length(released_why) <= 1024)
);
INSERT INTO fleet_ranges VALUES(1,'w7','characters.id',1000000,1999999,'',1795741663746,'ops','first release',0,'','');
CREATE TABLE fleet_places (
  world  TEXT    NOT NULL PRIMARY KEY CHECK (length(world) <= 200),
  place  TEXT    NOT NULL CHECK (length(place) <= 1024),
  labels TEXT    NOT NULL CHECK (length(labels) <= 2048),
  set_ms INTEGER NOT NULL,
  who    TEXT    NOT NULL CHECK (length(who) <= 255),
  why    TEXT    NOT NULL CHECK (length(why) <= 1024)
);
INSERT INTO fleet_places VALUES('w7','sqlite:w7.db','{"tz":"UTC"}',1795741663747,'ops','first release');
