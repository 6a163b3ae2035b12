#!/usr/bin/env bash
# 12: the same on MySQL, if it has local_infile=1.
# See 12a.
exec bash "$(dirname "$0")/12a-generated-column-cut-mariadb.sh" mysql --local-infile=1
