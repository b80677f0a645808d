#!/usr/bin/env bash
# Boots the kernel in QEMU and runs one static program of the host's inside it. Every emulator flag of the project
# stands here and nowhere else; the watch over QEMU (archive, console, time-out, exit status) is `harness run`.
set -eo pipefail

usage() {
    cat <<'TEXT'
usage: ./qemu-run.sh [options] [--] [PROGRAM [ARG...]]

Boots the kernel, runs PROGRAM (a static ELF file of the host) as its first program with the console on stdin and
stdout, and exits with its exit status. Without PROGRAM: the demonstration.

  --cpus N            number of CPUs (2)
  --mem SIZE          memory of the machine, as QEMU writes sizes (1G)
  --icount            deterministic virtual time: one instruction, one nanosecond; the clock starts at a fixed date
  --timeout SECONDS   end the machine after so long, with status 124 (0: never); building does not count
  --gdb               wait for a debugger; the command that attaches one is printed
  --append OPTIONS    options of the kernel, such as strace or verbose
  --file HOSTFILE     put a file into the guest's root folder as /BASENAME (repeatable)
  --accel kvm|tcg     default: KVM where it can be opened, else TCG
  --cpu MODEL         CPU model (TCG: max, KVM: host)
  --log FILE          keep the kernel's log in FILE
  --verbose           the kernel's log on the console too
  --help              this text

Status: the program's own; 128+N where signal N ended it; 124 time-out; 125 kernel panic; 126 where QEMU or the CPU
lacks something; 2 for a mistake on the command line. On a terminal, Ctrl-A x ends the machine.
Environment: TALLY_PROFILE=debug runs the kernel with every check on; TALLY_PREBUILT=1 builds nothing first.
TEXT
}

fail() { # STATUS MESSAGE
    echo "qemu-run.sh: $2" >&2
    exit "$1"
}

root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)

# ---- options -----------------------------------------------------------------------------------------------------
cpus=2 memory=1G icount= timeout= gdb= accel= cpu= verbose=
append=() watch=()

while [ $# -gt 0 ]; do
    case $1 in
    --cpus | --mem | --timeout | --append | --file | --accel | --cpu | --log)
        [ $# -ge 2 ] || fail 2 "$1 needs a value"
        option=$1 value=$2
        shift 2
        ;;
    --cpus=* | --mem=* | --timeout=* | --append=* | --file=* | --accel=* | --cpu=* | --log=*)
        option=${1%%=*} value=${1#*=}
        shift
        ;;
    --icount | --gdb | --verbose | --help | -h)
        option=$1 value=
        shift
        ;;
    --)
        shift
        break
        ;;
    -*) fail 2 "unknown option: $1 (--help lists them)" ;;
    *) break ;;
    esac
    case $option in
    --cpus) cpus=$value ;;
    --mem) memory=$value ;;
    --timeout) timeout=$value ;;
    --append) append+=("$value") ;;
    --file) watch+=(--file "$value") ;;
    --accel) accel=$value ;;
    --cpu) cpu=$value ;;
    --log) watch+=(--log "$value") ;;
    --icount) icount=1 ;;
    --gdb) gdb=1 ;;
    --verbose) verbose=1 ;;
    --help | -h) usage && exit 0 ;;
    esac
done

[[ $cpus =~ ^[1-9][0-9]{0,2}$ ]] || fail 2 "--cpus: not a number of CPUs: $cpus"
[[ $memory =~ ^[1-9][0-9]*[kKMGT]?$ ]] || fail 2 "--mem: not a size: $memory"
[[ -z $timeout || $timeout =~ ^[0-9]+(\.[0-9]+)?$ ]] || fail 2 "--timeout: not a number of seconds: $timeout"
[[ $accel =~ ^(|kvm|tcg)$ ]] || fail 2 "--accel: kvm or tcg, not $accel"
[[ $icount && $accel = kvm ]] && fail 2 "--icount needs --accel tcg"
case ${TALLY_PROFILE:=release} in release | debug) ;; *) fail 2 "TALLY_PROFILE: release or debug" ;; esac

