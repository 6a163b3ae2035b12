CREATE TABLE `mergesafe_schema` (
  `application` varchar(32) NOT NULL,
  `version` int(11) NOT NULL,
  PRIMARY KEY (`application`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
CREATE TABLE `players` (
  `id` binary(10) NOT NULL,
  `account` varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `name` varchar(32) NOT NULL,
  `level` int(11) NOT NULL,
  `gold` bigint(20) NOT NULL,
  `created_at` datetime(3) NOT NULL,
  `updated_at` datetime(3) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `name` (`name`),
  KEY `account` (`account`),
  CONSTRAINT `players_name` CHECK (char_length(`name`) >= 1),
  CONSTRAINT `players_level` CHECK (`level` >= 1),
  CONSTRAINT `players_gold` CHECK (`gold` >= 0)
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
  PRIMARY KEY (`server_id`),
  UNIQUE KEY `world` (`world`),
  CONSTRAINT `gameid_servers_id` CHECK (`server_id` between 1 and 1048575),
  CONSTRAINT `gameid_servers_role` CHECK (`role` in ('own','merged'))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
INSERT INTO mergesafe_schema VALUES ('mergesafe', 1);
INSERT INTO players VALUES (x'0030bfc83fb0000c0003', 'acc-2', 'Bea', 9, 5, '2025-06-01 12:00:00.123', '2025-06-01 12:00:00.123');
INSERT INTO players VALUES (x'0030c33727b000070001', 'acc-1', 'Aria', 3, 1234567890123, '2025-06-01 12:00:00.123', '2025-06-01 13:00:00.123');
INSERT INTO players VALUES (x'0030c33727b000070002', 'acc-1', 'Śrī 🍣 ''x''', 1, 0, '2025-06-01 12:00:00.123', '2025-06-01 12:00:00.123');
INSERT INTO items VALUES (x'0030c33727b000070001', x'0030c33727b000070001', 17, 2, '2025-06-01 12:00:00.123');
INSERT INTO items VALUES (x'0030c33727b0000c0002', x'0030bfc83fb0000c0003', 4, 0, '2025-06-01 12:00:00.123');
INSERT INTO guilds VALUES (x'0030c33727b000070001', 'Dawn', x'0030c33727b000070001', '2025-06-01 12:00:00.123');
INSERT INTO guild_members VALUES (x'0030bfc83fb0000c0003', x'0030c33727b000070001', 'member', '2025-06-01 12:00:00.123');
INSERT INTO guild_members VALUES (x'0030c33727b000070001', x'0030c33727b000070001', 'leader', '2025-06-01 12:00:00.123');
INSERT INTO gameid_servers VALUES (7, 'Älder 7', '4310e53d12f51af5cc0aef6f999df913', 'own', 1, 13089660123, '{"token":"ABCDEFGH","host":"host-a","pid":4711,"program":"game","since":"2025-06-01T12:00:00.123Z","process":"boot-1 4711 99"}', 1748779260123, 1748779260123, 1748779260123, '');
INSERT INTO gameid_servers VALUES (8, '', '2f5b43053f5af00c70f5585d258b6d1c', 'own', 1, 13089660123, '{"token":"IJKLMNOP","host":"host-a","pid":4711,"program":"game","since":"2025-06-01T12:00:00.123Z","process":"boot-1 4711 99"}', 1748779260123, 1748779260123, 1748779260123, '0123456789abcdef0123456789abcdef');
INSERT INTO gameid_servers VALUES (12, '', '119cb190e1555d3f13505a5a4b019060', 'merged', 1, 13089660123, '', 1748779260123, 1748779260123, 1748779260123, '');
