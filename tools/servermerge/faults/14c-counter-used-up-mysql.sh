#!/usr/bin/env bash
# 14: a merge that uses up AUTO_INCREMENT is PASS, and the game's next INSERT fails. On MySQL.
# See 14a.
exec bash "$(dirname "$0")/14b-counter-used-up-mariadb.sh" mysql
