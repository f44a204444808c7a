# Sourced by ./demo, ./test and .ci/run: finds what is missing on this machine and installs it.

# What building needs besides Rust: cmake, a C compiler, make and pkg-config for the engine, libclang for its bindings.
BUILD_PACKAGES="cmake gcc libc6-dev make pkg-config libclang-dev"

say() { printf '%s\n' "$@" >&2; }
die() { say "$@"; exit 1; }

# have PACKAGE: whether it, or what it is wanted for, is there.
have() {
    case $1 in
    libclang-dev)
        [ -n "${LIBCLANG_PATH:-}" ] && return 0
        # Not libclang-cpp, which is another library.
        for place in /usr/lib/llvm-*/lib /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib; do
            for file in "$place"/libclang.so* "$place"/libclang-[0-9]*.so*; do
                [ -e "$file" ] && return 0
            done
        done
        return 1
        ;;
    libc6-dev) [ -e /usr/include/stdio.h ] ;;
    musl-tools) command -v musl-gcc >/dev/null ;;
    busybox-static) command -v busybox >/dev/null && ! ldd "$(command -v busybox)" >/dev/null 2>&1 ;;
    xz-utils) command -v xz >/dev/null ;;
    golang-go) command -v go >/dev/null ;;
    python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    nodejs) command -v node >/dev/null ;;
    qemu-user) command -v qemu-x86_64 >/dev/null ;;
    netpbm) command -v pnmscale >/dev/null ;;
    tesseract-ocr) command -v tesseract >/dev/null ;;
    xvfb) command -v Xvfb >/dev/null ;;
    default-jdk-headless) command -v javac >/dev/null ;;
    tcl) command -v tclsh >/dev/null ;;
    libc6-dbg | libgomp1 | libpython3.11-testsuite | tesseract-ocr-eng | tzdata)
        # Nothing but files: only the package manager knows.
        ! command -v dpkg-query >/dev/null ||
            dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -q '^installed'
        ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# need PACKAGE...: installs those that are missing, or names them and stops.
need() {
    missing=
    for package in "$@"; do
        have "$package" || missing="$missing $package"
    done
    [ -z "$missing" ] && return 0
    command -v apt-get >/dev/null ||
        die "Missing, under their Debian names:$missing" "Install them with your package manager and try again."
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        as_root=sudo
    else
        die "Missing packages:$missing" "Install them as root and try again: apt-get install$missing"
    fi
    say "Installing:$missing"
    # shellcheck disable=SC2086 # lists of words
    {
        $as_root apt-get update -qq || say "apt-get update failed; trying with the lists that are there"
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2 ||
            die "The installation failed. Install by hand and try again: apt-get install$missing"
    }
}

# Rust, from where rustup puts it if the shell does not know yet.
need_cargo() {
    command -v cargo >/dev/null || PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    command -v cargo >/dev/null || die "Missing: a Rust toolchain (cargo). Install one with rustup and try again."
}
