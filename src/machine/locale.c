/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C locale for the calling thread alone; machine/locale.h says why. */
#include "machine/locale.h"

#include "core/fail.h"

int c_locale_enter(struct c_locale *locale, struct strata_error *error)
{
    locale->own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale->own)
        return fail(error, STRATA_FAILED, "out of memory");
    locale->before = uselocale(locale->own);
    return STRATA_OK;
}

void c_locale_leave(struct c_locale *locale)
{
    uselocale(locale->before);
    freelocale(locale->own);
}
