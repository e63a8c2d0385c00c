#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Counts on a real kernel with a PMU that is emulated: builds tests/vm/guest.c with src/pmu
# for AArch64, boots it with Debian's kernel in qemu, and shows what it says.
#
#     tests/vm/run.sh            from the root of the project; lines `ok - ...`, `not ok - ...`
#     tests/vm/run.sh NAME N     the same with tests/vm/NAME.c, on N processors
#
# Exit status 77 and a line `skip: ...` where a program for it is not installed or the kernel
# cannot be had, and only there: a machine that does not come to its end in VM_SECONDS (500)
# is a failure. Instructions are its clock, so that a busy host changes nothing else.
#
# The kernel is fetched with apt into BUILD/vm, by settings of its own that leave the system's
# packages alone, and kept there; STRATA_VM_KERNEL names another.

build=${BUILD:-build}/vm
CC=${CROSS_CC:-aarch64-linux-gnu-gcc}
seconds=${VM_SECONDS:-500}
guest=${1:-guest} processors=${2:-1}

skip() {
    echo "skip: $1"
    exit 77
}
for tool in qemu-system-aarch64 "$CC" cpio gzip; do
    command -v "$tool" >/dev/null 2>&1 || skip "$tool is not installed"
done
mkdir -p "$build" || exit 1
build=$(cd "$build" && pwd)

# fetch: leaves $build/vmlinuz
fetch() {
    command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || return 1
    apt=$build/apt
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" || return 1
    : >"$apt/state/status"
    set -- -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State="$apt/state" -o Dir::State::status="$apt/state/status" \
        -o Dir::Cache="$apt/cache" -o Acquire::Languages=none -o Debug::NoLocking=1 \
        -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20
    apt-get "$@" update >"$build/apt.log" 2>&1 || return 1
    package=$(apt-cache "$@" depends linux-image-cloud-arm64 2>>"$build/apt.log" |
        sed -n 's/.*Depends: *//p' | head -n 1)
    [ -n "$package" ] || return 1
    (cd "$apt" && apt-get "$@" download "$package") >>"$build/apt.log" 2>&1 || return 1
    for file in "$apt"/"$package"_*.deb; do
        dpkg-deb -x "$file" "$apt/files" || return 1
    done
    cp "$apt"/files/boot/vmlinuz-* "$build/vmlinuz.new" || return 1
    rm -rf "$apt"
    mv "$build/vmlinuz.new" "$build/vmlinuz"
}
kernel=${STRATA_VM_KERNEL:-$build/vmlinuz}
[ -e "$kernel" ] || fetch || skip 'the kernel package for ARM cannot be had'

# What the guests call, but for what needs a library: Debian has those for the own processor
# only.
sources=$(find src/pmu src/core src/host src/machine src/serve src/sim src/refs src/run \
    src/dataset src/analyze src/counting src/probe src/inspect -name '*.c' \
    -exec grep -LE '^#include <(perfmon|hwloc|ini|jansson|microhttpd)' {} +)

# shellcheck disable=SC2086 # a list of files
"$CC" -static -O2 -std=gnu17 -D_GNU_SOURCE -DSTRATA_VERSION='"vm"' -Wall -Iinclude -Isrc \
    -ffunction-sections -Wl,--gc-sections "tests/vm/$guest.c" $sources \
    -o "$build/$guest" -lm -lpthread 2>"$build/cc.log" ||
    { cat "$build/cc.log"; echo 'not ok - vm: compiling the guest'; exit 1; }

rm -rf "$build/root"
mkdir -p "$build/root/metrics" "$build/root/dev" || exit 1
cp "$build/$guest" "$build/root/init"
cp metrics/* "$build/root/metrics"
(cd "$build/root" && find . | cpio -o -H newc 2>/dev/null) | gzip >"$build/initrd.gz"

# -icount makes instructions the clock, without which the PMU has no event for them.
timeout "$seconds" qemu-system-aarch64 -M virt -cpu neoverse-n1 -icount shift=0 \
    -smp "$processors" -m 256 -nic none -nographic -no-reboot -kernel "$kernel" \
    -initrd "$build/initrd.gz" -append 'console=ttyAMA0 quiet panic=-1' \
    </dev/null >"$build/console" 2>&1
tr -d '\r' <"$build/console" | grep -E '^(ok|not ok) - '
if ! grep -q 'vm: done' "$build/console"; then
    echo 'not ok - vm: it did not come to its end'
    tail -n 20 "$build/console"
    exit 1
fi
! grep -q '^not ok' "$build/console"
