# SPDX-License-Identifier: GPL-3.0-or-later
# The dashboard's files that become a part of the program: the description of
# its API, and its page, compressed.
OPENAPI := dashboard/api/openapi
WEB     := dashboard/web
PAGE    := $(basename $(wildcard $(WEB)/dist/*.gz))

$(BUILD)/$(OPENAPI).o $(SANITIZED)/$(OPENAPI).o: dashboard/schemas.json

%/dashboard/page_files.c: dashboard/embed $(WEB)/dist $(PAGE) $(PAGE:=.gz)
	@mkdir -p $(@D)
	$(quiet)dashboard/embed $(PAGE) >$@.part && mv $@.part $@
%/dashboard/page_files.o: %/dashboard/page_files.c %/flags
	$(compile)

# The page of the dashboard; the built page is committed (tests/lint/web).
web: $(WEB)/node_modules/.package-lock.json ## build the dashboard's page anew, with npm
	@cd $(WEB) && node_modules/.bin/tsc --noEmit && node build.mjs
web-test: $(WEB)/node_modules/.package-lock.json ## test the page's parts that need no browser
	@cd $(WEB) && node test.mjs
$(WEB)/node_modules/.package-lock.json: $(WEB)/package-lock.json
	@$(WEB)/install

.PHONY: web web-test
