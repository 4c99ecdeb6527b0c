#!/usr/bin/env bash
# Installs the Debian packages that are missing.
#
#   packaging/deps.sh GROUP...      groups: build check e2e
#
# Says nothing when nothing is missing. Needs root, or sudo without a password; otherwise prints the command that a
# person has to run, and fails. Debian 12 and 13.
set -euo pipefail

# What is there counts, not how it came: a program that is on PATH needs no package.
need_program() { # need_program PROGRAM PACKAGE
  command -v "$1" >/dev/null || missing+=("$2")
}

need_package() {
  local package
  for package; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
  done
}

missing=()
for group; do
  case $group in
    build)
      need_program gcc gcc
      need_program make make
      need_program pkg-config pkgconf
      need_package libc6-dev libsodium-dev libsqlite3-dev libpcre2-dev libyaml-dev zlib1g-dev
      ;;
    check)
      need_package libcmocka-dev
      ;;
    e2e)
      need_program node nodejs
      need_program npm npm
      need_program bwrap bubblewrap
      need_program python3 python3
      python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
      ;;
    *)
      echo "packaging/deps.sh: no group '$group'; there are build, check and e2e" >&2
      exit 1
      ;;
  esac
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "packaging/deps.sh: no apt-get here; install what these Debian packages hold: ${missing[*]}" >&2
  exit 1
fi
install=(apt-get install -y --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -eq 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  echo "packaging/deps.sh: these packages are missing, and installing them needs root. Run:" >&2
  echo "  sudo apt-get update && sudo ${install[*]}" >&2
  exit 1
fi

echo "installing: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() { # quiet unless it fails
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    echo "packaging/deps.sh: failed: $*" >&2
    exit 1
  }
}
run apt-get update
run "${install[@]}"
