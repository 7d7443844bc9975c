# The front door: `make run` installs what is missing, builds and predicts; `make test` builds and runs every fast test.
CONFIGURED = build/$(1)/build.ninja
BINARY = build/release/foretrain
DOCS = docs/reference
SOURCES = $(shell git ls-files --cached --others --exclude-standard 'sim/*.?pp' 'tests/*.?pp' 'calibrate/*.?pp' 'cmake/*.?pp')

.PHONY: help run test build format docs
help:                     ## print this list
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile

build:
	@tools/install_packages build
	@$(MAKE) --no-print-directory $(call CONFIGURED,release)
	@ninja -C build/release --quiet

run: build                ## install missing packages, build, predict ResNet-50 on CSC Mahti
	@$(BINARY) predict mahti-resnet50-ddp

test:                     ## install missing packages, build with assertions, run every fast test
	@tools/install_packages build test
	@$(MAKE) --no-print-directory $(call CONFIGURED,dev)
	@ninja -C build/dev
	@ctest --preset dev -j $$(nproc)

format:                   ## clang-format over all sources
	@tools/install_packages check
	@clang-format -i $(SOURCES)

docs: build               ## write the reference pages from the program (DOCS=folder: elsewhere)
	@mkdir -p $(DOCS)
	@for topic in commands scenario catalogs; do $(BINARY) reference $$topic > $(DOCS)/$$topic.md || exit 1; done

build/%/build.ninja: CMakePresets.json
	@cmake --preset $*
	@touch $@