# ---- what is run -------------------------------------------------------------------------------------------------
target=${CARGO_TARGET_DIR:-target}
[[ $target = /* ]] || target=$root/$target
kernel=$target/x86_64-unknown-none/$TALLY_PROFILE/kernel
harness=$target/debug/harness
program=("$@")

build() { # CARGO_ARGUMENT...: in the project's folder, where its settings apply; says something only where it fails
    local output
    output=$(cd -- "$root" && cargo build --quiet "$@" 2>&1) || {
        echo "$output" >&2
        fail 2 "building failed: cargo build $*"
    }
}
if [ "${TALLY_PREBUILT:-}" != 1 ]; then
    command -v cargo >/dev/null || fail 2 "cargo not found; 'make setup' finds or installs what is needed"
    [ "$TALLY_PROFILE" = debug ] && profile=dev || profile=release
    build --profile $profile -p kernel --target x86_64-unknown-none
    build -p harness
    [ $# -gt 0 ] || build --release -p programs --bin demo --target x86_64-unknown-linux-musl
fi
for file in "$kernel" "$harness"; do
    [ -e "$file" ] || fail 2 "not built: $file"
done
[ $# -gt 0 ] || program=("$target/x86_64-unknown-linux-musl/release/demo")

# ---- the machine -------------------------------------------------------------------------------------------------
command -v qemu-system-x86_64 >/dev/null ||
    fail 126 "qemu-system-x86_64 not found; 'make setup' finds or installs what is needed"

# KVM without virtualisation in the CPU is some nested stand-in, which does not know every instruction.
if [ -z "$accel" ]; then
    accel=tcg
    [ -z "$icount" ] && (: <>/dev/kvm) 2>/dev/null && grep -qwE 'vmx|svm' /proc/cpuinfo && accel=kvm
fi

machine=(
    -machine pc -nodefaults -no-user-config -display none -no-reboot
    -m "$memory" -smp "$cpus"
    -kernel "$kernel" -initrd root.cpio
    # The console.
    -chardev stdio,id=console,signal=off,mux=off -serial chardev:console
    # The kernel's log, and how the first program ended.
    -chardev file,id=log,path=log -device isa-debugcon,iobase=0xe9,chardev=log
    -chardev file,id=outcome,path=outcome -device isa-debugcon,iobase=0xea,chardev=outcome
    # A panic, or a machine that the kernel cannot run on, ends QEMU with its own status.
    -device isa-debug-exit,iobase=0xf4,iosize=4
)
# qboot hands over to the kernel after 63 thousand instructions; SeaBIOS, which does without it, after millions.
for folder in "$(dirname -- "$(command -v qemu-system-x86_64)")"/../share/{qemu,qboot}; do
    if [ -e "$folder/qboot.rom" ]; then
        machine+=(-bios "$folder/qboot.rom")
        break
    fi
done
if [ "$icount" ]; then
    # Nothing of the host's may reach the guest: neither its time nor its randomness.
    machine+=(-accel tcg -icount shift=0,sleep=off -rtc base=2026-01-01T00:00:00,clock=vm -seed 1)
    watch+=(--environ TALLY_ICOUNT=1)
elif [ "$accel" = tcg ]; then
    machine+=(-accel tcg,thread=multi)
else
    machine+=(-accel kvm)
fi
if [ "$accel" = kvm ]; then machine+=(-cpu "${cpu:-host}"); else machine+=(-cpu "${cpu:-max}"); fi

if [ -t 0 ]; then
    append+=(console=tty)
    watch+=(--terminal)
else
    append+=(console=pipe)
fi
[ "$verbose" ] && append+=(verbose)
machine+=(-append "${append[*]}")

if [ "$gdb" ]; then
    machine+=(-s -S)
    echo "qemu-run.sh: waiting for: gdb -ex 'target remote :1234' $kernel" >&2
fi
[ "$timeout" ] && watch+=(--timeout "$timeout")

exec "$harness" run --kernel "$kernel" "${watch[@]}" "${machine[@]/#/--qemu=}" -- "${program[@]}"
