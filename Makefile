# The front door: `make run` installs what is missing, builds and predicts; `make test` builds and runs every fast test.
CONFIGURED = build/$(1)/build.ninja
BINARY = build/release/foretrain
unexport FORETRAIN_PATH FORETRAIN_EVIDENCE
# Whatever runs whoever builds has measured: pages and tests are of the evidence that comes with the program.
export XDG_DATA_HOME = $(CURDIR)/build/no-runs-of-ones-own
PAGES = .
# Debian's own, which has Debian's packages, even where another comes first.
PYTHON = $(firstword $(wildcard /usr/bin/python3) python3)
SOURCES = $(shell find sim tests cmake calibrate -name "*.[ch]pp" -o -name "*.cu" 2>/dev/null)
FORMAT = -i

.PHONY: help run test test-python wheel static catalogs build format docs left-out judges site page test-page
help:                     ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile

build:
	@tools/install_packages build
	@$(MAKE) --silent $(call CONFIGURED,release)
	@ninja -C build/release foretrain

run: build                ## install missing packages, build, predict ResNet-50 on CSC Mahti
	@$(BINARY) predict mahti-resnet50-ddp

test:                     ## install missing packages, build with assertions, run every fast test
	@tools/install_packages build test
	@$(MAKE) --silent $(call CONFIGURED,dev)
	@ninja -C build/dev
	@ctest --preset dev -j $$(nproc)

test-python: build        ## install PyTorch and torchvision of Debian, run the tests of python/
	@tools/install_packages python
	@ninja -C build/release foretrain_python
	@$(PYTHON) -m unittest discover -s python/tests -t python

wheel: build              ## a Python package that works alone, in build/wheel: for this system, and with auditwheel for others
	@rm -rf build/wheel && python3 -m pip wheel --quiet --no-deps -w build/wheel ./python
	@! command -v auditwheel >/dev/null || { auditwheel repair -w build/wheel/tagged build/wheel/*.whl && mv build/wheel/tagged/*.whl build/wheel; }
	@ls -l build/wheel

static: build             ## the program as one file, catalogs inside, for any Linux of this processor: build/release/one_file/foretrain
	@ninja -C build/release foretrain_one_file
	@ls -l build/release/one_file/foretrain

catalogs: build           ## an archive for `foretrain update-catalogs`: build/foretrain-catalogs-DATE.tar.gz
	@ninja -C build/release foretrain_catalogs
	@gzip -9 -n -c build/release/catalogs/catalogs.tar > build/foretrain-catalogs-$$(cat build/release/catalogs_date.txt).tar.gz && ls build/foretrain-catalogs-*

format:                   ## clang-format over all sources (FORMAT="--dry-run -Werror": only look)
	@tools/install_packages check
	@clang-format $(FORMAT) $(SOURCES)

MEASURED_NETWORKS = $(patsubst %.tar.gz,%,$(wildcard docs/measured/*/networks.tar.gz))
$(MEASURED_NETWORKS): %: %.tar.gz
	@tar -xzf $< -C $(dir $@) && touch $@

# Pages of docs/reference that `foretrain reference TOPIC` prints.
TOPICS = commands scenario cluster model program operators output catalogs constants
topics:                   ## the names of these pages, for .ci/run
	@echo $(TOPICS)

docs: build $(MEASURED_NETWORKS) ## write the reference pages, and the outputs and pictures shown in README.md and docs/, from the program
	@for topic in $(TOPICS); do $(BINARY) reference $$topic > $(PAGES)/docs/reference/$$topic.md || exit 1; done
	@for topic in $$($(BINARY) reference --help | grep -o 'schema/[a-z_]*' | sort -u); do $(BINARY) reference $$topic > $(PAGES)/docs/reference/$$topic.json || exit 1; done
	@$(BINARY) reference typescript > $(PAGES)/web/report/src/reports.ts && $(BINARY) reference python > $(PAGES)/python/foretrain/reports.py
	@PATH=$(CURDIR)/build/release:$$PATH tools/write_outputs $$(find $(PAGES)/README.md $(PAGES)/docs -name '*.md')
	@tests/workshop/lesson_questions.py $(BINARY) $(PAGES) --write
	@FORETRAIN=$(CURDIR)/$(BINARY) $(PYTHON) $(PAGES)/python/tests/test_notebooks.py --write

left-out: build           ## write the tables of docs/accuracy_*.md that leave out clusters, GPUs and sources (some minutes)
	@MARK="left out" PATH=$(CURDIR)/build/release:$$PATH tools/write_outputs docs/accuracy_*.md

judges: build            ## write the table of docs/judges.md from the recorded programs of frameworks beside the project
	@MARK=judged PATH=$(CURDIR)/build/release:$$PATH tools/write_outputs docs/judges.md

site:                     ## the documentation as a searchable site: build/site (the workshop page inside where `make page` built it)
	@tools/install_packages site
	@mkdir -p build && tools/build_site build/site

page:                     ## build both pages (needs node), which are kept in the repository, and build/page: the workshop page for any web space
	@tools/install_packages page wasm
	@cd web && npm ci --no-audit --no-fund && npm run build
	@tools/build_wasm
	@tools/gather_page build/page

test-page: build          ## look at the pages in Chromium: points, knobs, zoom, names, colours, sizes (needs node)
	@tools/install_packages page
	@cd web && npm ci --no-audit --no-fund && node report/test/run.mjs $(CURDIR)/$(BINARY) && node workshop/test/run.mjs $(CURDIR)/$(BINARY)
	@node tests/workshop/wasm_equals_native.mjs $(BINARY) || [ $$? -eq 77 ]

build/%/build.ninja: CMakePresets.json
	@cmake --preset $*
	@touch $@
