/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The live view of `strata top`. Keys are rows of a table, which the help shows too. */
#include "cli/top.h"
#include "cli/top_terminal.h"
#include "core/fail.h"
#include "core/utf8.h"
#include "pmu/launch.h"
#include "report/terminal.h"

#include <ctype.h>
#include <curses.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct screen;

/* What is on the screen: how it is drawn, and what other keys than those of the table do;
 * true: the key is used up. */
struct page {
    void (*draw)(struct screen *screen);
    bool (*take)(struct screen *screen, int key);
};

struct screen {
    struct top *top;
    const struct page *page;
    bool paused, over, typing; /* typing: a filter */
    size_t row, column;        /* the first ones that are shown */
    size_t cursor;             /* in the list of columns */
    unsigned frames;
    double next; /* when to look */
    char message[TOP_LINE];
    int status;
    struct strata_error *error;
};

static const struct page table_page, columns_page, help_page;

/* Drawing. */

static void put_line(int y, const char *text, attr_t attributes)
{
    if (y < 0 || y >= LINES)
        return;
    move(y, 0);
    clrtoeol();
    attron(attributes);
    addnstr(text, (int)strlen(text));
    attroff(attributes);
}

/* ncurses goes on in the next line where a text is too wide. */
static void put_cut(int y, const char *text, attr_t attributes)
{
    char line[TOP_LINE];
    utf8_clean(text, line, sizeof line);
    for (size_t length = strlen(line); length && (int)utf8_length(line) >= COLS;)
        line[--length] = '\0';
    put_line(y, line, attributes);
}

static attr_t warning(void)
{
    return has_colors() ? COLOR_PAIR(1) : A_NORMAL;
}

/* Sentences, folded to the width of the terminal; the caller frees them. */
static char *fold_notes(const struct top_frame *frame)
{
    char notes[TOP_NOTES][TOP_NOTE], *text = NULL;
    size_t n = top_notes(frame, notes), size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out && i < n; i++)
        print_folded(out, notes[i], COLS > 20 ? COLS - 1 : 20, 2);
    if (out)
        fclose(out);
    return text;
}

/* Draws at most `most` lines of a text from y on; returns how many. */
static int put_lines(int y, int most, char *text, attr_t attributes)
{
    int n = 0;
    char *rest = text, *line;
    while (rest && n < most && (line = strsep(&rest, "\n")) && *line) {
        bool cut = n == most - 1 && rest && *rest;
        char whole[TOP_LINE];
        int room = COLS > 30 ? COLS - 14 : COLS;
        snprintf(whole, sizeof whole, cut ? "%.*s ... (h: more)" : "%.*s",
                 cut ? room - 2 : COLS, line);
        put_cut(y + n++, whole, attributes);
    }
    return n;
}

static void draw_title(struct screen *screen, const struct top_frame *frame)
{
    char summary[TOP_LINE], text[TOP_LINE], hidden[32] = "";
    size_t fits = top_fits(frame, screen->column, COLS - 1);
    size_t left = frame->ncolumns - screen->column - fits;
    top_summary(frame, summary);
    if (left || screen->column)
        snprintf(hidden, sizeof hidden, "   %s%zu columns%s", screen->column ? "< " : "",
                 frame->ncolumns, left ? " >" : "");
    snprintf(text, sizeof text, "strata top   %.200s   every %g s%s%s%.70s%s", summary,
             screen->top->delay, screen->paused ? "   paused" : "",
             *screen->top->filter ? "   filter: " : "", screen->top->filter, hidden);
    put_cut(0, text, A_BOLD);
}

static void draw_heading(struct screen *screen, const struct top_frame *frame, int y)
{
    char line[TOP_LINE];
    int begin, wide = top_sorted_at(frame, screen->column, COLS - 1, &begin);
    top_heading(frame, screen->column, COLS - 1, line);
    put_cut(y, line, A_REVERSE);
    mvchgat(y, 0, -1, A_REVERSE, 0, NULL);
    if (wide && begin + wide < COLS)
        mvchgat(y, begin, wide, A_REVERSE | A_BOLD | A_UNDERLINE, 0, NULL);
}

