/*
 * privilege: may this process trace, and if not, what would allow it.
 *
 * The advice is a command line that works as printed: it names this program by its path, and is
 * given only where file capabilities are effective. They are not on a file system mounted with
 * nosuid, nor for a process with no_new_privs (containers, systemd services).
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "kernel/privilege.h"

/* Numbers of capabilities(7), also for headers that are older than the kernel. */
enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

bool dt_privilege_has(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[capability / 32].effective >> capability % 32 & 1;
}

bool dt_privilege_to_trace(void)
{
	return dt_privilege_has(SYS_ADMIN) || (dt_privilege_has(PERFMON) && dt_privilege_has(BPF));
}

/* A path for a shell: unchanged, or quoted. False: it has characters that must not be printed. */
static bool shell_word(const char *path, char *to, size_t n)
{
	bool plain = true;

	for (const char *p = path; *p; p++) {
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f || *p == '\'')
			return false;
		plain = plain && (strchr("/._-+,=:@%", *p) || (*p >= '0' && *p <= '9') ||
				  (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z'));
	}
	return snprintf(to, n, plain ? "%s" : "'%s'", path) < (int)n;
}

void dt_privilege_advice(char *to, size_t n)
{
	static const char needs[] = "this needs root, or the capabilities CAP_BPF and CAP_PERFMON";
	char path[512], word[520];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct statvfs fs;

	path[len > 0 ? len : 0] = 0;
	if (dt_privilege_to_trace())
		snprintf(to, n,
			 "%s, which count neither in a user namespace (a container) nor where a "
			 "security module or "
			 "perf_event_paranoid forbids it",
			 needs);
	else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		snprintf(
		    to, n,
		    "%s (this process was started without the right to gain any: no_new_privs)",
		    needs);
	else if (len <= 0 || !shell_word(path, word, sizeof(word)) || statvfs(path, &fs) < 0)
		snprintf(to, n, "%s (setcap cap_bpf,cap_perfmon+ep on the program)", needs);
	else if (fs.f_flag & ST_NOSUID)
		snprintf(to, n,
			 "%s (which setcap cannot give %s: its file system is mounted with nosuid)",
			 needs, word);
	else
		snprintf(to, n, "%s (sudo setcap cap_bpf,cap_perfmon+ep %s)", needs, word);
}
