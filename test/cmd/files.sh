# Valid and invalid script files.
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
says() { # expected output, printf text of the script
	printf "$2" >a.d
	dt -q -s a.d
	expect "0 $1 " "$status $(echo $out) $err" "$2"
}
fails_with() { # expected message, file
	dt -q -s "$2"
	expect "1 dtrace: $1" "$status $err"
}
says 1 'BEGIN { printf("1\\n"); exit(0); }'
says 1 'BEGIN\r\n{\r\n\tprintf("1\\n");\r\n\texit(0);\r\n}\r\n'
says 1 '\xef\xbb\xbfBEGIN { printf("1\\n"); exit(0); }\n'
says 2 '\xef\xbb\xbf#!/usr/sbin/dtrace -qs\n#pragma D option quiet\nBEGIN { printf("2\\n"); exit(0); }\n'
says 3 '#!/usr/sbin/dtrace -qs\n\n\n/* nothing */\n\n#pragma ident "x"\nBEGIN { printf("3\\n"); exit(0); }\n\n\n'
says 4 'BEGIN { printf("4\\n"); exit(0); } /* no newline at the end */'
says 5 'BEGIN \\\n{ printf("%%d\\n", 1 + \\\n4); exit(0); }'
says 'ü' 'BEGIN { printf("ü\\n"); exit(0); }'
: >empty.d
fails_with 'failed to compile script empty.d: empty D program translation unit' empty.d
printf '/* only a comment */\n' >comment.d
fails_with 'failed to compile script comment.d: empty D program translation unit' comment.d
fails_with 'failed to compile script .: failed to read the script: Is a directory' .
printf 'BEGIN { trace("a\0b"); }\n' >nul.d
fails_with 'failed to compile script nul.d: line 1: the program contains a NUL byte' nul.d
printf '\n\nBEGIN { trace(“x”); }\n' >quotes.d
fails_with "failed to compile script quotes.d: line 3: invalid character '“': write the plain character '\"'" quotes.d
printf '\n/* not closed\n\n' >open.d
dt -s open.d
expect_match '^dtrace: failed to compile script open.d: line [0-9]+: ' "$err"
ln -s nosuch dangling.d
fails_with 'failed to open dangling.d: No such file or directory' dangling.d
# a pipe works as well
expect "from a pipe" "$(echo $("$DTRACE" -x engine=vm -q -s <(echo 'BEGIN { printf("from a pipe\n"); exit(0); }')))"
