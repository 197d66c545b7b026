/*
 * priv.d: the capabilities of Linux by name, as reported by priv:::priv-ok and priv:::priv-err.
 */

inline int CAP_CHOWN = 0;
inline int CAP_DAC_OVERRIDE = 1;
inline int CAP_DAC_READ_SEARCH = 2;
inline int CAP_FOWNER = 3;
inline int CAP_FSETID = 4;
inline int CAP_KILL = 5;
inline int CAP_SETGID = 6;
inline int CAP_SETUID = 7;
inline int CAP_SETPCAP = 8;
inline int CAP_LINUX_IMMUTABLE = 9;
inline int CAP_NET_BIND_SERVICE = 10;
inline int CAP_NET_BROADCAST = 11;
inline int CAP_NET_ADMIN = 12;
inline int CAP_NET_RAW = 13;
inline int CAP_IPC_LOCK = 14;
inline int CAP_IPC_OWNER = 15;
inline int CAP_SYS_MODULE = 16;
inline int CAP_SYS_RAWIO = 17;
inline int CAP_SYS_CHROOT = 18;
inline int CAP_SYS_PTRACE = 19;
inline int CAP_SYS_PACCT = 20;
inline int CAP_SYS_ADMIN = 21;
inline int CAP_SYS_BOOT = 22;
inline int CAP_SYS_NICE = 23;
inline int CAP_SYS_RESOURCE = 24;
inline int CAP_SYS_TIME = 25;
inline int CAP_SYS_TTY_CONFIG = 26;
inline int CAP_MKNOD = 27;
inline int CAP_LEASE = 28;
inline int CAP_AUDIT_WRITE = 29;
inline int CAP_AUDIT_CONTROL = 30;
inline int CAP_SETFCAP = 31;
inline int CAP_MAC_OVERRIDE = 32;
inline int CAP_MAC_ADMIN = 33;
inline int CAP_SYSLOG = 34;
inline int CAP_WAKE_ALARM = 35;
inline int CAP_BLOCK_SUSPEND = 36;
inline int CAP_AUDIT_READ = 37;
inline int CAP_PERFMON = 38;
inline int CAP_BPF = 39;
inline int CAP_CHECKPOINT_RESTORE = 40;
