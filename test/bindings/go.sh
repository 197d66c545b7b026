# The Go module against the library of this build: its tests under the race detector (under AddressSanitizer, if the library is), vet,
# the example.
# needs: go gcc fast
# uses: root bpf
# timeout: 400
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
cp -r "$SRC/bindings/go" "$TMP/go" && cd "$TMP/go" || exit 1
PATH=/usr/bin:$PATH # Debian's if there is one
export HOME=$TMP GOCACHE=$TMP/cache GOPATH=$TMP/path GOFLAGS=-mod=mod GOPROXY=off CGO_CFLAGS=-I$SRC/include
export CGO_LDFLAGS="-L$BUILD -Wl,-rpath,$BUILD"
printf '#include <unistd.h>\nint main(void)\n{\n\tgetppid();\n\treturn 0;\n}\n' >"$TMP/lines.c"
gcc -g -O0 -o "$TMP/lines" "$TMP/lines.c" && export DTRACE_TEST_LINES=$TMP/lines
# AddressSanitizer of gcc 12 does not release the locks of its malloc in the child of a fork(), as the C library does. In a
# program with threads, the process that reads symbols could wait for one forever, so only the interpreter is used then.
{ sanitized || lacks root || lacks bpf; } >/dev/null && export DTRACE_TEST_KERNEL=no
expect "" "$(gofmt -l . 2>&1)" gofmt
go vet ./... || count_failure
check=-race
sanitized && check=-asan
go test $check ./... >"$TMP/out" 2>&1 || { cat "$TMP/out"; count_failure; }
expect_match '^ok' "$(cat "$TMP/out")"
if [ -z "${DTRACE_TEST_KERNEL-}" ]; then
	[ $check = -race ] && check=
	got=$(go run $check ./examples/calls true)
	expect_match '^exit_group +1$' "$got"
fi