static void draw_foot(const struct screen *screen)
{
    static const char wide[] = "q quit  c cpus/processes  < > sort  r reverse  f columns  "
                               "/ filter  h help";
    char text[TOP_LINE];
    if (screen->typing)
        snprintf(text, sizeof text, "filter: %s_   (Enter: keep, Esc: none)",
                 screen->top->filter);
    else
        snprintf(text, sizeof text, "%s",
                 *screen->message           ? screen->message
                 : COLS >= (int)sizeof wide ? wide
                                            : "q quit  h help  c cpus  < > sort");
    put_cut(LINES - 1, text, *screen->message ? warning() : A_BOLD);
}

static void draw_table(struct screen *screen)
{
    struct top_frame frame = top_frame(screen->top);
    char *notes = fold_notes(&frame), line[TOP_LINE];
    draw_title(screen, &frame);
    int y = 1 + put_lines(1, LINES / 12, notes, warning());
    free(notes);
    draw_heading(screen, &frame, y++);
    int room = LINES - 1 - y;
    if (screen->row && screen->row >= frame.nrows)
        screen->row = frame.nrows ? frame.nrows - 1 : 0;
    for (int i = 0; i < room && screen->row + (size_t)i < frame.nrows; i++) {
        const struct watch_row *row = frame.rows[screen->row + (size_t)i];
        top_line(&frame, row, screen->column, COLS - 1, line);
        put_line(y + i, line, row->state == WATCH_COUNTED ? A_NORMAL : (attr_t)A_DIM);
    }
}

static void draw(struct screen *screen)
{
    erase();
    screen->page->draw(screen);
    draw_foot(screen);
    refresh();
}

/* Acting. */

static void take_status(struct screen *screen, int status)
{
    if (!status)
        return;
    screen->status = status;
    screen->over = true;
}

static void arrange(struct screen *screen)
{
    take_status(screen, top_arrange(screen->top, screen->error));
}

static void quit(struct screen *screen)
{
    if (screen->page != &table_page)
        screen->page = &table_page;
    else
        screen->over = true;
}

/* Where the other view cannot be had, this one stays, and it is said why. */
static void switch_view(struct screen *screen)
{
    struct top *top = screen->top;
    struct strata_error error;
    if (top->pids) {
        snprintf(screen->message, sizeof screen->message,
                 "processors are not shown beside --pid");
        return;
    }
    enum watch_by by = top->by == WATCH_CPUS ? WATCH_PROCESSES : WATCH_CPUS;
    int sort = top->sort;
    bool ascending = top->ascending;
    top->sort = by == WATCH_CPUS ? WATCH_BY_ID : WATCH_BY_BUSY;
    top->ascending = by == WATCH_CPUS;
    if (top_watch(top, by, &error) != STRATA_OK) {
        top->sort = sort;
        top->ascending = ascending;
        snprintf(screen->message, sizeof screen->message, "%.500s", error.text);
    }
    screen->row = 0;
    screen->next = launch_now() + fmin(top->delay, 1);
}

/* The columns that one can sort by, in the order of the screen. */
static int sort_place(const struct top *top, int column)
{
    if (column == WATCH_BY_ID || column == WATCH_BY_BUSY)
        return column - WATCH_BY_ID;
    for (size_t i = 0; i < top->ncolumns; i++)
        if ((int)top->columns[i] == column)
            return 2 + (int)i;
    return 2 + (int)top->ncolumns;
}

static void sort_by(struct screen *screen, int step)
{
    struct top *top = screen->top;
    int names = top->by == WATCH_PROCESSES, n = 2 + (int)top->ncolumns + names;
    int place = (sort_place(top, top->sort) + step + n) % n;
    top->sort = place < 2                        ? WATCH_BY_ID + place
                : place - 2 < (int)top->ncolumns ? (int)top->columns[place - 2]
                                                 : WATCH_BY_NAME;
    top->ascending = top->sort == WATCH_BY_ID || top->sort == WATCH_BY_NAME;
    arrange(screen);
}

static void sort_left(struct screen *screen)
{
    sort_by(screen, -1);
}

static void sort_right(struct screen *screen)
{
    sort_by(screen, 1);
}

