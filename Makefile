# What people run in this repository. "make" alone prints the list.

GO ?= go

# The modules of this repository.
MODULES := . $(patsubst %/go.mod,%,$(wildcard */go.mod */*/go.mod))

# The rest of the line gets TEST_MYSQL_DSN: a private server, or the one that
# it names already. Where a server could not be brought, what it would have
# tested is skipped, and said so; CI sets TEST_SERVERS_REQUIRED.
WITH = $(GO) run ./internal/servertest/with-server -optional
WITH_MARIADB = $(WITH) mariadb --

# No test hangs for ever, and none fails because the machine is busy.
LIMIT = -timeout 4h

# torture and torture-merge take another one, e.g. SERVER=mysql.
SERVER ?= mariadb

# What touches a server. SQLite stays as it was, and so do the longest tests of databases in memory.
# (The first pattern of -skip that may match decides, so the shortest comes first.)
ON_SERVER = ./merge/world ./merge/oracle ./store/... ./merge/check ./tools/... ./examples/gameserver ./internal/sqldb
IN_MEMORY = SQLite|^TestAnySchema$$|^TestIntegerSet|^TestMemory|/^sqlite$$|//^sqlite$$

# Tests of merges that ask something of the server, so that "make test" runs them on MySQL as well. All others ask of what the program does with
# rows, which MariaDB and SQLite show. See docs/proved.md.
DIFFERS = Types|Charset|CharacterSet|MySQL|Rights|Invisible|IntoHidden|Enum|^TestFence$$|^TestInto$$|IntoEvents|IntoAltered|^TestTriggers$$|Engine|Transactions|NegativeZero|ClusteredOne|PreparedTables|^TestTableWithoutKey$$|Locks|Cancelled|^TestDiskFull$$|^TestNullInKey$$|^TestCounters$$|UniqueKeyAsPrimary

# The longest packages. Those tests in which several goroutines, or two processes, meet run with the race detector, and all others without it.
LONGEST = ./merge ./merge/campaign ./merge/check ./merge/world
MEET = ^TestInto$$|Parallel|TwoProcesses|Retr|Callback|Meanwhile|LateWrite|^TestVerify$$|^TestRekey$$|^TestCombine$$|^TestMatch$$|^TestCampaign$$|TwoAtOnce|Window|Hooks|PauseAndSkip|^TestInterrupted$$|SideBySide|^TestPlantedFaults$$|Cancel

.PHONY: help test test-servers check tools toolchain browser python languages libraries mariadb mariadb-11.8 mysql postgres test-postgres

help: ## print this list
	@echo 'usage: make TARGET'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# The race detector. SQLite, which is C turned into Go, is left out: it has no goroutines of
# its own, and would take twice as long. The packages around it have generic types in common
# with others, of which the linker may take the ones without the detector: they stay in.
RACE = -race '-gcflags=modernc.org/sqlite/lib=-race=false' '-gcflags=modernc.org/memory=-race=false'

# Documents, pages, and what looks at the repository.
SERIAL = ./merge/report ./examples/quickstart ./examples/twoservers ./internal/docs ./internal/layers

# What is raced whole: the packages that have goroutines of their own, but for those of merges, the longest, and but for ALONE: tests in
# which one goroutine makes millions of IDs.
RACED = ./gameid ./gameid/gameidtest ./gameid/metrics ./store/... ./internal/sqldb ./internal/servertest/... ./merge/campaign ./merge/keys ./merge/inventory ./merge/live ./merge/stream ./examples/idserver/...
ALONE = ^TestCrashesAtFullSpeed$$|^TestClockBackAcrossRestart$$|^TestSmallAdjustmentsDoNotCreep$$|^TestForgottenEnds$$|^TestOpaqueDoesNotMix$$

# All other packages. The commands and examples, whose goroutines are those of the packages, run on MySQL alone.
OTHERS = $$($(GO) list ./... | grep -v -E '/(tools/.*|examples/.*|store(/.*)?|gameid|gameid/gameidtest|gameid/metrics|internal/(docs|layers|sqldb|sqldb/postgres|servertest.*)|merge|merge/(campaign|keys|inventory|live|stream|report|check|world)|spec)$$')

# Tests of checks that touch a server. All others read databases in memory.
TOLD = OpenColumns|OnRealDatabases

# Tests that go through whole measurements of merges, without looking at their figures.
MEASURING = ^TestMerge$$|^TestRowsRead$$

# Long tests of which MariaDB shows what there is to see.
LONG = ^TestMergedRowsMeanWhatTheyMeant$$|^TestProposalsOfAMadeUpGame$$|^TestTorture$$

# Three at a time, since much of what tests do is to wait for a server; with six at a time they take longer, not less. Memory is plenty,
# and its collector takes a tenth of their time.
# Without the folder's name in them, packages that one clone has compiled are compiled for all. The compiler comes first: the race
# detector needs it, and with another CGO_ENABLED the standard library would be compiled a second time.
test: export GOGC = 400
test: export GOFLAGS = $(shell $(GO) env GOFLAGS) -trimpath
test: export CGO_ENABLED = 1
test: export TMPDIR = $(shell .ci/temporary)
test: toolchain check browser python dump mariadb mysql postgres ## everything that proves a promise, on SQLite, MariaDB, MySQL and PostgreSQL
	$(WITH_MARIADB) $(MAKE) --no-print-directory -j3 test-merges test-raced test-others
	$(WITH) mysql -- $(WITH) postgres -- $(MAKE) --no-print-directory -j3 test-merges-mysql test-mysql test-beside

# What PostgreSQL is asked beside the suites of store: it is killed, frozen and filled.
TORTURES_POSTGRES = TestTorture/scenario/.*/postgres|TestFrozenInTransaction/postgres|TestFailover/postgres

test-postgres: postgres ## the suites of store on PostgreSQL alone
	$(WITH) postgres -- $(GO) test -p 2 -vet=off -short -run '/^postgres$$' ./store/...
	$(WITH) postgres -- $(GO) test -vet=off -run '$(TORTURES_POSTGRES)' ./store/torture
	$(GO) test -vet=off ./internal/sqldb/postgres

# The longest begins first.
test-merges:
	$(GO) test -p 2 -parallel 4 -vet=off $(LIMIT) -skip '$(MEET)' $(LONGEST)

test-others:
	$(GO) test -p 1 -parallel 4 -vet=off $(LIMIT) $(OTHERS)
	$(GO) test $(LIMIT) -vet=off ./gameid -run '$(ALONE)'
	$(GO) test $(LIMIT) -vet=off ./spec -run Vectors

test-raced:
	$(GO) test -p 2 -parallel 4 $(RACE) -vet=off $(LIMIT) -run '$(MEET)' $(LONGEST)
	$(GO) test -p 3 $(RACE) -skip '$(ALONE)|$(TORTURES_POSTGRES)' -vet=off $(LIMIT) $(RACED)

test-merges-mysql:
	$(GO) test -parallel 4 -vet=off $(LIMIT) -skip '/^sqlite$$|//^sqlite$$' -run '$(DIFFERS)' ./merge

test-mysql:
	$(GO) test -p 3 -vet=off $(LIMIT) -skip '$(IN_MEMORY)|$(LONG)' $(filter-out ./merge/check,$(ON_SERVER)) ./internal/sqldb/postgres $(SERIAL)
	$(GO) test -vet=off $(LIMIT) -skip '$(IN_MEMORY)|$(LONG)' -run '$(TOLD)' ./merge/check

# A module of its own, which does not need that server, and what -skip left out above.
test-beside:
	$(GO) test -C bench $(LIMIT) -vet=off -skip '$(MEASURING)' ./...
	TEST_SERVERS_REQUIRED= $(GO) test $(LIMIT) -vet=off ./examples/gameserver -run '.*/^sqlite$$'
	TEST_SERVERS_REQUIRED= $(GO) test $(LIMIT) -vet=off ./tools/servermerge -run '^TestKillSQLite$$'
	TEST_SERVERS_REQUIRED= $(GO) test $(LIMIT) -vet=off ./tools/servermerge/life -run '^TestLife$$/^sqlite$$'

.PHONY: test-merges test-others test-raced test-merges-mysql test-mysql test-beside

prove: ## what takes longer: all tests on all servers, thousands of random games, kills and faults (hours); docs/proved.md has the last figures
	$(MAKE) test-servers libraries
	$(MAKE) test-postgres torture torture-postgres sim test-cluster night verdicts
	$(GO) test -C bench ./...
	$(MAKE) torture-merge
	$(MAKE) torture-merge SERVER=mysql
	$(GO) test ./merge/oracle -run TestOracle/sqlite -v -oracle.cases 2000 -timeout 4h
	go run ./internal/servertest/with-server mariadb -- go test ./merge/oracle -run TestOracle/server -v -oracle.cases 300 -timeout 4h
	go run ./internal/servertest/with-server mysql -- go test ./merge/oracle -run TestOracle/server -v -oracle.cases 300 -timeout 4h
	$(GO) run ./merge/oracle/mutate
	$(MAKE) life
	go run ./internal/servertest/with-server mariadb -- go test ./tools/servermerge -run TestPlayedLeaving -played-leaving
	$(GO) test ./tools/mergecheck -run TestProfilesClassifyEveryColumn/landsandboat -profiles.mutations=-1
	$(GO) test ./tools/internal/profiles -v

.PHONY: prove

# Another seed each time.
LIFE = ./tools/servermerge/life -v -timeout 4h -life.seed $$(date +%s)

life: mariadb mysql ## lives of merges: over 11,000 generated sequences of commands, kills and accidents, judged by SQL (two hours)
	$(GO) test $(LIFE) -run '^TestLife$$/sqlite' -life.sequences 10000
	$(WITH) mariadb -- $(GO) test $(LIFE) -run '^TestLife$$/server' -life.sequences 500
	$(WITH) mysql -- $(GO) test $(LIFE) -run '^TestLife$$/server' -life.sequences 500
	$(GO) test $(LIFE) -run '^TestLifeKilled$$' -life.sequences 200
	$(GO) run ./tools/servermerge/life/mutate

.PHONY: life

verdicts: ## 2,000 random rule files and worlds: mergecheck, plan, apply and verify say the same (minutes)
	$(GO) test ./tools/internal/rulefile -run TestOneVerdict -v -timeout 60m -verdict.cases=2000

.PHONY: verdicts

test-servers: mariadb mariadb-11.8 mysql ## what touches a server, on all servers that there are: MariaDB 10.11 and 11.8, MySQL 9.7
	for server in mariadb mariadb-11.8 mysql; do \
		$(WITH) $$server -- $(GO) test -p 4 -vet=off -timeout 30m -skip '$(IN_MEMORY)' ./merge $(ON_SERVER) || exit; done

test-on: ## what touches a server, on yours: make test-on DSN='mysql:user:password@tcp(host:port)/'; prints a table to send us (an hour)
	@TEST_ON='$(DSN)' $(GO) run ./internal/servertest/test-on -p 4 -timeout 60m -skip '$(IN_MEMORY)' ./merge $(ON_SERVER)

test-short: ## a look at all packages, without a server
	TEST_MYSQL_DSN= $(GO) test -short ./...

workflows: ## check .github by actionlint
	cd integrations && $(GO) tool actionlint ../.github/workflows/*.yml

staticcheck: ## staticcheck, in all modules (minutes)
	@set -e; program=$$($(GO) tool -C integrations -n staticcheck); for dir in $(MODULES); do \
		echo "# staticcheck in $$dir"; (cd $$dir && "$$program" -tags nomsgpack ./...); done

.PHONY: test-on test-short workflows staticcheck

# Where one is not to be had, with-server says what is not tested.
mariadb mariadb-11.8 mysql postgres:
	@.ci/server $@ || true

check: ## what is quick: vet, formatting, go.mod; changes nothing
	$(GO) vet ./...
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) && test -z "$$unformatted" || \
		{ echo "not formatted, run gofmt -w on: $$unformatted" >&2; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet -C bench ./...
	$(GO) mod tidy -C bench -diff

platforms: ## go build and go vet for Windows, macOS, FreeBSD, Linux on ARM and on 32 bits (minutes)
	@set -e; for p in windows/amd64 darwin/arm64 freebsd/amd64 linux/arm64 linux/386; do for dir in $(MODULES); do \
		echo "# $$p in $$dir"; (export GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0; $(GO) build -C $$dir -o /dev/null ./... && $(GO) vet -C $$dir ./...); done; done

.PHONY: platforms

tools: ## build the operators' commands into bin/
	$(GO) build -o bin/ ./tools/mergecheck ./tools/servermerge ./tools/fleet ./tools/gameid

release: ## archives of the tools for all platforms, in dist, at a commit with a tag such as v0.1.0 (minutes)
	.ci/release

.PHONY: release

# The race detector needs a C compiler.
toolchain:
	@set -- $$($(GO) env CC); command -v "$$1" >/dev/null || .ci/install gcc libc6-dev

# One test looks at the HTML report in a browser. Where there is none to be had, it is skipped.
browser:
	@command -v chromium >/dev/null || .ci/install chromium || echo 'without chromium the look of the HTML report is not tested' >&2

# The reference of generated merges is a program in Python. Where there is none, they are skipped; CI sets TEST_LANGUAGES_REQUIRED.
python:
	@command -v python3 >/dev/null || .ci/install python3 || echo 'without python3 generated merges are not compared' >&2

# The readers in spec/. Those whose language is not to be had are skipped; CI sets TEST_LANGUAGES_REQUIRED.
languages: python
	@for need in node:nodejs lua5.4:lua5.4 luajit:luajit 'mcs:mono-mcs mono-runtime'; do \
		command -v $${need%%:*} >/dev/null || .ci/install $${need#*:} || echo "without $${need%%:*} not all readers in spec/ are tested" >&2; done

# The one library in C, SQLite, takes seven times as long with a compiler that optimizes, and gin twice as long with its MessagePack.
libraries: export CGO_CFLAGS = -O0
libraries: export CGO_ENABLED = 1
libraries: toolchain languages mariadb postgres ## the libraries of INTEGRATIONS.md, and the readers of IDs in other languages (minutes)
	$(GO) mod tidy -C integrations -diff
	$(GO) vet -C integrations -tags nomsgpack ./...
	$(WITH_MARIADB) $(WITH) postgres -- $(GO) test -C integrations $(LIMIT) -vet=off -tags nomsgpack ./...
	$(GO) test ./spec

# What a merge is measured beside. Without mariadb-dump its sections are left out, and without mydumper its row.
dump:
	@command -v mariadb-dump >/dev/null || .ci/install mariadb-client || echo 'without mariadb-dump the merge is not measured' >&2
	@command -v myloader >/dev/null || .ci/install mydumper || echo 'without mydumper the merge is not measured beside myloader' >&2

# Measuring needs the program of a database server, not a running one.
bench: mariadb mysql postgres dump ## measure IDs, storage and merges beside their peers, and print tables (a quarter of an hour)
	$(GO) run -C bench . $(BENCHFLAGS)

bench-quick: mariadb mysql postgres dump ## the same for a look (under three minutes)
	$(GO) run -C bench . -quick $(BENCHFLAGS)

.PHONY: bench bench-quick dump

torture: $(SERVER) ## kill, freeze and starve real processes and databases, hundreds of times, and print the counts (minutes)
	$(WITH) $(SERVER) -- $(GO) test ./store/torture -count=1 -v -timeout 60m -torture.long
	$(WITH) $(SERVER) -- $(GO) test ./store/numbers -count=1 -v -timeout 60m -run 'Killed/wide' -numbers.kills 400 -numbers.each 2600000

torture-postgres: postgres ## the same of a PostgreSQL (minutes)
	$(WITH) postgres -- $(GO) test ./store/torture -count=1 -v -timeout 60m -torture.long -run '$(TORTURES_POSTGRES)'
	$(WITH) postgres -- $(GO) test ./store/numbers -count=1 -v -timeout 60m -run 'Killed/wide/postgres' -numbers.kills 400 -numbers.each 2600000

torture-merge: $(SERVER) ## kill merges and their database at hundreds of random points, let each of their requests fail once, and compare what comes of it (minutes)
	$(WITH) $(SERVER) -- $(GO) test ./merge -count=1 -v -timeout 4h -torture.long -run 'Torture|LeaveInterrupted|Resume|Types|Flipped|Disk|Cut|Altered|FailsOnce' $(TORTUREFLAGS)
	$(WITH) $(SERVER) -- $(GO) test ./merge/campaign ./merge/inventory -count=1 -v -timeout 60m -torture.long -run FailsOnce
	$(GO) test ./tools/mergecheck ./tools/gameid ./tools/servermerge ./tools/fleet -count=1 -timeout 60m -run '^TestSecrets' -secret.runs 75000

.PHONY: torture torture-postgres torture-merge

night: mariadb ## a fleet of 400 SQLite worlds and 40 MariaDB databases, and a campaign of 60 merges that is killed twenty times (minutes)
	$(GO) test ./tools/fleet -count=1 -v -timeout 60m -run '^TestNight$$' -night.worlds 400 -night.databases 40 -night.merges 60 -night.kills 20 -night.speed $(NIGHTFLAGS)

.PHONY: night

test-cluster: mysql ## kill, freeze and cut off the members of a Galera cluster and of a MySQL group, on loopback and under load (minutes)
	@test -e /usr/lib/galera/libgalera_smm.so && command -v mariadb-install-db >/dev/null && command -v rsync >/dev/null && command -v lsof >/dev/null || \
		.ci/install mariadb-server-core mariadb-client-core galera-4 rsync lsof
	$(GO) test ./store/torture -count=1 -v -timeout 30m -run '^Test(Cluster|Fleet|FreeNumbers|Group|Numbers)$$' -cluster $(CLUSTERFLAGS)

.PHONY: test-cluster

sim: ## simulate nodes under faults: ten thousand worlds in virtual time, every ID checked (minutes)
	$(GO) test ./gameid/sim -count=1 -v -timeout 60m -run '^Test(Simulation|CycleCounter|MutationsAreFound)$$' -sim.seeds 10000 -sim.mutations 0 $(SIMFLAGS)

.PHONY: sim

example-outside: ## use the packages from a module outside of this one, as README.md tells
	$(GO) test -vet=off ./examples/quickstart -count=1 -v -run TestOutside

.PHONY: example-outside
