# -Z: args[] of a probe that this kernel lacks are known where the provider is a table; of others they are not.
# needs: btf
. "$SRC/test/lib.bash"
compiles() {
	dt -Z -e -n "$1"
	expect "0 " "$status $err" "$1"
}
compiles 'vfs::vop_mkdir:entry { trace(args[0]->i_ino); trace(args[1]->d_name.len); }'
compiles 'vfs:vop::return { trace(args[2]); }'
compiles 'vfs:namei:lookup:entry { trace(strlen(args[1])); }'
compiles 'fsinfo:::read { trace(args[0]->fi_pathname); trace(*args[0]); trace(args[1]); }'
compiles 'sctp:::send { trace(args[4]->sctp_sport); }'
dt -Z -qn 'vfs::vop_mkdir:nosuch { trace(arg0); } BEGIN { exit(3); }'
expect "3 " "$status $err" "a probe that no table has"
mistake() { # TAG TEXT
	dt -Z -e -x errtags -n "$2"
	expect_match "\[$1\]" "$err"
}
mistake D_ARGS_IDX 'vfs::vop_mkdir:entry { trace(args[2]); }'
mistake D_ARGS_MULTI 'vfs::: { trace(args[0]); }'
mistake D_ARGS_MULTI 'nosuch:::x { trace(args[0]); }'
mistake D_ARGS_MULTI 'vfs::vop_mkdir:nosuch { trace(args[0]); }'
mistake D_XLATE_NOCONV 'fsinfo:::read { trace(args[0]->nosuch); }'
