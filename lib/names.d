/*
 * names.d: names of numbers, for printing: errors, signals, capabilities.
 *
 *    syscall:::return /errno/ { @[probefunc, errno_name[errno]] = count(); }
 *
 * No error, and signal 0, are "0"; a number without a name is "?". Names are substrings of a few
 * long strings, by the number: a condition for each of them would add a path through the program,
 * and the kernel verifies all paths when it is loaded.
 */

inline string errno_name[int E] = E < 0 || E >= 134 ? "?" : strtok(substr(
    E < 15 ? "0               EPERM           ENOENT          ESRCH           EINTR           EIO             ENXIO           E2BIG           ENOEXEC         EBADF           ECHILD          EAGAIN          ENOMEM          EACCES          EFAULT" :
    E < 30 ? "ENOTBLK         EBUSY           EEXIST          EXDEV           ENODEV          ENOTDIR         EISDIR          EINVAL          ENFILE          EMFILE          ENOTTY          ETXTBSY         EFBIG           ENOSPC          ESPIPE" :
    E < 45 ? "EROFS           EMLINK          EPIPE           EDOM            ERANGE          EDEADLK         ENAMETOOLONG    ENOLCK          ENOSYS          ENOTEMPTY       ELOOP           ?               ENOMSG          EIDRM           ECHRNG" :
    E < 60 ? "EL2NSYNC        EL3HLT          EL3RST          ELNRNG          EUNATCH         ENOCSI          EL2HLT          EBADE           EBADR           EXFULL          ENOANO          EBADRQC         EBADSLT         ?               EBFONT" :
    E < 75 ? "ENOSTR          ENODATA         ETIME           ENOSR           ENONET          ENOPKG          EREMOTE         ENOLINK         EADV            ESRMNT          ECOMM           EPROTO          EMULTIHOP       EDOTDOT         EBADMSG" :
    E < 90 ? "EOVERFLOW       ENOTUNIQ        EBADFD          EREMCHG         ELIBACC         ELIBBAD         ELIBSCN         ELIBMAX         ELIBEXEC        EILSEQ          ERESTART        ESTRPIPE        EUSERS          ENOTSOCK        EDESTADDRREQ" :
    E < 105 ? "EMSGSIZE        EPROTOTYPE      ENOPROTOOPT     EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP      EPFNOSUPPORT    EAFNOSUPPORT    EADDRINUSE      EADDRNOTAVAIL   ENETDOWN        ENETUNREACH     ENETRESET       ECONNABORTED    ECONNRESET" :
    E < 120 ? "ENOBUFS         EISCONN         ENOTCONN        ESHUTDOWN       ETOOMANYREFS    ETIMEDOUT       ECONNREFUSED    EHOSTDOWN       EHOSTUNREACH    EALREADY        EINPROGRESS     ESTALE          EUCLEAN         ENOTNAM         ENAVAIL" :
    "EISNAM          EREMOTEIO       EDQUOT          ENOMEDIUM       EMEDIUMTYPE     ECANCELED       ENOKEY          EKEYEXPIRED     EKEYREVOKED     EKEYREJECTED    EOWNERDEAD      ENOTRECOVERABLE ERFKILL         EHWPOISON",
    E % 15 * 16, 16), " ");

inline string signal_name[int S] = S < 0 || S >= 32 ? "?" : strtok(substr(
    S < 16 ? "0         SIGHUP    SIGINT    SIGQUIT   SIGILL    SIGTRAP   SIGABRT   SIGBUS    SIGFPE    SIGKILL   SIGUSR1   SIGSEGV   SIGUSR2   SIGPIPE   SIGALRM   SIGTERM" :
    "SIGSTKFLT SIGCHLD   SIGCONT   SIGSTOP   SIGTSTP   SIGTTIN   SIGTTOU   SIGURG    SIGXCPU   SIGXFSZ   SIGVTALRM SIGPROF   SIGWINCH  SIGIO     SIGPWR    SIGSYS",
    S % 16 * 10, 10), " ");

inline string cap_name[int C] = C < 0 || C >= 41 ? "?" : strtok(substr(
    C < 10 ? "CAP_CHOWN               CAP_DAC_OVERRIDE        CAP_DAC_READ_SEARCH     CAP_FOWNER              CAP_FSETID              CAP_KILL                CAP_SETGID              CAP_SETUID              CAP_SETPCAP             CAP_LINUX_IMMUTABLE" :
    C < 20 ? "CAP_NET_BIND_SERVICE    CAP_NET_BROADCAST       CAP_NET_ADMIN           CAP_NET_RAW             CAP_IPC_LOCK            CAP_IPC_OWNER           CAP_SYS_MODULE          CAP_SYS_RAWIO           CAP_SYS_CHROOT          CAP_SYS_PTRACE" :
    C < 30 ? "CAP_SYS_PACCT           CAP_SYS_ADMIN           CAP_SYS_BOOT            CAP_SYS_NICE            CAP_SYS_RESOURCE        CAP_SYS_TIME            CAP_SYS_TTY_CONFIG      CAP_MKNOD               CAP_LEASE               CAP_AUDIT_WRITE" :
    C < 40 ? "CAP_AUDIT_CONTROL       CAP_SETFCAP             CAP_MAC_OVERRIDE        CAP_MAC_ADMIN           CAP_SYSLOG              CAP_WAKE_ALARM          CAP_BLOCK_SUSPEND       CAP_AUDIT_READ          CAP_PERFMON             CAP_BPF" :
    "CAP_CHECKPOINT_RESTORE",
    C % 10 * 24, 24), " ");
