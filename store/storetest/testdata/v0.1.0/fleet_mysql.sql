CREATE TABLE `fleet_history` (
  `server_id` int(11) NOT NULL,
  `epoch` bigint(20) NOT NULL,
  `at_ms` bigint(20) NOT NULL,
  `action` varchar(16) NOT NULL,
  `world` char(32) DEFAULT NULL,
  `who` varchar(255) NOT NULL,
  `why` varchar(1024) NOT NULL,
  PRIMARY KEY (`server_id`,`epoch`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `fleet_history` VALUES (7,1,1795741668023,'claim',NULL,'ops','first release');
INSERT INTO `fleet_history` VALUES (7,2,1795741668052,'bind','c6dee760d1c71ae0ed688d1ea58a8809','gameserver (pid 13316) on db1 since 2026-11-27T01:07:48.032Z','the first start, with the database mysql:game:***@tcp(127.0.0.1:3306)/w7');
INSERT INTO `fleet_history` VALUES (40,1,1795741668025,'claim',NULL,'ops','first release');
INSERT INTO `fleet_history` VALUES (41,1,1795741668025,'claim',NULL,'ops','first release');
INSERT INTO `fleet_history` VALUES (42,1,1795741668026,'claim',NULL,'ops','first release');
CREATE TABLE `fleet_numbers` (
  `server_id` int(11) NOT NULL,
  `name` varchar(64) NOT NULL,
  `next_number` bigint(20) NOT NULL,
  `check_digit` varchar(8) NOT NULL,
  `updated_ms` bigint(20) NOT NULL,
  PRIMARY KEY (`server_id`,`name`),
  CONSTRAINT `fleet_numbers_server` CHECK (`server_id` = 0),
  CONSTRAINT `fleet_numbers_check` CHECK (`check_digit` in ('','damm'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `fleet_places` (
  `world` varchar(200) NOT NULL,
  `place` varchar(1024) NOT NULL,
  `labels` varchar(2048) NOT NULL,
  `set_ms` bigint(20) NOT NULL,
  `who` varchar(255) NOT NULL,
  `why` varchar(1024) NOT NULL,
  PRIMARY KEY (`world`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `fleet_places` VALUES ('w7','sqlite:w7.db','{\"tz\":\"UTC\"}',1795741668068,'ops','first release');
CREATE TABLE `fleet_ranges` (
  `number` bigint(20) NOT NULL,
  `world` varchar(200) NOT NULL,
  `space` varchar(200) NOT NULL,
  `first_key` bigint(20) NOT NULL,
  `last_key` bigint(20) NOT NULL,
  `merge_id` varchar(32) NOT NULL,
  `given_ms` bigint(20) NOT NULL,
  `who` varchar(255) NOT NULL,
  `why` varchar(1024) NOT NULL,
  `released_ms` bigint(20) NOT NULL DEFAULT 0,
  `released_by` varchar(255) NOT NULL DEFAULT '',
  `released_why` varchar(1024) NOT NULL DEFAULT '',
  PRIMARY KEY (`number`),
  CONSTRAINT `fleet_ranges_order` CHECK (`first_key` <= `last_key`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `fleet_ranges` VALUES (1,'w7','characters.id',1000000,1999999,'',1795741668065,'ops','first release',0,'','');
CREATE TABLE `fleet_registry` (
  `one` int(11) NOT NULL,
  `id` char(32) NOT NULL,
  `created_ms` bigint(20) NOT NULL,
  PRIMARY KEY (`one`),
  CONSTRAINT `fleet_registry_one` CHECK (`one` = 1)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `fleet_registry` VALUES (1,'f5564050d05810d2ac3d8bda88abac66',1795741668006);
CREATE TABLE `fleet_servers` (
  `server_id` int(11) NOT NULL,
  `name` varchar(64) NOT NULL,
  `state` varchar(16) NOT NULL,
  `world` char(32) DEFAULT NULL,
  `epoch` bigint(20) NOT NULL,
  `world_epoch` bigint(20) NOT NULL DEFAULT 0,
  `mark_ms` bigint(20) NOT NULL DEFAULT 0,
  `holder` varchar(4096) NOT NULL DEFAULT '',
  `place` varchar(512) NOT NULL DEFAULT '',
  `lease_until_ms` bigint(20) NOT NULL DEFAULT 0,
  `claimed_ms` bigint(20) NOT NULL,
  `bound_ms` bigint(20) NOT NULL DEFAULT 0,
  `seen_ms` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`server_id`),
  UNIQUE KEY `name` (`name`),
  UNIQUE KEY `world` (`world`),
  CONSTRAINT `fleet_servers_id` CHECK (`server_id` between 1 and 1048575),
  CONSTRAINT `fleet_servers_state` CHECK (`state` in ('claimed','bound','retired'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `fleet_servers` VALUES (7,'w7','bound','c6dee760d1c71ae0ed688d1ea58a8809',3,3,60052078034,'{\"token\":\"ZL5CDG6KOYERGCV5WRU7JD5UKR\",\"host\":\"db1\",\"pid\":13316,\"program\":\"gameserver\",\"since\":\"2026-11-27T01:07:48.032Z\",\"process\":\"00000000-0000-4000-8000-000000000001/pid:[4026531836]/13316/5089722\"}','mysql:game:***@tcp(127.0.0.1:3306)/w7',1795741668062,1795741668022,1795741668051,1795741668062);
INSERT INTO `fleet_servers` VALUES (40,'w40-40','claimed',NULL,1,0,0,'','',0,1795741668025,0,0);
INSERT INTO `fleet_servers` VALUES (41,'w40-41','claimed',NULL,1,0,0,'','',0,1795741668025,0,0);
INSERT INTO `fleet_servers` VALUES (42,'w40-42','claimed',NULL,1,0,0,'','',0,1795741668026,0,0);
CREATE TABLE `mergesafe_schema` (
  `application` varchar(32) NOT NULL,
  `version` int(11) NOT NULL,
  PRIMARY KEY (`application`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `mergesafe_schema` VALUES ('mergesafe-fleet',1);
