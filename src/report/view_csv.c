/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A view as CSV: a heading of keys, then the rows, by RFC 4180 but for the plain newline
 * at the end of a line. */
#include "report/csv.h"
#include "report/view_report.h"

#include <inttypes.h>

static void print_value(FILE *out, const struct value *value, enum column_type type)
{
    if (!value->known)
        return;
    if (type == COLUMN_TEXT)
        csv_text(out, value->text);
    else if (type == COLUMN_COUNT || type == COLUMN_ID)
        fprintf(out, "%" PRIu64, value->count);
    else
        fprintf(out, "%.10g", value->number);
}

void view_csv(FILE *out, const struct view *view)
{
    const struct table *table = &view->rows;
    for (size_t column = 0; column < table->ncolumns; column++)
        fprintf(out, "%s%s", column ? "," : "", table->columns[column].key);
    putc('\n', out);
    for (size_t row = 0; row < table->nrows; row++) {
        for (size_t column = 0; column < table->ncolumns; column++) {
            fputs(column ? "," : "", out);
            print_value(out, table_at(table, row, column), table->columns[column].type);
        }
        putc('\n', out);
    }
}
