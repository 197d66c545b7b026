# Formats that are refused, and the messages.
. "$SRC/test/lib.bash"
refused() { # format and arguments, tag, message
	dt -x errtags -qn "BEGIN { printf($1); }"
	expect "dtrace: invalid probe specifier BEGIN { printf($1); }: [$2] in action list: $3" "$err"
}
refused '"%z", 1' D_SYNTAX 'format conversion #1 is unknown: %z'
refused '"a %d b %", 1' D_SYNTAX 'format conversion #2 is not complete: the format ends in it'
refused '"%1$d", 1' D_SYNTAX 'format conversion #1 names its argument by position (%n$), which D does not do'
refused '"%5%"' D_SYNTAX 'format conversion #1 is a %% with flags or a size'
refused '"%hs", "x"' D_SYNTAX 'format conversion #1 is unknown: %hs (that size cannot be given)'
refused '"%99999999d", 1' D_SYNTAX 'format conversion #1 has a width over 65535'
refused '"%d"' D_PRINTF_ARG_PROTO 'printf( ) conversion #1 (%d) needs argument #2, which is missing'
refused '"%d", 1, 2' D_PRINTF_ARG_EXTRA 'printf( ) has 2 arguments after the format, but the format takes 1'
refused '"%d", "x"' D_PRINTF_ARG_TYPE 'printf( ) argument #2 is incompatible with conversion #1: %d takes an integer, got string'
refused '"%ld", 1' D_PRINTF_ARG_TYPE 'printf( ) argument #2 is incompatible with conversion #1: %ld takes a signed integer of that size, got int'
refused '"%P", 1' D_PRINTF_ARG_TYPE 'printf( ) argument #2 is incompatible with conversion #1: %P takes a uint16_t, got int'
refused '"%Y", 1' D_PRINTF_ARG_TYPE 'printf( ) argument #2 is incompatible with conversion #1: %Y takes a 64-bit integer, got int'
refused '"%C", 1LL' D_PRINTF_ARG_TYPE 'printf( ) argument #2 is incompatible with conversion #1: %C takes an integer of at most 32 bits, got long long'
refused '"%*d", "x", 1' D_PRINTF_DYN_TYPE 'printf( ) conversion #1 has a dynamic width (*): argument #2 must be an integer, not string'
refused '"%.*d"' D_PRINTF_DYN_PROTO 'printf( ) conversion #1 has a dynamic precision (*), but there is no argument #2 for it'
refused '"%@d"' D_PRINTF_AGG_CONV 'printf( ) conversion #1: %@ is an aggregation'"'"'s value and only printa( ) has one'
refused '""' D_PRINTF_FMT_EMPTY 'printf( ) has an empty format'
refused '"%b", 1' D_PRINTF_ARG_TYPE 'printf( ) argument #2 is incompatible with conversion #1: %b takes an enum, got int'
refused '"%D", "x"' D_PRINTF_ARG_TYPE 'printf( ) argument #2 is incompatible with conversion #1: %D takes an integer, got string'
refused '"%N", 1' D_PRINTF_ARG_TYPE 'printf( ) argument #2 is incompatible with conversion #1: %N takes no argument (%@N is the number of keys of a printa( )), got int'
refused '"%.99q", 1' D_PRINTF_ARG_TYPE 'printf( ) argument #2 is incompatible with conversion #1: %q takes an aggregation of the quantize family, as in %@.99q, got int'
