#!/usr/bin/env bash
# 18: error 1114 doesn't say that the disk is full. On MySQL.
# See 18c.
exec bash "$(dirname "$0")/18c-full-disk-mariadb.sh" mysql 500m
