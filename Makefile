# ipsecd: 'make help' lists the targets.

GO          := scripts/go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
PROGRAMS    := build/ipsecd build/ipsecctl build/ipsec build/swanctl
SCENARIOS   := build/scenario.test
KERNELTESTS := build/xfrm-nl.test
PACKAGES    := build/deb/ipsecd-lab_0.deb build/deb/ipsecd-lab_1.deb

# RUN chooses scenarios (a regular expression over their names); LAB=host runs
# them on this machine's own kernel; LAB_US=charon lets strongSwan play our side;
# FAULTS=all does the faults too that take long (docs/faults.md); LAB_ARGS goes to
# scripts/lab/lab.
RUN      ?= .
FAULTS   ?=
LAB_ARGS ?=
LAB_US   ?=
FUZZTIME ?= 10s
DEBARCH  ?= amd64 arm64

# How many random networks 'make simulator' plays, in which tests; slower ones have a share of the number.
SEEDS     ?= 20000
SIMULATED := ^Test(Seeds|SeveralFaults|.*AtRandom|TimersNeverLoseTraffic|StartAtOnce|.*Flood|Thousand.*|TenThousand.*|SecondSetUp.*|Every.*|SetUpByBoth.*)$$

# All scenarios in one boot, beside other work.
export LAB_TIMEOUT ?= 3600
export LAB
export CGO_ENABLED ?= 0

run_lab = rm -rf build/lab; scripts/lab/scenarios -s build/lab -e LAB_US=$(LAB_US) -e LAB_FAULTS=$(FAULTS) $(LAB_ARGS) $(SCENARIOS)

.PHONY: help
help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

.PHONY: build
build: $(PROGRAMS) ## compile ipsecd, ipsecctl, ipsec and swanctl into build/

# Go's own cache knows what is up to date.
.PHONY: $(PROGRAMS) $(SCENARIOS) $(KERNELTESTS) $(PACKAGES)
$(PROGRAMS):
	$(GO) build -trimpath -o $@ ./cmd/$(notdir $@)

$(SCENARIOS):
	$(GO) test -c -tags lab -o $@ ./scripts/lab/scenario

$(KERNELTESTS):
	$(GO) test -c -tags lab -o $@ ./xfrm/nl

# Two versions, for this machine; the lab unpacks them in emulation.
$(PACKAGES): build/deb/ipsecd-lab_%.deb:
	@GO=$(GO) VERSION=$* COMPRESSION=none DEB=$@ scripts/deb/build $$(dpkg --print-architecture)

# The demo has no use for the lab's second strongSwan.
.PHONY: demo
demo: export LAB_CHARON6_SUITE =
demo: build $(SCENARIOS) ## eight tunnels, BGP and multipath routes on a real kernel, explained as they come up
	@$(run_lab) -test.run '^TestDemo$$'

.PHONY: lab
lab: build $(SCENARIOS) $(KERNELTESTS) $(PACKAGES) ## scenarios against real peers on a real kernel; RUN=TestRekey for one, LAB=host without the virtual machine
	$(run_lab) -test.v -test.run '$(RUN)'

.PHONY: test
test: ## everything: format, vet, staticcheck, race, fuzz, lab; what is missing is installed
	scripts/test

.PHONY: lint
lint: format vet staticcheck govulncheck ## format, vet, staticcheck, and govulncheck where its database can be reached

.PHONY: format
format:
	@files=$$("$$($(GO) env GOROOT)/bin/gofmt" -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$files" ]; then echo "not formatted (gofmt -w):"; echo "$$files"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...
	$(GO) vet -tags lab ./scripts/... ./xfrm/...

.PHONY: staticcheck
staticcheck:
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(STATICCHECK) -tags lab ./scripts/... ./xfrm/...

.PHONY: govulncheck
govulncheck:
	@GO=$(GO) scripts/govulncheck $(GOVULNCHECK)

.PHONY: unit
unit:
	CGO_ENABLED=1 GORACE='suppressions=$(CURDIR)/scripts/race-suppressions' $(GO) test -race ./...

# Deterministic runs on one goroutine each, in which the race detector would find nothing.
.PHONY: simulator
simulator: ## the IKE simulator with SEEDS (20000) random networks, and every single fault in every collision
	IKETEST_SEEDS=$(SEEDS) $(GO) test -timeout 40m -run '$(SIMULATED)' ./ike ./ike/iketest

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s) each
	@GO=$(GO) scripts/fuzz $(FUZZTIME)

.PHONY: bench
bench: ## benchmarks of every package that has some
	$(GO) test -run '^$$' -bench . -benchmem $$(grep -rlE --include='*_test.go' '^func Benchmark' . | xargs -r -n1 dirname | sort -u)

.PHONY: deb
deb: ## Debian packages in build/deb, for DEBARCH (amd64 and arm64)
	@GO=$(GO) scripts/deb/build $(DEBARCH)

.PHONY: clean
clean: ## remove build/ and the lab's cache
	rm -rf build
	scripts/lab/lab clean
