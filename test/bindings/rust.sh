# The Rust crate against the library of this build: its tests, the example, no warnings.
# needs: cargo gcc fast
# uses: root bpf
# timeout: 400
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
cp -r "$SRC/bindings/rust" "$TMP/rust" && cd "$TMP/rust" || exit 1
PATH=/usr/bin:$PATH:/root/.cargo/bin # Debian's if there is one
export CARGO_TARGET_DIR=$TMP/target DTRACE_LIB_DIR=$BUILD RUSTFLAGS=-Dwarnings CARGO_NET_OFFLINE=true
if sanitized; then
	RUSTFLAGS+=" -Clink-arg=-Wl,--allow-shlib-undefined"
	export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="env LD_PRELOAD=$(gcc -print-file-name=libasan.so)"
fi
printf '#include <unistd.h>\nint main(void)\n{\n\tgetppid();\n\treturn 0;\n}\n' >"$TMP/lines.c"
gcc -g -O0 -o "$TMP/lines" "$TMP/lines.c" && export DTRACE_TEST_LINES=$TMP/lines
# AddressSanitizer of gcc 12 does not release the locks of its malloc in the child of a fork(), as the C library does. In a
# program with threads, the process that reads symbols could wait for one forever, so only the interpreter is used then.
{ sanitized || lacks root || lacks bpf; } >/dev/null && export DTRACE_TEST_KERNEL=no
cargo test >"$TMP/out" 2>&1 || { cat "$TMP/out"; count_failure; }
expect_match '^test result: ok. 6 passed' "$(cat "$TMP/out")"
expect "" "$(grep -rln unsafe examples tests)" "unsafe outside of src"
if [ -z "${DTRACE_TEST_KERNEL-}" ]; then
	got=$(cargo run -q --example calls true)
	expect_match '^exit_group +1$' "$got"
fi
