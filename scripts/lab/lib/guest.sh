# shellcheck shell=bash
# guest.sh: a run in the virtual machine.

guest_prepare() {
    [ "$(dpkg --print-architecture)" = amd64 ] || die "the guest is an amd64 machine on the host's files: the host must be amd64 too"
    local missing=()
    command -v qemu-system-x86_64 >/dev/null || missing+=(qemu-system-x86)
    command -v cpio >/dev/null || missing+=(cpio)
    command -v depmod >/dev/null || missing+=(kmod)
    command -v xz >/dev/null || missing+=(xz-utils)
    command -v zstd >/dev/null || missing+=(zstd)
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
    mkdir -p "$CACHE"
    exec {lock}>"$CACHE/lock"
    flock "$lock"
    prepare_kernel
    prepare_layer
    prepare_charon6
    exec {lock}>&-
}

# write_command PROGRAM ARGS...: what guest-boot runs.
write_command() {
    local e
    echo '#!/bin/bash'
    echo 'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LAB_GUEST=1 LAB_SHARE=/run/lab LAB_CHARON6=/opt/charon6'
    for e in "${ENVIRON[@]}"; do printf 'export %q\n' "$e"; done
    printf 'cd %q || exit 125\n' "$PWD"
    echo "exec$(printf ' %q' "$@")"
}

guest_run() {
    local prog keep=1 out rc qemu_rc=0
    prog=$(find_program "$1")
    shift
    if [ -z "$SHARE" ]; then
        SHARE=$(mktemp -d "${TMPDIR:-/tmp}/lab.XXXXXX")
        keep=
    fi
    mkdir -p "$SHARE/.lab"
    SHARE=$(realpath -- "$SHARE")
    rm -f "$SHARE/.lab/rc"
    write_command "$prog" "$@" >"$SHARE/.lab/cmd"
    cp "$LAB_DIR/lib/guest-boot" "$SHARE/.lab/boot"

    # QEMU writes the guest's output into this pipe; cat ends when QEMU does.
    exec {out}> >(exec cat)
    local cat_pid=$!
    start_qemu "$out" &
    local qemu_pid=$!
    # shellcheck disable=SC2064
    trap "kill $qemu_pid 2>/dev/null || true; exit 143" INT TERM HUP
    wait $qemu_pid || qemu_rc=$?
    trap - INT TERM HUP
    exec {out}>&-
    wait $cat_pid || true

    rc=$(cat "$SHARE/.lab/rc" 2>/dev/null || true)
    if [ -z "$rc" ] && grep -q 'Kernel panic' "$SHARE/.lab/console"; then
        say "the guest's kernel died:"
        sed -n '/BUG:\|Oops:\|Kernel panic/,$p' "$SHARE/.lab/console" | head -200 >&2
        exit 123
    elif [ -z "$rc" ]; then
        if [ $qemu_rc = 124 ] || [ $qemu_rc = 137 ]; then
            rc=124
            say "time limit of $TIMEOUT s reached"
        else
            rc=125
            say "the guest ended without a status (qemu: $qemu_rc)"
        fi
        cat "$SHARE/.lab/qemu" >&2
        tail -20 "$SHARE/.lab/console" >&2 || true
    elif [ -n "$VERBOSE" ]; then
        say "guest was up $(cat "$SHARE/.lab/uptime") s after power-on"
        tail -20 "$SHARE/.lab/console" >&2
    fi
    [ -n "$keep" ] || rm -rf "$SHARE"
    exit "$rc"
}

# A kernel that locks up says where, on every processor, and ends: otherwise it would wait for the time limit.
ON_LOCKUP="panic=-1 oops=panic softlockup_panic=1 sysctl.kernel.softlockup_all_cpu_backtrace=1 sysctl.kernel.watchdog_thresh=30"

# start_qemu FD: becomes QEMU; the guest's output goes to file descriptor FD.
start_qemu() {
    local layers=${LAYER##*/}:${CHARON6_LAYER##*/}:${KDIR##*/}/root
    local virtfs=security_model=none,multidevs=remap
    exec timeout -k 5 "$TIMEOUT" qemu-system-x86_64 \
        -nodefaults -no-user-config -no-reboot -display none \
        -M q35 -accel tcg,thread=multi,tb-size=256 -cpu max -smp "$SMP" -m "$MEM" \
        -kernel "$KDIR/vmlinux" -initrd "$KDIR/initrd.gz" \
        -append "console=ttyS0 quiet loglevel=4 mitigations=off $ON_LOCKUP lab.layers=$layers" \
        -chardev "file,id=con,path=$SHARE/.lab/console" -serial chardev:con \
        -chardev "file,id=out,path=/dev/fd/$1,append=on" \
        -device virtio-serial-pci -device virtserialport,chardev=out -device virtio-rng-pci \
        -virtfs "local,path=/,mount_tag=hostroot,readonly=on,$virtfs" \
        -virtfs "local,path=$CACHE,mount_tag=labcache,readonly=on,$virtfs" \
        -virtfs "local,path=$SHARE,mount_tag=labshare,$virtfs" \
        </dev/null >"$SHARE/.lab/qemu" 2>&1
}
