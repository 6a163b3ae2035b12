CREATE TABLE `players` (
  `id` binary(10) NOT NULL,
  `account` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `name` varchar(32) NOT NULL,
  `level` int(11) NOT NULL,
  `gold` bigint(20) NOT NULL,
  `created_at` datetime(3) NOT NULL,
  `updated_at` datetime(3) NOT NULL,
  `number` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`),
  UNIQUE KEY `number` (`number`),
  KEY `account` (`account`),
  CONSTRAINT `players_name` CHECK (char_length(`name`) >= 1),
  CONSTRAINT `players_level` CHECK (`level` >= 1),
  CONSTRAINT `players_gold` CHECK (`gold` >= 0),
  CONSTRAINT `players_number` CHECK (`number` between 1 and 999999999999999)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
CREATE TABLE `guilds` (
  `id` binary(10) NOT NULL,
  `name` varchar(32) NOT NULL,
  `leader_id` binary(10) NOT NULL,
  `founded_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`),
  KEY `leader_id` (`leader_id`),
  CONSTRAINT `guilds_leader` FOREIGN KEY (`leader_id`) REFERENCES `players` (`id`),
  CONSTRAINT `guilds_name` CHECK (char_length(`name`) >= 1)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
CREATE TABLE `gameid_numbers` (
  `server_id` int(11) NOT NULL,
  `name` varchar(64) NOT NULL,
  `next_number` bigint(20) NOT NULL,
  `check_digit` varchar(8) NOT NULL,
  `updated_ms` bigint(20) NOT NULL,
  PRIMARY KEY (`server_id`,`name`),
  CONSTRAINT `gameid_numbers_check` CHECK (`check_digit` in ('','damm'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `gameid_numbers` VALUES (7,'key53:mail',60129542150,'',1795741668061);
INSERT INTO `gameid_numbers` VALUES (7,'key63:item',61572651155462,'',1795741668061);
INSERT INTO `gameid_numbers` VALUES (7,'player',9170005,'',1795741668061);
CREATE TABLE `gameid_servers` (
  `server_id` int(11) NOT NULL,
  `name` varchar(64) NOT NULL DEFAULT '',
  `world` char(32) NOT NULL,
  `role` varchar(16) NOT NULL,
  `epoch` bigint(20) NOT NULL,
  `reserved_ms` bigint(20) NOT NULL,
  `holder` varchar(4096) NOT NULL DEFAULT '',
  `lease_until_ms` bigint(20) NOT NULL,
  `created_ms` bigint(20) NOT NULL,
  `updated_ms` bigint(20) NOT NULL,
  `fleet` varchar(32) NOT NULL DEFAULT '',
  `window_ms` bigint(20) NOT NULL DEFAULT 0,
  PRIMARY KEY (`server_id`),
  UNIQUE KEY `world` (`world`),
  CONSTRAINT `gameid_servers_id` CHECK (`server_id` between 1 and 1048575),
  CONSTRAINT `gameid_servers_role` CHECK (`role` in ('own','merged'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO `gameid_servers` VALUES (7,'','c6dee760d1c71ae0ed688d1ea58a8809','own',3,60052078034,'',1795741668061,1795741668029,1795741668061,'f5564050d05810d2ac3d8bda88abac66',10000);
CREATE TABLE `guild_members` (
  `player_id` binary(10) NOT NULL,
  `guild_id` binary(10) NOT NULL,
  `rank` varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `joined_at` datetime(3) NOT NULL,
  PRIMARY KEY (`player_id`),
  KEY `guild_id` (`guild_id`),
  CONSTRAINT `guild_members_guild` FOREIGN KEY (`guild_id`) REFERENCES `guilds` (`id`),
  CONSTRAINT `guild_members_player` FOREIGN KEY (`player_id`) REFERENCES `players` (`id`),
  CONSTRAINT `guild_members_rank` CHECK (`rank` in ('member','officer','leader'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
CREATE TABLE `items` (
  `id` binary(10) NOT NULL,
  `owner_id` binary(10) NOT NULL,
  `template` int(11) NOT NULL,
  `count` bigint(20) NOT NULL,
  `created_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `owner_id` (`owner_id`),
  CONSTRAINT `items_owner` FOREIGN KEY (`owner_id`) REFERENCES `players` (`id`),
  CONSTRAINT `items_template` CHECK (`template` >= 1),
  CONSTRAINT `items_count` CHECK (`count` >= 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
CREATE TABLE `mergesafe_schema` (
  `application` varchar(32) NOT NULL,
  `version` int(11) NOT NULL,
  PRIMARY KEY (`application`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
INSERT INTO `mergesafe_schema` VALUES ('mergesafe-numbers',1);
INSERT INTO `mergesafe_schema` VALUES ('mergesafe-registry',2);
INSERT INTO `mergesafe_schema` VALUES ('mergesafe-starter',2);
