# shellcheck shell=bash
# kernel.sh: the distribution's kernel, made ready to boot in the guest, or with KERNEL_SUITE that of a later Debian.
#
# $KDIR holds vmlinux (or the bzImage, when it cannot be unpacked), initrd.gz
# and root/usr/lib/modules, which the guest sees at its usual place.

# Modules of the initramfs: what it takes to mount the guest's root.
BOOT_MODULES="virtio_mmio virtio_pci virtio_console virtio_rng 9pnet_virtio 9p overlay"

# Parts of the kernel that no guest of ours has hardware for.
UNUSED_DRIVERS="gpu media staging infiniband scsi usb hid iio hwmon mtd input platform isdn i2c ata md mmc net/wireless net/ethernet net/usb net/can"

# kernel_packages: the image's package and, where they are split off, its modules'.
kernel_packages() {
    local image version
    image=$(package_depends linux-image-amd64 'linux-image-[0-9][^ ,]*')
    [ -n "$image" ] || image=$(package_depends linux-image-generic 'linux-image-[0-9][^ ,]*')
    [ -n "$image" ] || return 1
    echo "$image"
    version=${image#linux-image-}
    for image in "linux-modules-$version" "linux-modules-extra-$version"; do
        ! have_package "$image" || echo "$image"
    done
}

# fetch_kernel TMP: the .deb files into TMP/debs.
fetch_kernel() {
    local pkgs
    pkgs=$(kernel_packages) || { apt_update; pkgs=$(kernel_packages); } ||
        die "apt knows neither linux-image-amd64 nor linux-image-generic: the lab runs on Debian and Ubuntu"
    say "fetching ${pkgs//$'\n'/ }"
    # shellcheck disable=SC2086
    apt_fetch "$1/debs" $pkgs
}

# fetch_later_kernel TMP: the same of a later Debian. Its smaller image, for clouds, cannot mount the guest's root: it lacks 9p.
fetch_later_kernel() {
    local pkgs
    [ -n "$(later_mirror)" ] || die "apt here knows no mirror of Debian, where the kernel of $KERNEL_SUITE would come from; LAB_LATER_MIRROR names one"
    say "fetching the kernel of Debian $KERNEL_SUITE"
    later_update "$1/apt" "$KERNEL_SUITE"
    pkgs=$(later_apt "$1/apt" apt-get -s install linux-image-amd64 2>/dev/null |
        awk '$1 == "Inst" && $2 ~ /^linux-(base|binary|image|modules)-[0-9]/ { print $2 }')
    [ -n "$pkgs" ] || die "Debian $KERNEL_SUITE has no installable linux-image-amd64"
    # shellcheck disable=SC2086
    later_fetch "$1/apt" "$1/debs" $pkgs
}

# prepare_kernel: fills $KDIR unless it is there; remakes the initramfs when these scripts are newer.
prepare_kernel() {
    local tmp image
    KDIR=$CACHE/kernel${KERNEL_SUITE:+-$KERNEL_SUITE}
    if [ -e "$KDIR/ready" ]; then
        if [ "$LAB_DIR/lib/kernel.sh" -nt "$KDIR/ready" ] || [ "$LAB_DIR/lib/guest-init" -nt "$KDIR/ready" ]; then
            make_initrd "$KDIR"
            touch "$KDIR/ready"
        fi
        return
    fi
    tmp=$CACHE/tmp.$$
    rm -rf "$tmp"
    mkdir -p "$tmp/root"
    if [ -n "$KERNEL_SUITE" ]; then fetch_later_kernel "$tmp"; else fetch_kernel "$tmp"; fi
    apt_fetch "$tmp/debs" busybox-static
    unpack_debs "$tmp/root" "$tmp"/debs/*.deb
    image=$(compgen -G "$tmp/root/boot/vmlinuz-*" || compgen -G "$tmp/root/usr/lib/modules/*/vmlinuz") # later Debians have it beside the modules
    extract_vmlinux "$image" "$tmp/vmlinux" || mv "$image" "$tmp/vmlinux"
    mv "$tmp/root/usr/bin/busybox" "$tmp/busybox"
    prune_modules "$tmp/root"
    basename "$tmp"/root/usr/lib/modules/* >"$tmp/version"
    depmod -b "$tmp/root" "$(cat "$tmp/version")"
    make_initrd "$tmp"
    rm -rf "$tmp/debs" "$tmp/apt" "$tmp/root/boot" "$image" "$KDIR"
    touch "$tmp/ready"
    mv "$tmp" "$KDIR"
}

prune_modules() {
    local d k
    for k in "$1"/usr/lib/modules/*/kernel; do
        for d in $UNUSED_DRIVERS; do rm -rf "$k/drivers/$d"; done
        rm -rf "$k/sound"
    done
}

# extract_vmlinux BZIMAGE ELF: an ELF kernel boots by PVH at once, while a bzImage unpacks itself, emulated, for ten seconds.
extract_vmlinux() {
    local magic tool offset
    while read -r magic tool; do
        for offset in $(LC_ALL=C grep -aboP "$magic" "$1" | cut -d: -f1 | head -4); do
            # The stream is followed by other data, so that the tool complains: the result decides.
            # shellcheck disable=SC2086
            (set +o pipefail; tail -c "+$((offset + 1))" "$1" | $tool >"$2" 2>/dev/null) || true
            [ "$(head -c 4 "$2" | tail -c 3)" != ELF ] || return 0
        done
    done <<'MAGIC'
\xfd7zXZ\x00 xz -dcq --single-stream
\x28\xb5\x2f\xfd zstd -dcq
\x1f\x8b\x08 gzip -dcq
\x02\x21\x4c\x18 lz4 -dcq
MAGIC
    return 1
}

# make_initrd DIR: busybox, the boot modules in load order, and guest-init.
make_initrd() {
    local k=$1 tree=$1/initrd version m path name
    version=$(cat "$k/version")
    rm -rf "$tree"
    mkdir -p "$tree"/{bin,dev,lib,proc,sys,host,cache,share,upper,newroot}
    cp "$k/busybox" "$tree/bin/busybox"
    for m in $BOOT_MODULES; do
        { modprobe -d "$k/root" -S "$version" --show-depends "$m" 2>/dev/null || true; } |
            awk '$1 == "insmod" { print $2 }'
    done | awk '!seen[$0]++' | while read -r path; do
        name=$(basename "$path")
        case $name in
            *.zst) zstd -dcq "$path" >"$tree/lib/${name%.zst}" ;;
            *.xz) xz -dcq "$path" >"$tree/lib/${name%.xz}" ;;
            *) cp "$path" "$tree/lib/" ;;
        esac
        echo "${name%.ko*}.ko"
    done >"$tree/modules"
    install -m 755 "$LAB_DIR/lib/guest-init" "$tree/init"
    (cd "$tree" && find . | cpio -o -H newc -R 0:0 --quiet) | gzip -1 >"$k/initrd.gz"
}
