/*
 * sched.d: CPUs as DTrace describes them. curcpu is the one that the probe fires on.
 */
#pragma D depends_on library procfs.d
#pragma D depends_on library cpu.d

typedef struct processor_info {
	int pi_state;		/* P_* */
	string pi_processor_type;
	string pi_fputypes;
	int pi_clock;		/* MHz */
} processor_info_t;

inline int P_OFFLINE = 1;
inline int P_ONLINE = 2;

typedef struct cpuinfo {
	processorid_t cpu_id;
	psetid_t cpu_pset;
	chipid_t cpu_chip;	/* the package it is in */
	lgrp_id_t cpu_lgrp;	/* the memory node it is near */
	processor_info_t cpu_info;
} cpuinfo_t;

translator processor_info_t < int C > {
	pi_state = P_ONLINE;
	pi_processor_type = __cpu_type;
	pi_fputypes = __cpu_fputypes;
	pi_clock = __cpu_mhz;
};

translator cpuinfo_t < int C > {
	cpu_id = C;
	cpu_pset = 0;
	cpu_chip = __cpu_chip[C];
	cpu_lgrp = __cpu_node[C];
	cpu_info = xlate < processor_info_t > (C);
};

inline cpuinfo_t *curcpu = xlate < cpuinfo_t * > (cpu);
#pragma D attributes Stable/Stable/Common curcpu
inline psetid_t pset = curcpu->cpu_pset;
inline chipid_t chip = curcpu->cpu_chip;
inline lgrp_id_t lgrp = curcpu->cpu_lgrp;
#pragma D attributes Stable/Stable/Common pset
#pragma D attributes Stable/Stable/Common chip
#pragma D attributes Stable/Stable/Common lgrp
