# -x knodefs: a kernel symbol without an address is an error, even where addresses are hidden.
. "$SRC/test/lib.bash"
dt -e -x errtags -x knodefs -n 'BEGIN { trace(`no_such_symbol_at_all); }'
expect_match 'D_IDENT_UNDEF|D_ASRELO' "$err"
expect 1 "$status"
