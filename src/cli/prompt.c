/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The prompt of strata view: the same words as on the command line, with history and
 * completion by libedit.
 *
 *     strata> functions --object mem_init-main
 *     strata> quit
 *
 * Ctrl-C drops the line, Ctrl-D ends. The history is kept in $XDG_STATE_HOME/strata, or
 * ~/.local/state/strata; where that cannot be written it lives as long as the prompt. */
#include "cli/commands.h"
#include "cli/suggest.h"
#include "cli/term.h"
#include "cli/viewing.h"
#include "cli/words.h"
#include "core/fail.h"
#include "host/state.h"
#include "views/names.h"
#include "views/view.h"

#include <errno.h>
#include <histedit.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_LINES = 1000, LISTED_AT_MOST = 100 };

#define PROMPT_WORDS VIEW_WORDS "|help|quit"

struct prompt {
    const struct profile *profile;
    const struct option_spec *specs;
    EditLine *editor;
    History *history;
    HistEvent event;
    char file[PATH_MAX]; /* of the history; "": none */
    struct names objects, functions;
    struct grammar grammar;
};

static const char *prompt_text(EditLine *editor)
{
    (void)editor;
    return "strata> ";
}

static void catch_interrupt(int signal)
{
    (void)signal; /* it is enough that reading breaks off */
}

/* Completion. */

static void list_matches(const struct completion *completion)
{
    int column = 0, width = 0;
    putchar('\n');
    for (size_t i = 0; i < completion->n && i < LISTED_AT_MOST; i++) {
        int length = (int)strlen(completion->matches[i]);
        width = length > width ? length : width;
    }
    int per_line = TERM_COLUMNS / (width + 2) > 0 ? TERM_COLUMNS / (width + 2) : 1;
    for (size_t i = 0; i < completion->n && i < LISTED_AT_MOST; i++) {
        bool last = ++column == per_line || i + 1 == completion->n;
        printf("%-*s%s", last ? 0 : width + 2, completion->matches[i], last ? "\n" : "");
        column = last ? 0 : column;
    }
    if (completion->n > LISTED_AT_MOST)
        printf("\n... %zu more\n", completion->n - LISTED_AT_MOST);
    fflush(stdout);
}

static unsigned char apply(EditLine *editor, const struct completion *completion,
                           size_t typed)
{
    const char *text = completion->replacement;
    if (!text)
        return CC_ERROR;
    if (completion->n > 1 && strlen(text) <= typed) {
        list_matches(completion);
        return CC_REDISPLAY;
    }
    el_deletestr(editor, (int)typed);
    return el_insertstr(editor, text) == 0 ? CC_REFRESH : CC_ERROR;
}

static unsigned char complete(EditLine *editor, int key)
{
    struct prompt *prompt = NULL;
    struct completion completion;
    const LineInfo *info = el_line(editor);
    (void)key;
    el_get(editor, EL_CLIENTDATA, &prompt);
    size_t cursor = (size_t)(info->cursor - info->buffer);
    char *line = strndup(info->buffer, (size_t)(info->lastchar - info->buffer));
    if (!line || words_complete(&prompt->grammar, line, cursor, &completion)) {
        free(line);
        return CC_ERROR;
    }
    unsigned char answer = apply(editor, &completion, cursor - completion.start);
    completion_release(&completion);
    free(line);
    return answer;
}

/* History. */