static void sort_busy(struct screen *screen)
{
    screen->top->sort = WATCH_BY_BUSY;
    screen->top->ascending = false;
    arrange(screen);
}

static void reverse(struct screen *screen)
{
    screen->top->ascending = !screen->top->ascending;
    arrange(screen);
}

static void pause_or_go_on(struct screen *screen)
{
    screen->paused = !screen->paused;
    screen->next = launch_now();
}

static void type_filter(struct screen *screen)
{
    screen->page = &table_page;
    screen->typing = true;
    screen->row = 0;
}

static void show_columns(struct screen *screen)
{
    screen->page = &columns_page;
}

static void show_help(struct screen *screen)
{
    screen->page = &help_page;
}

static void change_delay(struct screen *screen, double factor)
{
    struct top *top = screen->top;
    top->delay = fmin(fmax(top->delay * factor, 0.25), 64);
    screen->next = fmin(screen->next, launch_now() + top->delay);
}

static void faster(struct screen *screen)
{
    change_delay(screen, 0.5);
}

static void slower(struct screen *screen)
{
    change_delay(screen, 2);
}

static void move_rows(struct screen *screen, long by)
{
    size_t last = screen->top->nrows ? screen->top->nrows - 1 : 0;
    size_t step = (size_t)labs(by);
    if (by < 0)
        screen->row -= step < screen->row ? step : screen->row;
    else
        screen->row = screen->row + step < last ? screen->row + step : last;
}

static void go_up(struct screen *screen)
{
    move_rows(screen, -1);
}

static void go_down(struct screen *screen)
{
    move_rows(screen, 1);
}

static void page_up(struct screen *screen)
{
    move_rows(screen, -(LINES > 8 ? LINES - 6 : 1));
}

static void page_down(struct screen *screen)
{
    move_rows(screen, LINES > 8 ? LINES - 6 : 1);
}

static void go_first(struct screen *screen)
{
    screen->row = 0;
}

static void go_left(struct screen *screen)
{
    screen->column -= screen->column > 0;
}

static void go_right(struct screen *screen)
{
    struct top_frame frame = top_frame(screen->top);
    if (screen->column + top_fits(&frame, screen->column, COLS - 1) < frame.ncolumns)
        screen->column++;
}

static const struct key {
    int key, other;
    const char *shown, *help;
    void (*act)(struct screen *screen);
} keys[] = {
    {'q', 'Q', "q", "leave; from this page and from the columns: go back", quit},
    {'c', '\t', "c, Tab", "processors or processes", switch_view},
    {'<', ',', "<", "sort by the column to the left", sort_left},
    {'>', '.', ">", "sort by the column to the right", sort_right},
    {'P', 'P', "P", "sort by processor time", sort_busy},
    {'r', 'R', "r", "reverse the order", reverse},
    {'/', '/', "/", "show only names or numbers with this text", type_filter},
    {'f', 'F', "f", "choose columns: arrows to move, space to choose", show_columns},
    {' ', ' ', "space", "pause, and go on", pause_or_go_on},
    {'+', '=', "+", "look twice as often", faster},
    {'-', '-', "-", "look half as often", slower},
    {KEY_UP, 'k', "arrows", "move: rows up and down, columns left and right", go_up},
    {KEY_DOWN, 'j', NULL, NULL, go_down},
    {KEY_LEFT, KEY_LEFT, NULL, NULL, go_left},
    {KEY_RIGHT, KEY_RIGHT, NULL, NULL, go_right},
    {KEY_PPAGE, KEY_PPAGE, "page up, down", "move by a screen", page_up},
    {KEY_NPAGE, KEY_NPAGE, NULL, NULL, page_down},
    {KEY_HOME, 'g', "home", "to the first row", go_first},
    {'h', '?', "h, ?", "this page", show_help},
};

/* Pages. */

static bool take_typed(struct screen *screen, int key)
{
    char *filter = screen->top->filter;
    size_t length = strlen(filter);
    if (!screen->typing)
        return false;
    if (key == '\n' || key == KEY_ENTER || key == '\r')
        screen->typing = false;
    else if (key == 27) {
        *filter = '\0';
        screen->typing = false;
    } else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length)
        filter[length - 1] = '\0';
    else if (key >= ' ' && key < 127 && length + 1 < TOP_FILTER) {
        filter[length] = (char)key;
        filter[length + 1] = '\0';
    }
    arrange(screen);
    return true;
}

