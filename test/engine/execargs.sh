# execargs and pr_psargs in the middle of an exec: the arguments have no end yet, and the environment follows them.
# needs: root bpf
. "$SRC/test/lib.bash"
cat >"$TMP/loop.sh" <<'EOT'
for i in 1 2 3 4 5; do /bin/true one two; done
EOT
MARK=$(printf 'environment%.0s' {1..40})
export MARK
cat >"$TMP/args.d" <<'EOT'
syscall::execve:entry /progenyof($target)/ { self->in = 1; }
syscall::execve:return { self->in = 0; }
sdt:kmem::mm_page_alloc, sdt:kmem::kmem_cache_alloc /self->in/
{
	this->args = execargs;
	this->ps = curpsinfo->pr_psargs;
	@[strstr(this->args, "environment") != NULL || strstr(this->ps, "environment") != NULL] = count();
	@unknown[this->args == ""] = count();
	@length[curpsinfo->pr_arglen < 0] = count();
}
syscall::exit_group:entry /progenyof($target) && execname == "true"/ { @last[execargs, curpsinfo->pr_psargs] = count(); }
END { printa("leak %d\n", @); printa("length %d\n", @length); printa("<%s> <%s> %@d\n", @last); printa("unknown %d\n", @unknown); }
EOT
ktrace -qs "$TMP/args.d" -c "sh $TMP/loop.sh"
expect "leak 0" "$(grep leak "$TMP/out")" "$err"
expect "length 0" "$(grep length "$TMP/out")"
expect "</bin/true one two> </bin/true one two> 5" "$(grep '<' "$TMP/out")"
expect "unknown 0
unknown 1" "$(grep unknown "$TMP/out" | sort)" "the moment that this is about did not come"
expect "" "$err"
