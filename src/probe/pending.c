/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of the probe that are on their way. */
#include "core/fail.h"
#include "probe/probing.h"
int probe_eviction(struct probing *p) { (void)p; return 0; }
int strata_probed_machine(const struct strata_probed *probed, struct strata_machine *machine,
                          struct strata_error *error)
{ (void)probed; (void)machine; return fail(error, STRATA_UNABLE, "not measured"); }
