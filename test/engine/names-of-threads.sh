# execname is the name of the process, threadname that of the thread, in keys, predicates and records.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
cat >"$TMP/t.c" <<'EOT'
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <sys/syscall.h>
static void *work(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	usleep(10000);
	for (int i = 0; i < 7; i++)
		syscall(SYS_getppid);
	return arg;
}
int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	syscall(SYS_getppid);
	return 0;
}
EOT
gcc -O1 -pthread -o "$TMP/leader" "$TMP/t.c" || exit 1
ktrace -q -c "$TMP/leader" -n '
	syscall::getppid:entry /pid == $target/ { @[execname, threadname] = count(); }
	syscall::getppid:entry /pid == $target && execname == "leader"/ { @named["process"] = count(); }
	syscall::getppid:entry /pid == $target && threadname == "worker"/ { @named["thread"] = count(); }
	syscall::getppid:entry /pid == $target && !self->once/ { self->once = 1; printf("%s %s %s %d\n", execname, threadname, curpsinfo->pr_fname, strlen(execname)); }
	sched:::on-cpu /pid == $target && threadname == "worker"/ { @on[execname] = count(); }
	END { printa("%s %s %@d\n", @); printa("by %s %@d\n", @named); printa("on-cpu as %s\n", @on); }'
expect 0 "$status" "$err"
expect "by process 8
by thread 7
leader leader 1
leader leader leader 6
leader worker 7
leader worker leader 6
on-cpu as leader" "$(grep . "$TMP/out" | sort)"
# A call that a signal interrupts: errno is what the program sees.
cat >"$TMP/interrupt" <<'S'
sleep 100 &
until grep -q '^Name:.sleep' /proc/$!/status && grep -q '^State:.S' /proc/$!/status; do :; done
kill -USR1 $!
wait
S
ktrace -q -c "sh $TMP/interrupt" -n '
	syscall::*nanosleep:return /progenyof($target) && arg1 < 0/ { @[errno == EINTR, arg1 == -ERESTART_RESTARTBLOCK || arg1 == -ERESTARTNOHAND] = count(); }
	END { printa("%d %d %@d\n", @); }'
expect "1 1 1" "$(grep . "$TMP/out")"
exit "${fails:-0}"
