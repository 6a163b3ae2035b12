# What people run in this repository. "make" alone prints the list.

GO ?= go

# Several servers at once, each where it can be had; CI sets TEST_SERVERS_REQUIRED.
WITH = $(GO) run ./internal/servertest/with-server -optional

# Where goroutines meet, tests run with the race detector. SQLite and its libc, which are C turned into Go, are left out:
# they have no goroutines of their own, and would take twice as long.
RACE = -race $(foreach c,sqlite/lib libc memory,'-gcflags=modernc.org/$c=-race=false')
RACED = ./gameid/sim ./store ./store/numbers ./store/storetest ./store/torture ./internal/sqldb/postgres ./internal/sqldb/sqlite ./internal/fleet ./merge/inventory ./merge/live ./examples/gameserver ./examples/idserver
PARTLY_RACED = ./gameid ./merge/campaign # the files whose tests have goroutines that meet; all others say that it leaves them out
OTHERS = $$($(GO) list ./... | grep -vxF "$$($(GO) list $(RACED))")

.PHONY: help test go-test-raced go-test-others test-on prove check tools release bench libraries needs needs-libraries

help: ## print this list
	@echo 'usage: make TARGET'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

# All clones share the compiler's cache: no names of folders are in it. Tests wait for servers much of their time, so more run at a
# time than there are processors; where no goroutines meet they use one each: a tenth of their time went into looking for work.
test prove: export GOFLAGS = $(shell $(GO) env GOFLAGS) -trimpath
test prove: export CGO_ENABLED = 1
test prove: export GOGC = 1600
test prove: export GOMEMLIMIT = 512MiB
test prove: export GORACE = atexit_sleep_ms=0
test prove: export TMPDIR = $(shell .ci/temporary)

test: check needs ## all tests, on SQLite, MariaDB, MySQL and PostgreSQL (minutes)
	$(WITH) mariadb,mysql,postgres -- $(MAKE) --no-print-directory -j2 go-test-raced go-test-others

go-test-raced:
	$(GO) test -p 3 -vet=off -timeout 1h $(RACE) $(RACED) $(PARTLY_RACED)
	$(GO) test -C bench -vet=off -timeout 1h ./...

# What takes longest and works alone begins first, so that nothing waits for it at the end.
go-test-others:
	$(GO) test -p 4 -cpu 1 -vet=off -timeout 1h ./tools/servermerge/... ./merge/build $(OTHERS)

prove: export LONG = 1
prove: needs needs-libraries ## the same with thousands of random games, kills and faults, on all servers (hours); docs/proved.md has the last figures
	$(WITH) mariadb,mysql,postgres -- $(GO) test -p 1 -timeout 24h ./...
	TEST_PREFER=mysql $(WITH) mariadb,mysql,postgres -- $(GO) test -p 1 -timeout 24h ./...
	$(WITH) mariadb-11.8 -- $(GO) test -p 1 -timeout 24h ./merge/... ./store/...
	$(GO) run ./merge/oracle/mutate
	$(GO) run ./tools/servermerge/life/mutate
	$(MAKE) libraries

test-on: ## what touches a server, on yours: make test-on DSN='mysql:user:password@tcp(host:port)/'; prints a table to send us (an hour)
	@TEST_ON='$(DSN)' $(GO) run ./internal/servertest/test-on -p 4 -timeout 4h ./merge/... ./store/... ./internal/sqldb ./tools/...

check: ## what is quick: vet, formatting, go.mod; changes nothing
	$(GO) vet ./...
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) && test -z "$$unformatted" || { echo "not formatted, run gofmt -w on: $$unformatted" >&2; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet -C bench ./...
	$(GO) mod tidy -C bench -diff

tools: ## build the operators' commands into bin/
	$(GO) build -o bin/ ./tools/mergecheck ./tools/servermerge ./tools/fleet ./tools/gameid

release: ## archives of the tools for all platforms, in dist, at a commit with a tag such as v0.1.0 (minutes)
	.ci/release

bench: needs ## measure IDs, storage and merges beside their peers, and print tables (a quarter of an hour; BENCHFLAGS=-quick)
	$(GO) run -C bench . $(BENCHFLAGS)

libraries: export CGO_CFLAGS = -O0 # SQLite in C takes seven times as long if the compiler optimizes
libraries: needs needs-libraries ## the libraries of INTEGRATIONS.md, and the readers of IDs in other languages (minutes)
	$(GO) mod tidy -C integrations -diff
	$(GO) vet -C integrations -tags nomsgpack ./...
	$(WITH) mariadb,postgres -- $(GO) test -C integrations -timeout 4h -tags nomsgpack ./...
	LONG=1 $(GO) test ./spec

needs: # what tests run beside Go; without one of these what needs it is skipped, and said so
	@.ci/needs gcc chromium python3 mariadb-dump myloader mariadb mysql postgres

needs-libraries:
	@.ci/needs mariadb-11.8 galera node lua5.4 luajit mcs