static bool take_table(struct screen *screen, int key)
{
    if (take_typed(screen, key))
        return true;
    if (key != 27)
        return false;
    *screen->top->filter = '\0';
    arrange(screen);
    return true;
}

static void draw_columns(struct screen *screen)
{
    const struct watch *watch = screen->top->watch;
    int room = LINES - 3;
    size_t first = (int)screen->cursor >= room ? screen->cursor - (size_t)room + 1 : 0;
    put_cut(0, "columns: arrows to move, space to choose, q to go back", A_BOLD);
    for (int i = 0; i < room && first + (size_t)i < watch->ncolumns; i++) {
        size_t at = first + (size_t)i;
        const struct watch_column *column = &watch->columns[at];
        char line[TOP_LINE];
        snprintf(line, sizeof line, " [%c] %-18s %.200s%.200s",
                 screen->top->hidden[at] ? ' ' : 'x', column->name,
                 column->possible ? column->about : "not counted: ",
                 column->possible ? "" : column->why);
        put_cut(1 + i, line, at == screen->cursor ? A_REVERSE : A_NORMAL);
    }
}

static bool take_columns(struct screen *screen, int key)
{
    size_t n = screen->top->watch->ncolumns;
    if (key == KEY_UP || key == 'k')
        screen->cursor -= screen->cursor > 0;
    else if (key == KEY_DOWN || key == 'j')
        screen->cursor += screen->cursor + 1 < n;
    else if (key == ' ' && screen->cursor < n) {
        screen->top->hidden[screen->cursor] = !screen->top->hidden[screen->cursor];
        screen->column = 0;
        arrange(screen);
    } else if (key == '\n' || key == 27)
        screen->page = &table_page;
    else
        return false;
    return true;
}

static void draw_help(struct screen *screen)
{
    struct top_frame frame = top_frame(screen->top);
    char *notes = fold_notes(&frame), line[TOP_LINE];
    int y = 0;
    put_cut(y++, "strata top: events per second, by process or by processor", A_BOLD);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!keys[i].help || y >= LINES - 1)
            continue;
        snprintf(line, sizeof line, "  %-14s %s", keys[i].shown, keys[i].help);
        put_cut(y++, line, A_NORMAL);
    }
    put_lines(y, LINES - 1 - y, notes, warning());
    free(notes);
}

static bool take_help(struct screen *screen, int key)
{
    (void)key;
    screen->page = &table_page;
    return true;
}

static const struct page table_page = {draw_table, take_table};
static const struct page columns_page = {draw_columns, take_columns};
static const struct page help_page = {draw_help, take_help};

/* The loop. */

static void take_key(struct screen *screen, int key)
{
    *screen->message = '\0';
    if (key == KEY_RESIZE || screen->page->take(screen, key))
        return;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].key == key || keys[i].other == key) {
            keys[i].act(screen);
            return;
        }
}

static void take_keys(struct screen *screen)
{
    for (int key; !screen->over && (key = getch()) != ERR;)
        take_key(screen, key);
}

static void look(struct screen *screen)
{
    struct top *top = screen->top;
    take_status(screen, top_look(top, screen->error));
    screen->next = launch_now() + top->delay;
    screen->frames++;
    if ((top->frames && screen->frames >= top->frames) || (top->pids && !top->watch->nrows))
        screen->over = true;
}

/* The first look comes soon: until then there is nothing to see. */
int top_screen(struct top *top, struct strata_error *error)
{
    struct screen screen = {.top = top,
                            .page = &table_page,
                            .next = launch_now() + fmin(top->delay, 1),
                            .error = error};
    int status = terminal_enter(error);
    if (status)
        return status;
    while (!screen.over) {
        draw(&screen);
        double left = screen.paused ? 3600 : screen.next - launch_now();
        enum terminal_event event = terminal_wait(left);
        if (event == TERMINAL_END)
            break;
        if (event == TERMINAL_KEY)
            take_keys(&screen);
        else if (!screen.paused)
            look(&screen);
    }
    terminal_leave();
    return screen.status;
}
