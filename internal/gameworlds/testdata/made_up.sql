-- A made-up game of ships and sailors: all that a list of references can say occurs in it.
CREATE TABLE ports (
  port smallint unsigned NOT NULL, # where a ship may land; in a port''s name
  port_name varchar(40) NOT NULL DEFAULT 'Bay; of "Rest"',
  depth decimal(6,2) NOT NULL,
  PRIMARY KEY (port)
) ENGINE=InnoDB;

CREATE TABLE sailors (
  id int unsigned NOT NULL AUTO_INCREMENT,
  account int unsigned NOT NULL,
  name varchar(16) NOT NULL,
  level tinyint unsigned NOT NULL DEFAULT 1,
  coins bigint NOT NULL DEFAULT 0,
  home smallint unsigned NOT NULL,
  ship int unsigned NOT NULL DEFAULT 0,
  convoy int NOT NULL DEFAULT -1,
  mentor int unsigned DEFAULT NULL,
  mood enum('calm','cross') NOT NULL DEFAULT 'calm',
  born datetime NOT NULL,
  sketch blob NOT NULL,
  rich tinyint GENERATED ALWAYS AS (coins > 1000) VIRTUAL,
  PRIMARY KEY (id),
  UNIQUE KEY name (name)
) ENGINE=InnoDB;

CREATE TABLE ships (
  ship_id int unsigned NOT NULL,
  captain int unsigned NOT NULL,
  hull int unsigned NOT NULL,
  damage mediumint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (ship_id)
) ENGINE=InnoDB;

CREATE TABLE crates (
  crate int unsigned NOT NULL,
  ship int unsigned NOT NULL,
  owner int unsigned NOT NULL DEFAULT 0,
  goods int unsigned NOT NULL,
  amount smallint unsigned NOT NULL DEFAULT 1,
  stamp bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (crate)
) ENGINE=InnoDB;

CREATE TABLE crews (
  crew int unsigned NOT NULL,
  founder int unsigned NOT NULL,
  crew_name varchar(24) NOT NULL,
  PRIMARY KEY (crew),
  UNIQUE KEY founder (founder)
) ENGINE=InnoDB;

CREATE TABLE crew_members (
  crew int unsigned NOT NULL,
  sailor int unsigned NOT NULL,
  `rank` tinyint unsigned NOT NULL,
  PRIMARY KEY (sailor)
) ENGINE=InnoDB;

CREATE TABLE sailor_skills (
  sailor int unsigned NOT NULL,
  skill smallint unsigned NOT NULL,
  points smallint unsigned NOT NULL,
  PRIMARY KEY (sailor, skill)
) ENGINE=InnoDB;

CREATE TABLE letters (
  id bigint unsigned NOT NULL,
  kind tinyint unsigned NOT NULL,
  sender int unsigned NOT NULL,
  addressee int unsigned NOT NULL,
  body text,
  sent int unsigned NOT NULL,
  PRIMARY KEY (id)
) ENGINE=InnoDB;

CREATE TABLE berths (
  port smallint unsigned NOT NULL,
  berth tinyint unsigned NOT NULL,
  ship int unsigned NOT NULL,
  PRIMARY KEY (port, berth),
  CONSTRAINT berths_ship FOREIGN KEY (ship) REFERENCES ships (ship_id)
) ENGINE=InnoDB;

CREATE TABLE voyages (
  sailor int unsigned NOT NULL,
  convoy int NOT NULL,
  account int unsigned NOT NULL,
  left_at int unsigned NOT NULL,
  KEY sailor (sailor)
) ENGINE=InnoDB;

CREATE TABLE deeds (
  deed int unsigned NOT NULL,
  buyer int unsigned NOT NULL,
  PRIMARY KEY (deed)
) ENGINE=InnoDB;

CREATE TABLE signatures (
  deed int unsigned NOT NULL,
  signer int unsigned NOT NULL,
  signer_account int unsigned NOT NULL,
  PRIMARY KEY (deed, signer)
) ENGINE=InnoDB;

CREATE TABLE settings (
  setting varchar(20) NOT NULL,
  content varchar(20) NOT NULL,
  PRIMARY KEY (setting)
) ENGINE=InnoDB;
INSERT INTO settings VALUES ('tide', '3;4'), ('wind', 'it\'s west');

DELIMITER //
CREATE TRIGGER new_crew AFTER INSERT ON crews FOR EACH ROW BEGIN
  INSERT INTO settings VALUES (NEW.crew, 'a trigger ran');
END//
DELIMITER ;
