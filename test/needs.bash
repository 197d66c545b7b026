# What tests need besides dtrace, and whether this machine has it. test/run reads this file.
#
# A test names its needs in a comment at its top: "# needs: root bpf gcc"; without them it is skipped. "# uses: strace"
# names what only part of it needs: without it, that part is skipped. Every name must be in the table below. A
# name with a function has_NAME (letters other than a-z, 0-9 as _) is there if that succeeds; what it prints
# is the reason why not. Every other name is a command.

NEEDS=()
declare -A NEED_PACKAGE NEED_MEANING
need() { # name, Debian package (in brackets: large, ./quickstart test does not install it; -: none), meaning
	NEEDS+=("$1")
	NEED_PACKAGE[$1]=$2 NEED_MEANING[$1]=$3
}

# the machine and its kernel
need root - "run as root"
need nobody - "root, and user nobody can run this dtrace (not so below /root)"
need bpf - "the kernel lets dtrace load BPF programs"
need btf - "the kernel's type information, /sys/kernel/btf/vmlinux"
need kprobes - "kernel functions can be traced: kprobes or fentry"
need kallsyms - "addresses of kernel symbols are visible"
need mountns - "mount namespaces"
need netns - "network namespaces"
need x86-64 - "the CPU is an x86-64"
need fast - "not an emulated machine (SLOW is not set)"
# compilers
need gcc build-essential "C compiler"
need g++ build-essential "C++ compiler"
need cpp cpp "C preprocessor"
need readelf binutils "ELF files as text"
need 32-bit gcc-multilib "gcc makes 32-bit programs, and they run"
need clang "(clang)" "another C compiler"
need go "(golang-go)" "Go compiler"
need rustc "(rustc)" "Rust compiler"
need cargo "(cargo)" "builds Rust crates"
need dwz dwz "compresses debug information"
# programs that are traced or compared with
need python3 python3 "/usr/bin/python3"
need pip "(python3-pip python3-wheel)" "installs Python packages"
need gdb gdb "debugger"
need strace strace "traces system calls"
need man man-db "shows manual pages"
need redis redis-tools "a server to trace"
need nats-server nats-server "carries messages between machines"
need libnats libnats-dev "the library for it"
need postgres "(postgresql)" "a server to trace"
need node "(nodejs)" "a JIT compiler"
need java "(default-jdk-headless)" "a JIT compiler"
need openssl openssl "makes certificates"
need nspawn "(systemd-container)" "systemd-nspawn, which runs containers"
need systemd-analyze "(systemd)" "checks units"
# tools
need jq jq "reads JSON"
need jsonschema python3-jsonschema "validates JSON"
need ip iproute2 "sets up network interfaces"
need tshark "(tshark)" "describes packets"
need losetup mount "loop devices"
need mkfs.ext4 e2fsprogs "makes file systems"
need setfattr attr "sets attributes of files"
need setcap libcap2-bin "capabilities of files"
need make build-essential "runs the Makefile"
need pgrep procps "finds processes"
need taskset util-linux "binds a process to a CPU"
need script bsdutils "runs a command on a terminal"
need fish fish "a shell, for its completion"
need zsh zsh "a shell, for its completion"
need chromium chromium "a browser"
need microhttpd libmicrohttpd-dev "a library for HTTP, and its header"
need prometheus-client python3-prometheus-client "reads the format of Prometheus"
need services netbase "/etc/services"

has_root() { [ "$(id -u)" = 0 ]; }
has_nobody() {
	has_root || { echo "not root"; return 1; }
	# a shell first: setpriv itself may still enter directories that are closed to nobody
	setpriv --reuid=nobody --regid=nogroup --clear-groups sh -c '"$1" -V' sh "$DTRACE" >/dev/null 2>&1 || { echo "user nobody cannot run $DTRACE"; return 1; }
}
has_bpf() {
	local said
	said=$("$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' 2>&1 >/dev/null) && return
	echo "no BPF here: ${said##*$'\n'}"
	return 1
}
has_btf() { [ -r /sys/kernel/btf/vmlinux ]; }
has_kprobes() {
	local said
	said=$("$DTRACE" -x engine=bpf -ln fbt::vfs_read:entry 2>&1 >/dev/null) && return
	echo "${said#dtrace: failed to match fbt::vfs_read:entry: }"
	return 1
}
has_kallsyms() { grep -qE '^0*[1-9a-f][0-9a-f]* . _stext$' /proc/kallsyms; }
has_nspawn() { command -v systemd-nspawn >/dev/null || { echo "no systemd-nspawn"; return 1; }; }
has_mountns() { unshare -m true 2>&1; }
has_netns() { unshare -n true 2>&1; }
has_x86_64() { [ "$(uname -m)" = x86_64 ]; }
has_fast() { [ "${SLOW:-1}" = 1 ]; }
has_32_bit() {
	local program status
	program=$(mktemp) || return
	echo 'int main(void) { return 0; }' | gcc -m32 -x c -o "$program" - 2>/dev/null && "$program"
	status=$?
	rm -f "$program"
	return $status
}
has_ip() { command -v ip >/dev/null || busybox ip -V >/dev/null 2>&1; }
has_python3() { [ -x /usr/bin/python3 ]; }
has_jsonschema() { /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; }
has_pip() { /usr/bin/python3 -c 'import setuptools, wheel, pip' 2>/dev/null; }
has_redis() { [ -x /usr/bin/redis-check-rdb ] && command -v redis-cli >/dev/null; } # the server by another name
has_nats_server() { PATH=$PATH:/usr/sbin command -v nats-server >/dev/null; }
has_libnats() { ldconfig -p | grep -q 'libnats\.so'; }
has_postgres() { compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null; }
has_java() { command -v javac >/dev/null; }
has_rustc() { command -v rustc >/dev/null || [ -x /root/.cargo/bin/rustc ]; }
has_prometheus_client() { /usr/bin/python3 -c 'import prometheus_client.parser' 2>/dev/null; }
has_cargo() { command -v cargo >/dev/null || [ -x /root/.cargo/bin/cargo ]; }
has_microhttpd() { [ -e /usr/include/microhttpd.h ] && /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libmicrohttpd.so.12")' 2>/dev/null; }
has_services() { getent services ssh >/dev/null; }

# lacks NAME: succeeds if it is not there, and prints why
lacks() {
	local check=has_${1//[^a-z0-9]/_} why=
	if [ "$(type -t "$check")" = function ]; then
		why=$($check | head -n 1; exit "${PIPESTATUS[0]}") && return 1
	else
		command -v "$1" >/dev/null && return 1
	fi
	why=${why:-needs $1: ${NEED_MEANING[$1]}}
	[ "${NEED_PACKAGE[$1]}" = - ] || why="$why (package ${NEED_PACKAGE[$1]//[()]/})"
	echo "$why"
}
