# The audit provider: every event, and what its record says.
# timeout: 120
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
watch audit
build calls providers/calls.c

# ---- all of them; the name is the function's ----
ktrace -q -c "$TMP/calls" -n '
	audit:event::commit /pid == $target/ { @[probefunc] = count(); @bad[args[0] == probefunc] = count(); }
	END { printa("%s %@d\n", @); printa("name %d\n", @bad); }'
expect 0 "$status" "$err"
expect "" "$err"
expect "$("$DTRACE" -lP audit | awk 'NR > 1 { print $4 }' | sort)" "$(sed -n 's/^\(aue_[a-z0-9_]*\) .*/\1/p' "$TMP/out" | sort)" "every event"
expect "name 1" "$(grep ^name "$TMP/out")" "names"

# ---- outcome, subject, paths ----
cat >"$TMP/acts" <<A
cd $TMP && mkdir d && : >d/a && mv d/a d/b && chmod 600 d/b && ln -s b d/l && cat d/b d/nothing; rm d/b; rmdir d/nothing
A
ktrace -q -c "bash $TMP/acts" -n '
	audit:::commit /progenyof($target) && strstr(args[1]->ar_arg_upath1, "d/") == args[1]->ar_arg_upath1 && args[1]->ar_arg_upath1 != "d/"/ {
		@[args[0], args[1]->ar_arg_upath1, args[1]->ar_arg_upath2, args[1]->ar_errno, args[1]->ar_retval < 0, args[1]->ar_subj_pid == pid, args[1]->ar_subj_euid] = count(); }
	END { printa("%s %s %s %d %d %d %d\n", @); }'
for line in 'aue_openat d/a  0 0 1 0' 'aue_rename(at)? d/a d/b 0 0 1 0' 'aue_fchmodat d/b  0 0 1 0' 'aue_openat d/nothing  2 1 1 0' \
	'aue_unlink(at)? d/b  0 0 1 0' 'aue_(rmdir|unlinkat) d/nothing  2 1 1 0'; do
	expect_match "^$line\$" "$(cat "$TMP/out")"
done

# ---- a record for the parent only; the path of a program that is not there ----
ktrace -q -c "$TMP/calls" -n 'audit::aue_fork:commit /pid == $target/ { printf("fork %d\n", args[1]->ar_errno); } audit::aue_fork:commit /ppid == $target/ { printf("child\n"); }'
expect "fork 0
fork 22
fork 7" "$(grep . "$TMP/out" | sort)" "fork"
ktrace -q -c "bash -c '/usr/bin/env /nowhere/at/all; true'" -n 'audit::aue_execve:commit /progenyof($target)/ { printf("%s %d\n", args[1]->ar_arg_upath1, args[1]->ar_errno); }'
expect_match "^/nowhere/at/all 2$" "$(cat "$TMP/out")"
expect "args[0]: string
args[1]: audit_record_t *" "$("$DTRACE" -lvn audit::aue_openat:commit | sed -n 's/^.*\(args\[\)/\1/p')" "-lv"
echo "exec mv $TMP/not-there $TMP/d 2>/dev/null" >"$TMP/acts"
fields 'audit:::commit /pid == $target && args[0] == "aue_rename" || pid == $target && args[0] == "aue_renameat"/' -c "bash $TMP/acts" <<T
= audit_record_t args[1]
ar_errno % == ENOENT
ar_retval % == -1
ar_subj_pid % == pid
ar_subj_ruid % == 0
ar_subj_euid % == 0
ar_subj_rgid % == 0
ar_subj_egid % == 0
ar_subj_auid % == $(cat /proc/self/loginuid 2>/dev/null || echo -1)
ar_arg_upath1 % == "$TMP/not-there"
ar_arg_upath2 % == "$TMP/d"
T

fired
