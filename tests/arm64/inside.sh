#!/usr/bin/env bash
# inside.sh SYSTEM COMMAND [ARGUMENTS]: runs a command where the programs of the Debian for 64-bit Arm in the folder SYSTEM run, too: the kernel starts
# qemu for them, `chroot SYSTEM` makes that Debian theirs, and the repository, which is the current folder, lies in it at the same path. All of this
# is seen by the command alone: mounts and the emulator are of namespaces of its own. Needs root or user namespaces, and Linux 6.7, or a kernel that
# knows qemu-aarch64 already (Debian: qemu-user-static with binfmt-support).
set -euo pipefail
system=$(realpath "${1:?inside.sh needs the folder of a system}")
shift
here=$(pwd)

die() { printf 'arm64: %s\n' "$*" >&2; exit 1; }

qemu=$(command -v qemu-aarch64-static) || die "qemu-aarch64-static is not there (Debian: apt-get install qemu-user-static)"
if [ -z "${PANDO_ARM64_INSIDE:-}" ]; then
  exec unshare --user --map-root-user --mount -- env PANDO_ARM64_INSIDE=1 bash "${BASH_SOURCE[0]}" "$system" "$@"
fi

# The file is opened now, so that it serves in another root, too (F). ELF of 64 bits for this processor: programs and libraries.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
binfmt=/proc/sys/fs/binfmt_misc
if mount -t binfmt_misc binfmt_misc "$binfmt" 2>/dev/null && [ ! -e "$binfmt/pando-arm64" ]; then
  printf '%s' ":pando-arm64:M::$magic:$mask:$qemu:F" >"$binfmt/register" 2>/dev/null || true
fi
mkdir -p "$system/proc" "$system/dev" "$system$here"
mount --rbind /proc "$system/proc"
mount --rbind /dev "$system/dev"
mount --rbind "$here" "$system$here"
chroot "$system" /bin/true 2>/dev/null ||
  die "this kernel does not start programs for 64-bit Arm: it is $(uname -r); 6.7 was expected, or qemu-aarch64 in $binfmt (Debian: binfmt-support)"
cp -L /etc/resolv.conf "$system/etc/resolv.conf"
[ ! -f /etc/hosts ] || cp -L /etc/hosts "$system/etc/hosts"
[ ! -f /etc/pip.conf ] || cp -L /etc/pip.conf "$system/etc/pip.conf"
mkdir -p "$system/etc/ssl/certs"
[ ! -f /etc/ssl/certs/ca-certificates.crt ] || cp -L /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/"
exec "$@"
