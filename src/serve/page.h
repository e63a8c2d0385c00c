/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The live page: the files page.html, page.css and page.js of this folder, as they were
 * when strata was built. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

extern const char page_html[], page_css[], page_js[]; /* each ends with a NUL */

#endif
