#!/usr/bin/env bash
# Looks for everything that building and running needs, installs what is missing where that takes no question, and
# otherwise ends at once with the one command that mends it. `make` runs it once, and again when this file changes.
set -eo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

say() { echo "setup: $*" >&2; }
mend() { # COMMAND: what the user has to run, and the end
    say "$problem; this mends it:"
    echo "    $1" >&2
    exit 1
}
have() { command -v "$1" >/dev/null; }

mkdir -p target
log=$PWD/target/setup.log
quietly() { "$@" >>"$log" 2>&1; }

# ---- packages of the distribution --------------------------------------------------------------------------------
qemu_major=7 qemu_minor=2

qemu_is_there() {
    local version
    have qemu-system-x86_64 || return 1
    version=$(qemu-system-x86_64 --version | sed -n 's/.*version \([0-9]*\.[0-9]*\).*/\1/p')
    ((${version%.*} > qemu_major || (${version%.*} == qemu_major && ${version#*.} >= qemu_minor)))
}

apt=() dnf=() pacman=() brew=() missing=()
need() { # COMMAND APT DNF PACMAN BREW: the names of the packages that bring it
    missing+=("$1") apt+=("$2") dnf+=("$3") pacman+=("$4") brew+=("$5")
}
look() {
    apt=() dnf=() pacman=() brew=() missing=()
    qemu_is_there || need "QEMU $qemu_major.$qemu_minor" qemu-system-x86 qemu-system-x86 qemu-system-x86 qemu
    have gcc || need gcc gcc gcc gcc gcc
    have musl-gcc || need musl-gcc musl-tools musl-gcc musl filosottile/musl-cross/musl-cross
}

install_packages() {
    local sudo= update=true install
    if have apt-get; then
        update="apt-get update" install="apt-get install -y ${apt[*]}"
    elif have dnf; then
        install="dnf install -y ${dnf[*]}"
    elif have pacman; then
        install="pacman -S --noconfirm --needed ${pacman[*]}"
    elif have brew; then
        install="brew install ${brew[*]}"
    else
        mend "install ${missing[*]} with your system's package manager"
    fi
    if [[ $install != brew* && $(id -u) != 0 ]]; then
        have sudo && sudo -n true 2>/dev/null || mend "sudo $install"
        sudo="sudo -n "
    fi
    say "installing: ${missing[*]} ($install)"
    export DEBIAN_FRONTEND=noninteractive
    # The lists may be old or not there yet; where they cannot be fetched, what is there may do.
    quietly $sudo$update || true
    quietly $sudo$install || { problem="installing failed (see $log)" && mend "$sudo$install"; }
}

look
if [ ${#missing[@]} -gt 0 ]; then
    problem="missing: ${missing[*]}"
    install_packages
    look
    problem="still missing after installing: ${missing[*]}"
    [ ${#missing[@]} = 0 ] || mend "install ${missing[*]} from a newer release of your system"
fi

# ---- Rust: the toolchain, components and targets that rust-toolchain.toml names ----------------------------------
setting() { sed -n "s/^$1 = //p" rust-toolchain.toml | tr -d '[]",'; }
toolchain=$(setting channel)

rust_is_there() {
    local sysroot target component
    sysroot=$(rustc --print sysroot 2>/dev/null) || return 1
    [[ $(rustc --version) = "rustc $toolchain "* ]] || return 1
    for target in $(setting targets); do
        compgen -G "$sysroot/lib/rustlib/$target/lib/libcore-*.rlib" >/dev/null || return 1
    done
    for component in $(setting components); do
        cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || return 1
    done
}

add=(rustup toolchain install "$toolchain" --profile "$(setting profile)")
for component in $(setting components); do add+=(--component "$component"); done
for target in $(setting targets); do add+=(--target "$target"); done

have cargo || PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
if ! rust_is_there; then
    problem="rustup is missing"
    have rustup || mend "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
    say "installing: Rust $toolchain (${add[*]})"
    problem="Rust $toolchain with its targets is not there (see $log)"
    quietly "${add[@]}" && rust_is_there || mend "${add[*]}"
fi
