# The Python module against the library of this build: its own tests, the examples, and installing it.
# needs: python3
# uses: root bpf gcc pip
# timeout: 300
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
cd "$TMP" || exit 1
export DTRACE_LIBRARY=$BUILD/libdtrace.so.1 PYTHONPATH=$SRC/bindings/python PYTHONDONTWRITEBYTECODE=1
lacks root >/dev/null && export DTRACE_TEST_KERNEL=no
lacks bpf >/dev/null && export DTRACE_TEST_KERNEL=no
if nm -D "$DTRACE_LIBRARY" | grep -q __asan_init; then # Python itself does not free everything
	LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0
	export LD_PRELOAD ASAN_OPTIONS
fi
/usr/bin/python3 -W error::SyntaxWarning -m unittest discover -s "$SRC/bindings/python/tests" >out 2>&1 || { cat out; count_failure; }
expect_match '^Ran [0-9]+ tests' "$(cat out)"
# an old library is refused, and so is none
expect_match 'ImportError: libdtrace is not found' "$(DTRACE_LIBRARY=/no/such/file /usr/bin/python3 -c 'import dtrace' 2>&1)"
if [ -z "${DTRACE_TEST_KERNEL-}" ]; then
	got=$(/usr/bin/python3 "$SRC/bindings/python/examples/latency.py" true)
	expect_match '^mmap +[0-9]+ calls, none above [0-9]+ ns$' "$got"
fi
# it can be installed
if ! lacks pip >/dev/null; then
	cp -r "$SRC/bindings/python" package
	LD_PRELOAD='' /usr/bin/python3 -m pip install -q --no-index --no-deps --no-build-isolation --root-user-action ignore --target installed ./package >pip.out 2>&1 ||
		{ cat pip.out; count_failure; }
	expect "$TMP/installed/dtrace/__init__.py" "$(PYTHONPATH=installed /usr/bin/python3 -c 'import dtrace; print(dtrace.__file__)')"
fi