static int open_editor(struct prompt *prompt)
{
    prompt->history = history_init();
    prompt->editor = el_init("strata", stdin, stdout, stderr);
    if (!prompt->history || !prompt->editor)
        return -1;
    history(prompt->history, &prompt->event, H_SETSIZE, HISTORY_LINES);
    history(prompt->history, &prompt->event, H_SETUNIQUE, 1);
    if (!state_file("history", true, prompt->file))
        prompt->file[0] = '\0';
    if (prompt->file[0])
        history(prompt->history, &prompt->event, H_LOAD, prompt->file);
    el_set(prompt->editor, EL_PROMPT, prompt_text);
    el_set(prompt->editor, EL_EDITOR, "emacs");
    el_set(prompt->editor, EL_HIST, history, prompt->history);
    el_set(prompt->editor, EL_CLIENTDATA, prompt);
    /* The narrow el_set() would copy these two texts and never free them. */
    el_wset(prompt->editor, EL_ADDFN, L"strata-complete", L"completes a word", complete);
    el_set(prompt->editor, EL_BIND, "^I", "strata-complete", NULL);
    el_set(prompt->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(prompt->editor, NULL);
    return 0;
}

static void close_editor(struct prompt *prompt)
{
    if (prompt->history && prompt->file[0])
        history(prompt->history, &prompt->event, H_SAVE, prompt->file);
    if (prompt->editor)
        el_end(prompt->editor);
    if (prompt->history)
        history_end(prompt->history);
}

/* Lines. */

static void print_help(const struct prompt *prompt)
{
    static const struct {
        const char *word, *help;
    } words[] = {
        {"totals", "caches and TLBs, and the run as a whole"},
        {"objects", "data structures by what they cost; --function F: in F only"},
        {"functions", "where in the code; --object O: for O only"},
        {"lines", "the same by source line"},
        {"sizes", "how many blocks an object has, and how large"},
        {"help", "this"},
        {"quit", "end; Ctrl-D does it too"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        printf("  %-12s%s\n", words[i].word, words[i].help);
    for (const struct option_spec *spec = prompt->specs; spec->name; spec++) {
        char left[64];
        int n = snprintf(left, sizeof left, "--%s %s", spec->name,
                         spec->argument ? spec->argument : "");
        printf("  %-31s ", left);
        term_wrap(stdout, n > 31 ? n + 3 : 34, 34, spec->help);
    }
}

static int show_words(const struct prompt *prompt, int n, char **words,
                      struct strata_error *error)
{
    static char name[] = "view";
    char *argv[WORDS_MAX + 2];
    struct options options;
    argv[0] = name;
    memcpy(argv + 1, words, (size_t)(n + 1) * sizeof *words);
    int status = options_parse(&options, prompt->specs, VIEW_WORDS ";" VIEW_LATER, n + 1,
                               argv, error);
    if (status)
        return status;
    if (options.help) {
        print_help(prompt);
        return STRATA_OK;
    }
    if (!options.noperands)
        return fail(error, STRATA_BAD_INPUT, "which view? %s", VIEW_WORDS);
    return viewing_show(prompt->profile, options.operands[0], &options, false, error);
}

/* Does what a line says. Returns true if it says to end. */
static bool do_line(const struct prompt *prompt, char *line)
{
    struct strata_error error = {0};
    char *words[WORDS_MAX + 1];
    int status, n = words_split(line, words);
    if (n == 0)
        return false;
    if (n > 0 && (strcmp(words[0], "quit") == 0 || strcmp(words[0], "exit") == 0))
        return true;
    if (n > 0 && (strcmp(words[0], "help") == 0 || strcmp(words[0], "?") == 0)) {
        print_help(prompt);
        return false;
    }
    if (n < 0)
        status =
            fail(&error, STRATA_BAD_INPUT, "a quote is open, or there are too many words");
    else
        status = show_words(prompt, n, words, &error);
    fflush(stdout);
    if (status)
        command_report(&error, false, stdout, stderr);
    return false;
}

static void run_lines(struct prompt *prompt)
{
    for (;;) {
        int count = 0;
        const char *text = el_gets(prompt->editor, &count);
        if (!text && count < 0 && errno == EINTR) { /* Ctrl-C */
            el_reset(prompt->editor);
            putchar('\n');
            continue;
        }
        if (!text || count <= 0)
            break;
        char *line = strdup(text);
        if (!line)
            break;
        if (line[strspn(line, " \t\n")])
            history(prompt->history, &prompt->event, H_ENTER, text);
        bool end = do_line(prompt, line);
        free(line);
        if (end)
            return;
    }
    putchar('\n');
}

static int read_names(struct prompt *prompt, struct strata_error *error)
{
    int status = names_read(prompt->profile, NAMES_OBJECTS, &prompt->objects, error);
    if (!status)
        status = names_read(prompt->profile, NAMES_FUNCTIONS, &prompt->functions, error);
    prompt->grammar = (struct grammar){
        .operands = PROMPT_WORDS,
        .specs = prompt->specs,
        .named = {{"object",
                   {(const char *const *)prompt->objects.list, prompt->objects.n}},
                  {"function",
                   {(const char *const *)prompt->functions.list, prompt->functions.n}}},
    };
    return status;
}

int prompt_run(const struct profile *profile, const struct options *options,
               struct strata_error *error)
{
    struct prompt prompt = {.profile = profile, .specs = options->specs};
    struct sigaction caught = {.sa_handler = catch_interrupt}, before;
    int status = read_names(&prompt, error);
    if (!status)
        status = viewing_show(profile, "objects", options, true, error);
    if (!status && open_editor(&prompt))
        status = fail(error, STRATA_FAILED, "the prompt cannot be opened; name a view");
    if (!status) {
        puts("'help' lists the words.");
        sigaction(SIGINT, &caught, &before);
        run_lines(&prompt);
        sigaction(SIGINT, &before, NULL);
    }
    close_editor(&prompt);
    names_release(&prompt.objects);
    names_release(&prompt.functions);
    return status;
}
