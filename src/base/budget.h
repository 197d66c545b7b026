/*
 * budget: limits on what is read, kept and done for untrusted files and processes.
 *
 * The tracer runs as root and reads programs of other users: their ELF files, debug information,
 * perf maps and names. All of these can be crafted to cost far more than real ones. Every limit on
 * such data is here, each well above what real programs need (in brackets: the largest that is
 * known), so that together they bound memory and time. Data beyond a limit is ignored;
 * doc/security.md says what the user sees.
 *
 * In addition, work on foreign data checks a dt_stop regularly (base.h), so that a second interrupt
 * always ends it.
 */
#ifndef DT_BASE_BUDGET_H
#define DT_BASE_BUDGET_H

#include <stdint.h>

#define DT_KB(n) ((uint64_t)(n) << 10)
#define DT_MB(n) ((uint64_t)(n) << 20)
#define DT_GB(n) ((uint64_t)(n) << 30)

/* ---- one ELF file ---- */
#define DT_MAX_ELF_FILE	     DT_GB(16)	/* a browser with debug information (5 GB) */
#define DT_MAX_ELF_SECTIONS  100000	/* (40) */
#define DT_MAX_ELF_SEGMENTS  256	/* that are loaded (10) */
#define DT_MAX_ELF_STRINGS   DT_MB(256) /* .strtab of a browser (200 MB) */
#define DT_MAX_ELF_SYMBOLS   4000000	/* (2 million) */
#define DT_MAX_ELF_NAME	     16384	/* bytes of a symbol's name; longer ones are left out */
#define DT_MAX_ELF_UNWIND    DT_MB(64)	/* .eh_frame (30 MB) */
#define DT_MAX_ELF_RELA	     DT_MB(64)
#define DT_MAX_ELF_NOTE	     DT_MB(16)
#define DT_MAX_ELF_PLT	     DT_MB(16)
#define DT_MAX_ELF_DYNAMIC   DT_MB(1)
#define DT_MAX_ELF_NEEDED    1000	/* libraries (200) */
#define DT_MAX_ELF_DEBUG     DT_GB(1)	/* a section of DWARF or CTF, decompressed */
#define DT_MAX_ELF_OTHER     DT_MB(64)
#define DT_MAX_ELF_HOLE	     DT_MB(16)	/* a larger section must have its bytes on the disk */
#define DT_MAX_ELF_CHECKSUM  DT_GB(4)	/* of a debug file that is found by checksum */
#define DT_MAX_MINIDEBUG     DT_MB(64)	/* decompressed, and what the decoder may use */
#define DT_MAX_PROBE_NOTES   10000	/* static probes in one file (300) */
#define DT_MAX_NAMES_TIMES   4		/* total length of symbol names, as a multiple of their table */

#define DT_MAX_FILE_NOTES    8		/* messages about data that is not read, per session */

/* ---- names ---- */
#define DT_MAX_MANGLED	 4096  /* bytes */
#define DT_MAX_DEMANGLED 16384 /* templates can explode */

/* ---- perf maps ---- */
#define DT_MAX_PERFMAP_FILE DT_MB(64) /* read of one (node: 20 MB); what follows is not read */
#define DT_MAX_PERFMAP_NAME 4096

/* ---- what is kept of all processes; the least recently used is forgotten first ---- */
#define DT_MAX_SYMBOL_MEMORY DT_MB(128) /* symbol tables and perf maps */
#define DT_MAX_OPEN_OBJECTS  128	/* that keep their file open */
#define DT_MAX_SHOWN_NAMES   65536
#define DT_MAX_SHOWN_MEMORY  DT_MB(32)
#define DT_MAX_FILES	     16384 /* that processes map (some hundred on a busy system) */
#define DT_MAX_FILE_PATHS    DT_MB(16)
#define DT_MAX_KEPT_FILES    4096  /* of processes whose names will be needed: forgotten last ... */
#define DT_MAX_KEPT_FILES_OF 512   /* ... of one of them */
#define DT_MAX_ROOTS	     64	   /* directories of containers; a descriptor each */
#define DT_MAX_IMAGES	     6	   /* programs that one process number has run */
#define DT_MAX_MAPS	     4096  /* mappings of one program */
#define DT_MAX_EXITED	     65536 /* processes */
#define DT_MAX_CODE_PAGES    (1u << 20) /* of one file in one process that are looked at before probes are put there (a browser: 60,000) */
#define DT_MAX_CODE_COPIES   16 /* mappings of one such page (dlmopen(): 16) */

/* ---- the process that reads all of these (jail/jail.h) ---- */
#define DT_MAX_READER_MEMORY DT_GB(4)	/* of addresses, beyond what it begins with */
#define DT_MAX_READER_ANSWER DT_MB(512) /* symbols of a browser (250 MB) */
#define DT_MAX_READER_CPU    20		/* seconds for one question (2 s) */
#define DT_MAX_READER_TYPES  120	/* the same for one about types (a name that is not in 5 GB: 50 s) */
#define DT_MAX_READER_WAIT   300	/* seconds for an answer, whatever it waits for itself */
#define DT_MAX_READER_LIFE   600	/* seconds of CPU time; halfway through it is replaced */
#define DT_MAX_KNOWN_ANSWERS 256	/* of it that are kept for the next question */
#define DT_MAX_KNOWN_ANSWER  DT_KB(16)
#define DT_MAX_BAD_FILES     4096	/* that it died of, remembered */

/* ---- other machines of a session (fleet/one_target.h): each of them, whatever it says ---- */
#define DT_MAX_TARGETS	      4096	     /* connections */
#define DT_MAX_MACHINES	      (1u << 24)     /* numbers of them: each connection and each machine behind a relay has a new one */
#define DT_MAX_TARGET_TIMES   64	     /* what is kept for one, as a multiple of aggsize and bufsize: see doc/fleet.md */
#define DT_MAX_TARGET_NAMES   DT_MB(64)      /* besides: probes and names of addresses (100,000 probes: 30 MB) */
#define DT_MAX_RELAY_TIMES    16	     /* a relay may have that many times as much */
#define DT_MAX_TARGETS_PART   2		     /* all of them may have that part of the memory of this machine: 1/2 */
#define DT_MAX_TARGET_EPID    (1u << 20)     /* clauses on probes (100,000) */
#define DT_MAX_TARGET_CPUS    8192
#define DT_MAX_TARGET_NOTES   100	     /* messages at once ... */
#define DT_MAX_TARGET_NOTE_NS 100000000	     /* ... and one more in that time */
#define DT_MAX_TARGET_NAMED   (1u << 20)     /* probes in one list; times that a relay names machines */
#define DT_MAX_TARGET_SHOWN   4096	     /* durable sessions in one list (256) */
#define DT_MAX_STREAMS	      65536	     /* that a NATS server names, of durable sessions */
#define DT_MAX_TARGET_UNREAD  DT_MB(64)	     /* that it does not read */
#define DT_MAX_TARGET_ANSWER  4		     /* times targetwait, until it has said who it is */
#define DT_MAX_TARGET_WORK    UINT64_C(480000000000) /* ns until it has enabled a program, or listed its probes */
#define DT_MAX_TARGET_WAIT    UINT64_C(120000000000) /* ns until it has begun or ended to trace */

/* ---- one front of an agent (session/agent.c) ---- */
#define DT_MAX_FRONT_PROGRAMS 256	 /* that it sends */
#define DT_MAX_FRONT_MEMORY   DT_MB(512) /* of the agent's process when it takes another one (one program: up to 80 MB) */

/* ---- D libraries ---- */
#define DT_MAX_LIBRARY DT_MB(16)

#endif
