#!/usr/bin/env bash
# fresh.sh FOLDER [SUITE [COMMAND]]: the first steps of the README in a bare Debian, as somebody takes them who has just cloned the repository; or another
# command, in the clone. SUITE is Debian's name of a version: bookworm (12) if none is given, trixie (13). FOLDER gets the system (debootstrap) and a clone of
# what is committed here. Nothing of this machine is seen in it but the network, how this machine reaches package registries, and what compilers made before
# (ccache, ~/.cache/pando). Needs root and debootstrap; says what is missing.
set -euo pipefail
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(realpath -m "${1:?fresh.sh needs a folder}")
suite=${2:-bookworm}
command=${3:-}
system=$folder/debian
mirror=${PANDO_DEBIAN_MIRROR:-http://deb.debian.org/debian}

say() { printf 'fresh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

[ "$(id -u)" = 0 ] || die "it needs root, which debootstrap and chroot ask for"
command -v debootstrap >/dev/null || die "debootstrap is not there (Debian: apt-get install debootstrap)"

# All mounts are of a namespace of this script's own: nothing is left of them when it ends.
if [ -z "${PANDO_FRESH_INSIDE:-}" ]; then
  exec unshare --mount --propagation private -- env PANDO_FRESH_INSIDE=1 bash "${BASH_SOURCE[0]}" "$folder" "$suite" "$command"
fi

mkdir -p "$folder"
if [ "$(cat "$folder/complete" 2>/dev/null)" != "$suite" ]; then
  say "a bare Debian ($suite) in $system"
  rm -rf "$system"
  debootstrap --variant=minbase "$suite" "$system" "$mirror" >"$folder/debootstrap.log" 2>&1 || die "debootstrap failed (see $folder/debootstrap.log)"
  echo "$suite" >"$folder/complete"
fi

mount -t proc proc "$system/proc"
mount --rbind /dev "$system/dev"
cp -L /etc/resolv.conf "$system/etc/resolv.conf"
[ ! -f /etc/hosts ] || cp -L /etc/hosts "$system/etc/hosts"
home=$system/root  # of the user inside
mkdir -p "$home/.cache" "$system/etc/ssl/certs"
apt-config dump 2>/dev/null | grep -E '^Acquire::https?::[Pp]roxy' >"$system/etc/apt/apt.conf.d/80proxy" || true
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$system/etc/pip.conf"
for cache in ccache pando; do
  mkdir -p "$HOME/.cache/$cache" "$home/.cache/$cache"
  mount --bind "$HOME/.cache/$cache" "$home/.cache/$cache"
done

rm -rf "$system/opt/pando"
git clone -q "$source_root" "$system/opt/pando"

# What registries are reached with is this machine's; all else of its environment stays outside.
settings=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb)
while IFS= read -r line; do settings+=("$line"); done < <(env | grep -iE '^(https?_proxy|no_proxy|pip_[a-z_]+|ssl_cert_file|requests_ca_bundle)=' || true)
inside() { env -i "${settings[@]}" chroot "$system" /bin/bash -c "cd /opt/pando && $1"; }
# In a place of its own: the package ca-certificates, when it is installed, writes the usual one.
if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
  cp -L /etc/ssl/certs/ca-certificates.crt "$system/opt/certificates.crt"
  cp -L /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/"
  for name in PIP_CERT SSL_CERT_FILE REQUESTS_CA_BUNDLE; do settings+=("$name=/opt/certificates.crt"); done
fi

began=$SECONDS
if [ -n "$command" ]; then
  inside "$command"
  say "$command: $((SECONDS - began)) s"
  exit
fi
say "./x build, with the packages that it installs"
inside './x build'
say "./x build: $((SECONDS - began)) s"

# The README's programs: the first block of C++, the first of Python, and its lines for a shell.
python3 - "$source_root/README.md" "$system/opt" <<'PYTHON'
import pathlib
import re
import sys

text, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
for language, name in (("cpp", "double.cpp"), ("python", "first.py")):
    (folder / name).write_text(re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1])
lines = re.search(r"^    (source build/prefix/enable\.sh)\n    (g\+\+ .*)$", text, re.MULTILINE)
(folder / "compile.sh").write_text(f"set -e\n{lines[1]}\ncd /opt\n{lines[2]}\n")
PYTHON
said=$(inside 'bash /opt/compile.sh')
grep -q '2 4' <<<"$said" || die "the README's program in C++ printed: $said"
said=$(inside './x python /opt/first.py')
grep -q '\[\[' <<<"$said" || die "the README's program in Python printed: $said"
say "the README's programs run"
inside 'build/bin/pando --version'
