-- The game of a rehearsal, made up: owners of several kinds, bags and slots, JSON, copies of names, a log without a key.
CREATE TABLE account (id int unsigned NOT NULL AUTO_INCREMENT, login varchar(120) NOT NULL, last_login int NOT NULL DEFAULT 0, PRIMARY KEY (id), UNIQUE KEY login (login)) ENGINE=InnoDB;
CREATE TABLE hero (id int unsigned NOT NULL AUTO_INCREMENT, account int unsigned NOT NULL, name varchar(32) NOT NULL, level smallint NOT NULL DEFAULT 1, exp bigint NOT NULL DEFAULT 0, gold bigint NOT NULL DEFAULT 0,
  guild int unsigned NOT NULL DEFAULT 0, spouse int unsigned NOT NULL DEFAULT 0, map_id int NOT NULL, pos_x int NOT NULL, pos_y int NOT NULL, created int NOT NULL, PRIMARY KEY (id), UNIQUE KEY name (name)) ENGINE=InnoDB;
CREATE TABLE guild (id int unsigned NOT NULL AUTO_INCREMENT, name varchar(32) NOT NULL, boss int unsigned NOT NULL, wealth bigint NOT NULL DEFAULT 0, founded int NOT NULL, PRIMARY KEY (id), UNIQUE KEY name (name)) ENGINE=InnoDB;
CREATE TABLE guild_member (guild int unsigned NOT NULL, hero int unsigned NOT NULL, rank_no tinyint NOT NULL DEFAULT 0, joined int NOT NULL, PRIMARY KEY (hero)) ENGINE=InnoDB;
CREATE TABLE guild_log (id int unsigned NOT NULL AUTO_INCREMENT, guild int unsigned NOT NULL, etype tinyint NOT NULL, hero1 int unsigned NOT NULL, hero2 int unsigned NOT NULL DEFAULT 0, at_time int NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB;
CREATE TABLE guild_bank (guild int unsigned NOT NULL, slot smallint NOT NULL, item int unsigned NOT NULL, PRIMARY KEY (guild, slot)) ENGINE=InnoDB;
CREATE TABLE house (id int unsigned NOT NULL AUTO_INCREMENT, type tinyint NOT NULL, owner int unsigned NOT NULL, city int NOT NULL, rent int NOT NULL DEFAULT 0, PRIMARY KEY (id)) ENGINE=InnoDB;
CREATE TABLE house_guest (house int unsigned NOT NULL, hero int unsigned NOT NULL, PRIMARY KEY (house, hero)) ENGINE=InnoDB;
CREATE TABLE item (id int unsigned NOT NULL AUTO_INCREMENT, owner int unsigned NOT NULL DEFAULT 0, template int NOT NULL, amount smallint NOT NULL DEFAULT 1, durability smallint NOT NULL DEFAULT 0, PRIMARY KEY (id)) ENGINE=InnoDB;
CREATE TABLE bag (hero int unsigned NOT NULL, bag_no tinyint NOT NULL, slot smallint NOT NULL, item int unsigned NOT NULL, PRIMARY KEY (hero, bag_no, slot)) ENGINE=InnoDB;
CREATE TABLE equipment (hero int unsigned NOT NULL, slot tinyint NOT NULL, item int unsigned NOT NULL, PRIMARY KEY (hero, slot)) ENGINE=InnoDB;
CREATE TABLE stall (item int unsigned NOT NULL, seller int unsigned NOT NULL, price int NOT NULL, bidder int unsigned NOT NULL DEFAULT 0, ends int NOT NULL, PRIMARY KEY (item)) ENGINE=InnoDB;
CREATE TABLE mail (id int unsigned NOT NULL AUTO_INCREMENT, kind tinyint NOT NULL, sender int unsigned NOT NULL, sender_name varchar(32) NOT NULL DEFAULT '', receiver int unsigned NOT NULL, body varchar(200) NOT NULL DEFAULT '', sent int NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB;
CREATE TABLE mail_item (mail int unsigned NOT NULL, slot tinyint NOT NULL, item int unsigned NOT NULL, PRIMARY KEY (mail, slot)) ENGINE=InnoDB;
CREATE TABLE event_log (id bigint unsigned NOT NULL AUTO_INCREMENT, hero int unsigned NOT NULL, event tinyint NOT NULL, target int unsigned NOT NULL DEFAULT 0, amount int NOT NULL DEFAULT 0, at_time int NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB;
CREATE TABLE chat_log (hero int unsigned NOT NULL, channel tinyint NOT NULL, words varchar(120) NOT NULL DEFAULT '', at_time int NOT NULL) ENGINE=InnoDB;
CREATE TABLE hero_state (hero int unsigned NOT NULL, data varchar(200) NOT NULL, PRIMARY KEY (hero)) ENGINE=InnoDB;
CREATE TABLE quest (hero int unsigned NOT NULL, quest int NOT NULL, state tinyint NOT NULL, progress int NOT NULL DEFAULT 0, PRIMARY KEY (hero, quest)) ENGINE=InnoDB;
CREATE TABLE skill (hero int unsigned NOT NULL, skill int NOT NULL, skill_level smallint NOT NULL, PRIMARY KEY (hero, skill)) ENGINE=InnoDB;
CREATE TABLE achievement (hero int unsigned NOT NULL, achievement int NOT NULL, at_time int NOT NULL, PRIMARY KEY (hero, achievement)) ENGINE=InnoDB;
CREATE TABLE friend (hero int unsigned NOT NULL, friend int unsigned NOT NULL, note varchar(60) NOT NULL DEFAULT '', PRIMARY KEY (hero, friend)) ENGINE=InnoDB;
CREATE TABLE pet (id int unsigned NOT NULL AUTO_INCREMENT, owner int unsigned NOT NULL, breed int NOT NULL, pet_level smallint NOT NULL DEFAULT 1, PRIMARY KEY (id)) ENGINE=InnoDB;
CREATE TABLE team (id int unsigned NOT NULL AUTO_INCREMENT, captain int unsigned NOT NULL, arena_points int NOT NULL DEFAULT 0, PRIMARY KEY (id)) ENGINE=InnoDB;
CREATE TABLE team_member (team int unsigned NOT NULL, hero int unsigned NOT NULL, wins int NOT NULL DEFAULT 0, PRIMARY KEY (team, hero)) ENGINE=InnoDB;
CREATE TABLE ranking (board tinyint NOT NULL, place smallint NOT NULL, hero int unsigned NOT NULL, points int NOT NULL, PRIMARY KEY (board, place)) ENGINE=InnoDB;
CREATE TABLE trade (id int unsigned NOT NULL AUTO_INCREMENT, giver int unsigned NOT NULL, taker int unsigned NOT NULL, item int unsigned NOT NULL, gold int NOT NULL DEFAULT 0, at_time int NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB;
