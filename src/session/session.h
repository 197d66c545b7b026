/*
 * session: the handle behind include/dtrace.h. It owns one of everything (options, types,
 * compiler, probes, engine, consumer) and connects them; it decides nothing about D, DIF or text.
 */
#ifndef DT_SESSION_H
#define DT_SESSION_H

#include "dtrace.h"
#include "base/base.h"
#include "base/options.h"
#include "lang/lang.h"
#include "probe/probe.h"
#include "engine/engine.h"
#include "consume/consume.h"

struct dtrace_hdl {
	dt_options opts;
	dt_types *types;
	dt_probes *probes;
	dt_compiler *cc;
	struct dt_macros macros;
	dt_error err;
	bool libs_loaded;
	DT_VEC(dt_ecb) ecbs;
	const struct dt_engine_ops *engine_ops;
	dt_engine *engine;
	dt_consumer *consumer;
	enum { DT_SESSION_NEW, DT_SESSION_ACTIVE, DT_SESSION_STOPPED } state;
	int wake[2]; /* dtrace_interrupt() */
	dtrace_diag_f *diag;
	void *diag_arg;
};

#endif
