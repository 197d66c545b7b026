/*
 * priv: the kernel's decisions about capabilities of the current thread. lib/priv.d has their
 * names.
 *
 * One function makes all of them. Since Linux 6.14 it has a tracepoint (cap_capable); on older
 * kernels the function is traced, which is called with the capability and returns the decision.
 */
#include "probe/providers/stable.h"

#define WHERE .func = "priv_check", .mod = "kernel", .args = {{0, "int"}}
#define NEEDS .needs = "Linux 6.14 (tracepoint cap_capable) or a kernel whose functions can be traced"

/* cap_capable(cred, target namespace, namespace, capability, result); the function lacks the last but two and the last */
#define DECISION(denied)                                                                           \
	AT(TRACEPOINT, "cap_capable", .when = "(args[4] != 0) == " denied, .arg = {"args[3]"}),              \
	    ELSE(FUNC_RETURN, "cap_capable", .when = "((int)arg1 != 0) == " denied, .arg = {"self->dt_priv_cap"})
#define CAPABILITY                                                                                 \
	UNLESS(TRACEPOINT, "cap_capable"), ELSE(FUNC_ENTRY, "cap_capable", .when = "(self->dt_priv_cap = arg2, 0)")

static const dt_stable_probe rows[] = {
    {"priv-ok", WHERE, NEEDS, .sites = SITES(CAPABILITY, DECISION("0"))},
    {"priv-err", WHERE, NEEDS, .sites = SITES(CAPABILITY, DECISION("1"))},
};

DT_STABLE_PROVIDER(priv, "priv", rows, DT_STABLE_FBSD);
