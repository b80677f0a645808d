# What one does with this project. Set-up happens by itself, once; flags of the emulator are in qemu-run.sh, flags of
# the compiler in .cargo/config.toml.
TARGET := $(or $(CARGO_TARGET_DIR),target)
READY := $(TARGET)/setup.done
HARNESS := cargo build --quiet -p harness && $(TARGET)/debug/harness
KERNEL := --target x86_64-unknown-none -p kernel
C_PROGRAMS := $(patsubst tests/programs/c/%.c,$(TARGET)/c/%,$(wildcard tests/programs/c/*.c))
USER := --target x86_64-unknown-linux-musl -p userlib -p programs -p guest
DOC := RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps

# A toolchain that set-up has just installed is not on everyone's path yet.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

.PHONY: help setup build run test test-long miri bench gdb check new-test clean
.DEFAULT_GOAL := help

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS='	' read -r name text; do printf '%-10s %s\n' "$$name" "$$text"; done

setup: ## find or install what is needed (the other targets do it by themselves, once)
	@tests/harness/setup.sh && mkdir -p $(TARGET) && touch $(READY)

$(READY): rust-toolchain.toml tests/harness/setup.sh
	@$(MAKE) --no-print-directory setup

build: $(READY) $(C_PROGRAMS) ## build the kernel, the user programs and the harness
	@cargo build --quiet --release $(KERNEL)
	@cargo build --quiet --release --target x86_64-unknown-linux-musl -p programs
	@cargo build --quiet -p harness

$(TARGET)/c/%: tests/programs/c/%.c $(READY)
	@mkdir -p $(@D)
	@userlib/cc -O2 -Wall -Wextra $< -o $@

run: $(READY) ## run the demonstration, or RUN="[options] PROGRAM [ARG...]", in the kernel
	@./qemu-run.sh $(RUN)

test: $(READY) ## run every test; TEST="--help" tells how to choose
	@$(HARNESS) test $(TEST)

test-long: $(READY) ## every test, with more cases and repetitions, for hours not minutes
	@$(HARNESS) test --long $(TEST)

miri: ## run kcore's tests under Miri, which needs a nightly toolchain and tells how to get it
	@cargo +nightly miri --version >/dev/null 2>&1 || { echo 'Miri is not there; this mends it:' \
	    && echo '    rustup toolchain install nightly --profile minimal --component miri,rust-src'; exit 1; } >&2
	@PROPTEST_CASES=2 MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --quiet -p kcore --lib --test '*' -- --skip loadavg --skip pset --skip sema

bench: $(READY) ## measure, in guest instructions
	@$(HARNESS) bench $(BENCH)

gdb: $(READY) ## run as `make run` does, halted until a debugger attaches
	@./qemu-run.sh --gdb $(RUN)

check: $(READY) ## formatting, lints and documentation, without a warning
	@cargo fmt --all --check
	@cargo clippy --quiet --all-targets -- -D warnings
	@cargo clippy --quiet $(KERNEL) -- -D warnings
	@cargo clippy --quiet --release $(KERNEL) -- -D warnings
	@cargo clippy --quiet --all-targets $(USER) -- -D warnings
	@$(DOC)
	@$(DOC) $(KERNEL)
	@$(DOC) $(USER)

new-test: $(READY) ## a guest test that passes, to start from: NAME=x, and LANG=c for one in C
	@$(HARNESS) new-test $(if $(filter command,$(word 1,$(origin LANG))),--language '$(LANG)') '$(NAME)'

clean: ## remove everything that was built
	@rm -rf $(TARGET)
