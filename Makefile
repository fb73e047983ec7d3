# The few commands a person types; the build itself is CMake (CMakePresets.json).
#
#   make          build/weir, optimised           make deps     install what is missing
#   make demo     build, run, leave a report      make test     everything that is checked
#   make bench    the numbers                     make lint     style and static analysis
#   make soak     long fuzzing and properties     make install PREFIX=/usr/local
#   make fresh    the README's commands on pristine machines, Debian 12 and 13
#   make deb      Debian packages in build/deb    make dist     the source as a tarball in build/dist
#   make bench-scale  threads, sizes, and a projection
#   make site     all pages as a static site in build/site
PREFIX ?= /usr/local
SOAK_SECONDS ?= 600

all:
	@tools/build release product

deps:
	@tools/deps build core opt test clang docs

demo:
	@tools/deps build core opt docs
	@tools/build release product
	@tools/demo

test: deps
	@tools/test

bench:
	@tools/deps build core opt bench
	@tools/build check all benches
	@tools/bench

# Threads, sizes and what would be on more machines; some minutes, and 4 GB for a million terminals.
bench-scale:
	@tools/deps build core opt bench
	@tools/build check all benches
	@tools/bench scale

lint:
	@tools/deps build core opt test clang lint
	@tools/lint

soak: deps
	@tools/soak $(SOAK_SECONDS)

# FRESH names releases and stages, all of them without; tools/fresh says which there are.
fresh:
	@tools/deps fresh
	@tools/fresh $(FRESH)

# Exact outputs, rewritten with what the program prints now; read the difference.
golden: all
	@tools/golden --update build/weir tests/golden/*.txt

# Of the committed tree, as a tarball has it.
deb:
	@tools/deps build core opt docs deb
	@tools/deb

dist:
	@tools/dist

# All pages with search, for a browser; no network is needed.
site:
	@tools/deps site
	@tools/site build/site

install: all
	@cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build demo

.PHONY: all deps demo test bench bench-scale lint soak fresh golden deb dist site install clean
