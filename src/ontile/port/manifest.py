# Python modules that every tile has: kept as source text, compiled where they are imported. The Makefile collects them.
freeze_as_str("$(MODULES_DIR)")
