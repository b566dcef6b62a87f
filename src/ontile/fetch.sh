#!/usr/bin/env bash
# fetch.sh FOLDER: the sources of MicroPython, from Debian's source package, as FOLDER. Does nothing if they are there.
# Debian 12 has no such package, Debian 13 does: apt gets it with lists and caches of its own, and checks its signature.
set -euo pipefail
version=1.25.0+ds-1
to=$1
[ -f "$to/.version-$version" ] && exit 0
work=$to.download
rm -rf "$work" "$to"
mkdir -p "$work"/lists/partial "$work"/cache/archives/partial "$work"/etc/preferences.d "$(dirname "$to")"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" >"$work/etc/sources.list"
: >"$work/status"
apt=(apt-get -q -o "Dir::State=$work" -o "Dir::State::lists=$work/lists" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
  -o "Dir::Etc=$work/etc" -o "Dir::Etc::sourcelist=$work/etc/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "APT::Sandbox::User=$(id -un)")
cd "$work"
"${apt[@]}" update
"${apt[@]}" source --download-only "micropython=$version"
dpkg-source --no-check -x "micropython_$version.dsc" "$work/tree"
mv "$work/tree" "$to"
: >"$to/.version-$version"
rm -rf "$work"
