# Runs a program as PID 1 in a root file system that it may not write to, with no rights, as container
# engines do; to be called in namespaces of its own (unshare --mount --pid --fork).
#
# Usage: sh enter-image.sh ROOT USER GROUP FOLDER [SOURCE=PLACE …] -- [NAME=VALUE …] PROGRAM [ARGUMENT …]
#
# A volume is mounted for reading only.
set -e
root=$1 user=$2 group=$3 folder=$4
shift 4
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o size=64k tmpfs "$root/dev"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
while [ "$1" != -- ]; do
  place=$root${1#*=}
  mkdir -p "$place"
  mount --bind "${1%%=*}" "$place"
  mount -o remount,bind,ro "$place"
  shift
done
shift
mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --reuid="$user" --regid="$group" --clear-groups --no-new-privs \
  --bounding-set=-all --inh-caps=-all --pdeathsig=KILL env -i --chdir="$folder" "$@"
