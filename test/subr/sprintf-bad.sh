# What sprintf() refuses, with the reason.
. "$SRC/test/lib.bash"
refused() { # arguments, tag, message
	dt -x errtags -n "BEGIN { trace(sprintf($1)); exit(0); }"
	expect 1 "$status" "$1"
	expect_match "\\[$2\\] .*$3" "$err"
}
refused '1' D_PRINTF_ARG_FMT 'must be a format string'
refused '' D_PRINTF_ARG_FMT 'must be a format string'
refused '"%5d", 1' D_PRINTF_ARG_TYPE 'conversion #1: only %d, %i, %u, %x, %#x and %s are possible'
refused '"%d %Y", 1, 2' D_PRINTF_ARG_TYPE 'conversion #2: only'
refused '"%d", "x"' D_PRINTF_ARG_TYPE 'argument #2 is incompatible with %d: it is string'
refused '"%s", 1' D_PRINTF_ARG_TYPE 'argument #2 is incompatible with %s: it is int'
refused '"%d"' D_PRINTF_ARG_PROTO 'conversion #1 needs an argument'
refused '"%d", 1, 2' D_PRINTF_ARG_EXTRA 'more arguments than its format takes'
refused '"%"' D_SYNTAX 'is not complete'
