/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A formula becomes steps in reverse Polish notation, by two stacks (Dijkstra's shunting
 * yard), so that no text can make the reader recurse. */
#include "pmu/formula.h"

#include <stdlib.h>
#include <string.h>

struct compiler {
    struct metric *metric;
    char pending[METRIC_STEPS]; /* operators and ( that wait */
    size_t npending;
    const char *wrong;
};

static const struct {
    char sign;
    enum metric_op op;
    int rank;
} operators[] = {
    {'+', METRIC_ADD, 1}, {'-', METRIC_SUB, 1}, {'*', METRIC_MUL, 2}, {'/', METRIC_DIV, 2}};

static int find_operator(char sign)
{
    for (int i = 0; i < 4; i++)
        if (operators[i].sign == sign)
            return i;
    return -1;
}

static void emit(struct compiler *compiler, struct metric_step step)
{
    struct metric *metric = compiler->metric;
    if (metric->nsteps == METRIC_STEPS)
        compiler->wrong = "it is too long";
    else
        metric->steps[metric->nsteps++] = step;
}

/* Emits operators that wait and bind at least as tightly, up to a parenthesis. */
static void settle(struct compiler *compiler, int rank)
{
    while (compiler->npending) {
        int i = find_operator(compiler->pending[compiler->npending - 1]);
        if (i < 0 || operators[i].rank < rank)
            return;
        compiler->npending--;
        emit(compiler, (struct metric_step){.op = operators[i].op});
    }
}

static void push(struct compiler *compiler, char sign)
{
    if (compiler->npending == METRIC_STEPS)
        compiler->wrong = "it is too long";
    else
        compiler->pending[compiler->npending++] = sign;
}

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* A number or a name; where it ends. */
static char *take_value(struct compiler *compiler, char *at)
{
    char *end;
    if ((*at >= '0' && *at <= '9') || *at == '.') {
        double number = strtod(at, &end);
        emit(compiler, (struct metric_step){.op = METRIC_NUMBER, .number = number});
        return end;
    }
    size_t length = strspn(at, letters);
    emit(compiler, (struct metric_step){.op = METRIC_EVENT, .event = at});
    return at + length;
}

static void close_parenthesis(struct compiler *compiler)
{
    settle(compiler, 0);
    if (compiler->npending)
        compiler->npending--;
    else
        compiler->wrong = "a ) without its (";
}

/* Takes one sign or value where a value is (not) expected next; where it ends. */
static char *take(struct compiler *compiler, char *at, bool *value_next)
{
    char c = *at;
    int i = find_operator(c);
    bool value = c && (strchr(letters, c) || c == '.');
    if ((value || c == '(') != *value_next) {
        compiler->wrong =
            *value_next ? "a number or an event is missing" : "an operator is missing";
        return at;
    }
    if (value) {
        *value_next = false;
        return take_value(compiler, at);
    }
    if (c == '(')
        push(compiler, c);
    else if (c == ')')
        close_parenthesis(compiler);
    else if (i >= 0) {
        settle(compiler, operators[i].rank);
        push(compiler, c);
        *value_next = true;
    } else
        compiler->wrong = "only names, numbers, + - * / and ( ) may be in it";
    return at + 1;
}

/* The names are cut off only at the end: what stood behind them was still needed. */
static void end_names(struct metric *metric)
{
    for (uint32_t i = 0; i < metric->nsteps; i++)
        if (metric->steps[i].op == METRIC_EVENT) {
            char *name = (char *)metric->steps[i].event;
            name[strspn(name, letters)] = '\0';
        }
}

const char *formula_compile(char *text, struct metric *metric)
{
    struct compiler compiler = {.metric = metric};
    bool value_next = true;
    metric->nsteps = 0;
    for (char *at = text; !compiler.wrong;) {
        at += strspn(at, " \t");
        if (!*at)
            break;
        at = take(&compiler, at, &value_next);
    }
    if (!compiler.wrong && value_next)
        compiler.wrong = "a number or an event is missing";
    if (!compiler.wrong)
        settle(&compiler, 0);
    if (!compiler.wrong && compiler.npending)
        compiler.wrong = "a ( without its )";
    if (!compiler.wrong)
        end_names(metric);
    return compiler.wrong;
}
