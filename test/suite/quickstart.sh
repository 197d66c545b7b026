# quickstart where there is no apt-get: which packages are missing, by the names of the system's package manager.
# needs: root mountns
. "$SRC/test/lib.bash"
mkdir "$TMP/bin" "$TMP/tree"
for c in sh dirname sed sort tr gcc g++ cpp readelf pkg-config nproc; do ln -s "$(command -v $c)" "$TMP/bin/$c"; done
ln -s "/bin/true" "$TMP/bin/make"
cp "$SRC/quickstart" "$TMP/tree/"
# says MANAGER...: its messages on a system that has these managers, no headers, and no make
says() {
	for m in dnf zypper pacman apk; do rm -f "$TMP/bin/$m"; done
	for m; do ln -s "/bin/true" "$TMP/bin/$m"; done
	unshare -m sh -c 'mount -t tmpfs none /usr/include && PATH=$1 exec sh "$2/quickstart" build' sh "$TMP/bin" "$TMP/tree" 2>&1
}
all=" libbpf-dev libelf-dev libdw-dev liblzma-dev libzydis-dev binutils-dev zlib1g-dev libiberty-dev"
first="quickstart: this system has no apt-get. Missing, by the names of Debian's packages:$all"
again="quickstart: then run ./quickstart again. Trying with what is here."
expect "$first
quickstart: as root: dnf install binutils-devel elfutils-devel elfutils-libelf-devel libbpf-devel xz-devel zlib-devel zydis-devel
$again" "$(says dnf)"
expect "$first
quickstart: as root: zypper install binutils-devel libbpf-devel libdw-devel libelf-devel xz-devel zlib-devel zydis-devel
$again" "$(says zypper)"
expect "$first
quickstart: as root: pacman -S --needed binutils libbpf libelf xz zlib zydis
$again" "$(says pacman)"
expect "$first
quickstart: as root: apk add binutils-dev elfutils-dev libbpf-dev xz-dev zlib-dev zydis-dev
$again" "$(says apk)"
expect_match '^quickstart: install what your distribution calls so' "$(says)"
