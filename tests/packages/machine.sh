#!/bin/sh
# Boots systemd on a copy of this machine's files and runs a scenario there. This machine does not change: the files
# are an overlay in memory, and processes, mounts, names and the network are namespaces of their own.
#
# Usage: unshare --pid --mount --uts --ipc --net --cgroup --fork --kill-child sh machine.sh DIRECTORY
# DIRECTORY has scenario.sh and what it reads, and is /scenario in the machine. The exit code is that of the scenario.
set -eu

scenario=$1
memory=$scenario/memory
mkdir "$memory"
mount -t tmpfs memory "$memory"
mkdir "$memory/upper" "$memory/work" "$memory/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$memory/upper,workdir=$memory/work" "$memory/root"
cd "$memory/root"

mkdir scenario
mount --bind "$scenario" scenario
mount -t proc proc proc
# The kernel is the one of this machine: its settings and devices are only read.
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t tmpfs cgroup sys/fs/cgroup
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs run run
mount -t tmpfs tmp tmp
mount -t tmpfs dev dev
for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs shm dev/shm
ip link set lo up

# Nothing but the scenario starts.
rm -rf etc/systemd/system/*.wants lib/systemd/system/*.wants
: >etc/fstab
cat >etc/systemd/system/scenario.service <<'UNIT'
[Unit]
SuccessAction=exit-force
FailureAction=exit-force

[Service]
Type=oneshot
ExecStart=/bin/sh -eux /scenario/scenario.sh
StandardOutput=append:/scenario/log
StandardError=append:/scenario/log
# A busy machine takes minutes; what hangs ends all the same.
TimeoutStartSec=900
UNIT

# Not chroot: a process in a chroot may not make user namespaces, which the unit asks for.
mkdir outside
pivot_root . outside
umount --lazy /outside
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --unit=scenario.service --show-status=no
