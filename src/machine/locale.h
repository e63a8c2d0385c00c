/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers in machine files have a decimal point, whatever the user's language: the
 * calling thread is in the C locale between c_locale_enter() and c_locale_leave(). */
#ifndef MACHINE_LOCALE_H
#define MACHINE_LOCALE_H

#include <locale.h>
#include <strata/error.h>

struct c_locale {
    locale_t own, before;
};

int c_locale_enter(struct c_locale *locale, struct strata_error *error);
void c_locale_leave(struct c_locale *locale);

#endif
