#!/bin/sh
# Runs a program, within which, and nowhere else, those for Linux on arm64 are run by QEMU ($1).
# The program's namespaces are its own: `unshare --user --map-root-user --mount sh emulated.sh …`
set -e
emulator=$1
shift
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
# What an ELF file for AArch64 begins with. F: opened now, whatever the program sees of the files later.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
echo ":arm64:M::$magic:$mask:$emulator:F" >/proc/sys/fs/binfmt_misc/register
exec "$@"
